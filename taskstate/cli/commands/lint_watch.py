"""`taskstate lint --watch`: lints again whenever a state file or the configuration changes, until Ctrl-C."""

from __future__ import annotations

import os
import sys

from taskstate.cli.terminal import is_terminal
from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.operations.result import Result
from taskstate.storage import folders
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.listing import DERIVED_FOLDERS, IGNORED_FOLDERS
from taskstate.workspace.workspace import CONFIG_FILES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.lint import Lint

_POLL = 200  # milliseconds until the first, empty report of the watcher; changes are reported at once
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def watch(call: CommandLineCall, asked: Lint, lint: Callable[[CommandLineCall, Lint], Result]) -> Result:
    """Run `lint` now and after each change; a missing file or a broken configuration is reported, and watching goes on.

    Raises:
        KeyboardInterrupt: the user ended it; it does not return otherwise.
    """
    paths = [*asked.paths] or [call.any_workspace.root]
    for _change in _changes(paths, call.conditions.config):  # the first one means that watching has started
        again = call.again()  # all caches are stale, even the configuration
        if is_terminal(sys.stdout):
            sys.stdout.write(_CLEAR)
        try:
            again.output.show(lint(again, asked), again)
        except TaskstateError as error:
            again.output.print_error(error, 2)
        sys.stdout.flush()
        again.notes((f"[{_clock()}] Watching; Ctrl-C ends.",))
    return Result(None, "")


def _changes(paths: list[Path], config_file: str) -> Iterator[None]:
    """Yield once when watching has started, and then after each relevant change."""
    from watchfiles import watch as watch_files

    watched = [path if folders.is_folder(path) else path.parent for path in paths]
    named_files = frozenset(str(path) for path in paths if not folders.is_folder(path))

    def concerns(_change: object, path: str) -> bool:
        return _is_relevant(path, named_files, config_file)

    changes = watch_files(
        *_outermost(watched),
        watch_filter=concerns,
        # Single files need no watch on the folders below theirs.
        recursive=len(named_files) < len(paths),
        rust_timeout=_POLL,
        yield_on_timeout=True,
        raise_interrupt=True,
    )
    begun = False
    try:
        for changed in changes:
            if changed or not begun:
                yield
            begun = True
    except OSError as error:  # the system limits the number of watched folders
        raise TaskstateError(f"cannot watch: {error}", help="name the folders to watch", code="watch") from error


def _is_relevant(path: str, named_files: frozenset[str], config_file: str) -> bool:
    """Return whether a change at `path` may change the findings.

    A created or removed folder counts: the system does not report the files in it one by one.
    """
    name = os.path.basename(path)
    if name in CONFIG_FILES or path in named_files or names.own_file(path):
        return True
    if config_file and os.path.abspath(config_file) == path:
        return True
    is_folder = folders.is_folder(path) or not (folders.exists(path) or "." in name)
    return is_folder and (IGNORED_FOLDERS | DERIVED_FOLDERS).isdisjoint(path.split(os.sep))


def _outermost(watched: list[Path]) -> list[Path]:
    """Return the folders that are not inside another one, so that each change is reported once."""
    unique = dict.fromkeys(watched)
    return [folder for folder in unique if not any(other in folder.parents for other in unique)]


def _clock() -> str:
    from datetime import datetime

    return datetime.now().astimezone().strftime("%H:%M:%S")

"""What `--watch` does: runs a command again whenever a state file or the configuration changes, until Ctrl-C."""

from __future__ import annotations

import os
import sys
import time

from taskstate.cli.terminal import is_terminal
from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.model import names
from taskstate.operations.call import collect_garbage_often
from taskstate.operations.result import Result
from taskstate.storage import folders
from taskstate.typed import TYPE_CHECKING, TypeVar
from taskstate.workspace.config_files import CONFIG_FILES
from taskstate.workspace.listing import DERIVED_FOLDERS, IGNORED_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.lint import Lint

    Seen = TypeVar("Seen")

_POLL = 200  # milliseconds until the first, empty report of the watcher; changes are reported at once
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"
_SCREEN, _BACK = "\x1b[?1049h", "\x1b[?1049l"  # the alternate screen, which leaves no trace
_AGEING = 60.0  # seconds after which a view is shown again, since its ages have grown


def show(call: CommandLineCall, asked: Seen, view: Callable[[CommandLineCall, Seen], Result]) -> Result:
    """Show a view now, after each change in any worktree, and each minute; Ctrl-C ends it as it was asked for.

    On a terminal it has a screen of its own.
    """
    from taskstate.workspace.worktrees import others

    workspace = call.workspace
    folder = workspace.config.root
    paths = [workspace.root, *(each / folder for each in others(workspace.root, folder))]
    on_screen = is_terminal(sys.stdout)
    try:
        if on_screen:
            sys.stdout.write(_SCREEN)
        changes = _changes(paths, call.conditions.config, every=_AGEING)
        _repeat(call, lambda again: _cut(view(again, asked), again.screen.height, len(again.said) + 2), changes)
    except KeyboardInterrupt:
        return Result(None, "")
    finally:
        if on_screen:
            sys.stdout.write(_BACK)
            sys.stdout.flush()
    return Result(None, "")


def _cut(shown: Result, height: int, taken: int) -> Result:
    """Return as much as a screen has room for that cannot be scrolled, and of which so many lines are taken."""
    lines, room = shown.text.split("\n"), max(height - taken, 2)
    if not height or len(lines) <= room:
        return shown
    more = f"\u2026 {counted(len(lines) - room + 1, 'more line')}; without --watch all are shown"
    return shown._replace(text="\n".join((*lines[: room - 1], more)))


def watch(call: CommandLineCall, asked: Lint, lint: Callable[[CommandLineCall, Lint], Result]) -> Result:
    """Run `lint` now and after each change; a missing file or a broken configuration is reported, and watching goes on.

    Raises:
        KeyboardInterrupt: the user ended it; it does not return otherwise.
    """
    paths = [*asked.paths] or [call.any_workspace.root]
    _repeat(call, lambda again: lint(again, asked), _changes(paths, call.conditions.config))
    return Result(None, "")


def _repeat(call: CommandLineCall, run: Callable[[CommandLineCall], Result], changes: Iterator[None]) -> None:
    collect_garbage_often()
    for _change in changes:  # the first one means that watching has started
        again = call.again()  # all caches are stale, even the configuration
        if is_terminal(sys.stdout):
            sys.stdout.write(_CLEAR)
        try:
            again.output.show(run(again), again)
        except TaskstateError as error:
            again.output.print_error(error, 2)
        sys.stdout.flush()
        again.notes((f"[{_clock()}] Watching; Ctrl-C ends.",))


def _changes(paths: list[Path], config_file: str, *, every: float = 0) -> Iterator[None]:
    """Yield once when watching has started, and then after each relevant change, and `every` so many seconds."""
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
    shown = 0.0
    try:
        for changed in changes:
            if changed or not shown or (every and time.monotonic() - shown > every):
                shown = time.monotonic()
                yield
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

"""Lints files on disk.

The linter itself knows only texts; here they are read. Nothing is skipped silently: what cannot be read is told. What
the fixes make of a file is written by `mend`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from taskstate import files, kinds
from taskstate.errors import TaskstateError
from taskstate.lint import engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from taskstate.config import Config
    from taskstate.lint.engine import Finding
    from taskstate.workspace import Workspace


class Report(NamedTuple):
    """What linting found: `files` counts those that were read, `unreadable` says why the others were not."""

    files: int
    findings: tuple[Finding, ...]
    unreadable: tuple[str, ...]


def own_files_in(workspace: Workspace, paths: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Return our own files among `paths` and in the folders among them, and a line for each named file that is none.

    Raises:
        TaskstateError: code "not-found": a path does not exist.
    """
    found: dict[Path, None] = {}
    others = []
    for path in paths:
        if path.is_dir():
            found.update(dict.fromkeys(workspace.own_files(under=path)))
        elif not os.path.lexists(path):
            raise TaskstateError(f"{files.shown(path)} does not exist", help="check the path", code="not-found")
        elif kinds.own_file(path.as_posix()) is None:
            others.append(f"{files.shown(path)} was not checked: by its name it is none of taskstate's own files")
        elif not workspace.excludes(path):
            found[path] = None
    return tuple(found), tuple(others)


def check_files(paths: Iterable[Path], config: Config, name_of: Callable[[Path], str]) -> Report:
    """Lint the files at `paths`; `name_of` says how a path is to be shown."""
    findings: list[Finding] = []
    unreadable: list[str] = []
    count = 0
    for path in paths:
        try:
            data = files.read(path)
        except TaskstateError as error:
            unreadable.append(str(error))
            continue
        count += 1
        findings += engine.findings(data, name_of(path), config)
    return Report(files=count, findings=tuple(findings), unreadable=tuple(unreadable))

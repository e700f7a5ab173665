"""Remembers which state files are permanent tasks, so that a brief among thousands of tasks does not read them all.

A file that is new is told by its name, and an old one that somebody makes permanent by hand by its change time. Among
very many tasks that would cost more than it gives; there a change by hand is seen by the next command that indexes all
tasks anyway (`next`, `lint` of that file, the agents' hooks).
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.cache import Cache
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.workspace.workspace import Workspace

_SUFFIX = "-state.md"
_FILE = "permanent.json"
_NAMES, _PATHS, _LOOKED = "names", "paths", "looked"
_FEW = 2_000  # state files whose change times are looked at by every brief: some milliseconds
_MOST_TOUCHED = 20  # files that every brief may read again before it remembers that it has
_COARSEST_NS = 2_000_000_000  # the steps of change times on some file systems
_PERMANENT = rb"(?m)^kind:[ \t]*[\"']?permanent\b"


class _Remembered(NamedTuple):
    """The names of the state files and the paths of the permanent ones, at a time in nanoseconds."""

    names: frozenset[str]
    paths: tuple[str, ...]
    looked: int


def known(workspace: Workspace) -> tuple[str, ...] | None:
    """Return the paths of the permanent tasks from the repository's root; None where all tasks have to be read."""
    cache, now = _cache(workspace), time.time_ns()
    remembered, names = _remembered(cache), _state_names(workspace)
    if remembered is None or not remembered.names.issuperset(names):
        return None
    touched = [*_touched(workspace, names, remembered)] if len(names) <= _FEW else []
    if any(_is_permanent(path) for path in touched):
        return None
    if len(touched) > _MOST_TOUCHED:
        _save(cache, names, remembered.paths, now)
    return remembered.paths


def remember(workspace: Workspace, paths: Iterable[str], began: int) -> None:
    """Remember the paths of the permanent tasks among all tasks, which were read from `began` on."""
    cache, found = _cache(workspace), tuple(sorted(paths))
    remembered, names = _remembered(cache), _state_names(workspace)
    if remembered is None or remembered.paths != found or not remembered.names.issuperset(names):
        _save(cache, names, found, began)


def is_remembered(workspace: Workspace) -> bool:
    """Return whether anything is remembered, whatever it is."""
    path = workspace.private.cache(_FILE)
    return path is not None and folders.exists(path)


def _cache(workspace: Workspace) -> Cache[list[str]]:
    return Cache(workspace.private.cache(_FILE), list)


def _remembered(cache: Cache[list[str]]) -> _Remembered | None:
    names, paths, looked = (cache.get(key) for key in (_NAMES, _PATHS, _LOOKED))
    if names is None or paths is None or not looked:
        return None
    return _Remembered(frozenset(names), tuple(paths), int(looked[0]))


def _save(cache: Cache[list[str]], names: list[str], paths: tuple[str, ...], looked: int) -> None:
    for key, entry in ((_NAMES, names), (_PATHS, [*paths]), (_LOOKED, [str(looked)])):
        cache.put(key, entry)
    cache.save()


def _state_names(workspace: Workspace) -> list[str]:
    return [name for name in files.names(workspace.tasks) if name.endswith(_SUFFIX)]


def _touched(workspace: Workspace, names: Iterable[str], remembered: _Remembered) -> Iterator[str]:
    """Yield the files that were changed since, without the permanent tasks that are known."""
    permanent = {str(workspace.root / path) for path in remembered.paths}
    for path, status in folders.statuses(f"{workspace.tasks}/{name}" for name in names):
        if status.st_ctime_ns >= remembered.looked - _COARSEST_NS and path not in permanent:
            yield path


def _is_permanent(path: str) -> bool:
    with suppress(TaskstateError):  # a file that cannot be read is told by the commands that read it
        data = files.read(Path(path))
        return re.compile(_PERMANENT).search(data, 0, data.find(b"\n---") + 1) is not None
    return False

"""Finds the steps that end an interrupted plan of which somebody edited a file since, so that every edit stays.

A file was edited before its step or after it: the text that it differs less from tells. One that was edited before lets
the plan be taken back, and one that was edited afterwards lets it be finished: then no text has to be changed that
somebody typed into. Where both kinds met there is no such direction.
"""

from __future__ import annotations

from collections import Counter

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.plan_progress import PERMANENT_ERRORS, Progress
from taskstate.storage.transaction import Append, Create, Delete, Move, Replace, paths_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.storage.transaction import Operation, Plan


class _InTheWayError(Exception):
    """What stands here was edited on the side of the step that is to be left."""


def steps(
    root: Path, plan: Plan, states: tuple[Progress, ...], before: Mapping[str, bytes], *, back: bool
) -> tuple[Plan, tuple[str, ...]]:
    """Return the operations that finish a plan from what is there now, or take it back, and the paths in the way.

    `states` says how far each operation got, and `before` has the bytes that they replace or delete, by path.

    Raises:
        TaskstateError: a file cannot be read.
    """
    found: list[Operation] = []
    in_the_way: list[str] = []
    operations = list(zip(plan, states, strict=True))
    for operation, state in operations[::-1] if back else operations:
        try:
            if isinstance(operation, Move):
                found += _moved(root, *(paths_of(operation)[::-1] if back else paths_of(operation)))
            else:
                found += _changed(root, operation, state, before, back=back)
        except _InTheWayError as error:
            in_the_way.append(str(error))
    return tuple(found), tuple(in_the_way)


def _moved(root: Path, source: str, target: str) -> Plan:
    here, there = (folders.exists(files.inside(root, path)) for path in (source, target))
    if here and there:
        raise _InTheWayError(target)
    return (Move(source, target),) if here else ()


def _changed(
    root: Path,
    operation: Append | Create | Delete | Replace,
    state: Progress,
    before: Mapping[str, bytes],
    *,
    back: bool,
) -> Plan:
    """Return the operation, if any, that brings a file to the other side of its step, or leaves it as it was edited."""
    path = operation.path
    now = _content(root, path)
    old: bytes | None
    new: bytes | None
    if isinstance(operation, Append):
        old, new = _texts_of_append(operation, now, state, back=back)
    else:
        old = None if isinstance(operation, Create) else before.get(path, now)
        new = None if isinstance(operation, Delete) else operation.data
        is_unknown = old is not None and path not in before  # a record of an older version
        if is_unknown and (state is Progress.OTHER or (back and state is Progress.AFTER)):
            raise _InTheWayError(path)
    source, target = (new, old) if back else (old, new)
    if state is not Progress.HALF and now not in {None, source, target}:
        if _difference(now, target) >= _difference(now, source):
            raise _InTheWayError(path)
        return ()
    if now == target:
        return ()
    if target is None:
        return (Delete(path, files.digest(now or b"")),)
    return (Create(path, target) if now is None else Replace(path, files.digest(now), target),)


def _content(root: Path, path: str) -> bytes | None:
    place = files.inside(root, path)
    try:
        return None if files.size(place) is None else files.read(place, files.MAX_BYTES)
    except TaskstateError as error:
        if error.code in PERMANENT_ERRORS:
            raise _InTheWayError(path) from error
        raise


def _texts_of_append(append: Append, now: bytes | None, state: Progress, *, back: bool) -> tuple[bytes | None, bytes]:
    """Return both texts of a file that grows, with the edit in them: it may be long, so no record has what it held."""
    size, data = append.expected_size, append.data
    if now is None:
        return None, data
    if state is Progress.HALF:
        return now[:size], now[:size] + data
    if data in now:
        return now.replace(data, b"", 1), now
    lines = Counter(data.splitlines())
    if (lines - Counter(now.splitlines())).total() > lines.total() // 2 or len(now) - size < len(data) // 2:
        return now, now + (b"" if now.endswith(b"\n") else b"\n") + data
    if back:  # the edit stands in what was added
        raise _InTheWayError(append.path)
    return now, now


def _difference(one: bytes | None, other: bytes | None) -> int:
    """Return how many lines only one of two texts has."""
    ours, theirs = (Counter((text or b"").splitlines()) for text in (one, other))
    return ((ours - theirs) + (theirs - ours)).total()

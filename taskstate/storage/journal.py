"""Carries out a change of several files so that a crash cannot leave it half done.

The plan is first written into the journal folder (a write-ahead log); after a crash the next command finds it there
(`pending`) and finishes it (`recover`). The disk shows for each operation whether it was done already, so finishing
twice changes nothing. If somebody else changes one of the files in the middle, what was done is undone where that is
possible. The caller holds the lock.
"""

from __future__ import annotations

import os
from contextlib import suppress
from enum import Enum
from typing import TYPE_CHECKING

from taskstate.errors import StaleFile, TaskstateError
from taskstate.storage import backups, files, transaction
from taskstate.storage.transaction import Append, Create, Delete, Move, Operation, Plan, Replace, paths_of

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Append", "Create", "Delete", "Move", "Operation", "Plan", "Replace"]
__all__ += ["pending", "recover", "split_by_progress", "undo", "write"]

_PENDING = "pending-"
CONFLICT, UNREADABLE = "conflict-", "unreadable-"  # begin the names of plans that were set aside
# With these errors an operation can never be carried out; any other error may pass, and the plan stays to be finished.
_PERMANENT_ERRORS = {"path-escapes", "is-link", "not-a-file", "bad-name"}


class _State(Enum):
    """How far an operation got, judged by what is on the disk."""

    BEFORE = "nothing of it was done"
    HALF = "a part of its text was written"
    AFTER = "it was done"
    OTHER = "somebody else changed the file"


def pending(journal_folder: Path) -> bool:
    """Return whether the journal holds an unfinished plan, by the names in its folder alone.

    Without the lock the plan may be that of a running command: take the lock and call `recover`, which then finds
    nothing to do.
    """
    return any(name.startswith(_PENDING) or files.is_temporary(name) for name in files.names(journal_folder))


def write(root: Path, journal_folder: Path, plan: Plan) -> None:
    """Carry out `plan` under `root`; after a crash, `recover` does the rest.

    Raises:
        StaleFile: a file is not as the plan expects it; nothing was changed.
        TaskstateError: the system refuses, or an unfinished plan has to be recovered first.
    """
    transaction.require_distinct(plan)
    if pending(journal_folder):
        raise TaskstateError(
            "an interrupted change has to be finished first", code="pending", help="run the command again"
        )
    _require_untouched(root, plan)
    if len(plan) == 1 and not isinstance(plan[0], Append):  # atomic without a record; an append is not
        _carry_out(root, journal_folder, plan[0])
    elif plan:
        _carry_out_recorded(root, _record(journal_folder, plan), plan)


def recover(root: Path, journal_folder: Path) -> tuple[str, ...]:
    """Finish the plans that killed commands left, and return one line for each that was finished or set aside.

    Raises:
        TaskstateError: code "recover-conflict": somebody changed a file meanwhile. Nothing more is changed, and the
            plan gets the name in the message, so that it does not block later commands.
    """
    files.sweep(journal_folder)
    names = (name for name in files.names(journal_folder) if name.startswith(_PENDING))
    return tuple(_recover(root, journal_folder / name) for name in names)


def split_by_progress(root: Path, record: Path) -> tuple[Plan, Plan] | None:
    """Return the operations of a set-aside plan that are done, and those that are not; None if that is not clear.

    Raises:
        TaskstateError: the record cannot be read.
    """
    try:
        plan = transaction.decode(files.read(record))
    except ValueError:
        return None
    states = [_state_or_other(root, operation) for operation in plan]
    if _State.HALF in states:
        return None
    done = tuple(operation for operation, state in zip(plan, states, strict=True) if state is _State.AFTER)
    return done, tuple(operation for operation in plan if operation not in done)


def _require_untouched(root: Path, plan: Plan) -> None:
    for operation in plan:
        if _state(root, operation) is not _State.BEFORE:
            touched = " or ".join(files.shown(path) for path in paths_of(operation))
            raise StaleFile(f"{touched} was changed by somebody else meanwhile", help="run the command again")


def _record(journal_folder: Path, plan: Plan) -> Path:
    """Write the plan into the journal folder, durably, and return the path of that record."""
    data = transaction.encode(plan)
    if len(data) > files.MAX_BYTES:
        limit = f"{files.MAX_BYTES // 1024**2} MiB"
        raise TaskstateError(
            f"the change is too large: over {limit} of text at once", code="too-large", help="do it in parts"
        )
    record = journal_folder / f"{_PENDING}{files.digest(data)[:16]}.json"
    files.create(record, data)
    return record


def _carry_out_recorded(root: Path, record: Path, plan: Plan) -> None:
    try:
        _require_untouched(root, plan)  # again: syncing the record took milliseconds, in which an editor may have saved
    except TaskstateError:
        files.delete(record)
        raise
    try:
        _finish(root, record, plan, (_State.BEFORE,) * len(plan))
    except TaskstateError as error:
        if not os.path.lexists(record):  # it was set aside, and the error says where
            raise
        if not _is_begun(root, plan):
            files.delete(record)
            raise
        message = f"{error.message}; the change was begun, and the next taskstate command finishes it"
        raise TaskstateError(message, code=error.code, help=error.help) from error


def _is_begun(root: Path, plan: Plan) -> bool:
    """Return whether anything of the plan was carried out; if that cannot be read, assume that it was."""
    try:
        states = {_state_or_other(root, operation) for operation in plan}
    except TaskstateError:
        return True
    return not states.isdisjoint({_State.HALF, _State.AFTER})


def _recover(root: Path, record: Path) -> str:
    """Finish one recorded plan and return a line about it; a record that cannot be read is renamed, not deleted."""
    try:
        plan = transaction.decode(files.read(record))
    except (ValueError, TaskstateError) as error:
        if isinstance(error, TaskstateError) and error.code not in {*_PERMANENT_ERRORS, "too-large"}:
            raise
        kept = _set_aside(record, UNREADABLE)
        return f"{files.shown(record.name)} is not a plan that can be read; nothing was done, and it is kept as {kept}"
    touched = ", ".join(files.shown(path) for operation in plan for path in paths_of(operation))
    _sweep_beside(root, plan)
    _finish(root, record, plan, tuple(_state_or_other(root, operation) for operation in plan))
    return f"finished an interrupted change of {touched}"


def _sweep_beside(root: Path, plan: Plan) -> None:
    """Delete the temporary files that the killed command may have left beside the files that it changed."""
    paths = {path for operation in plan for path in paths_of(operation)}
    for path in sorted(paths):
        try:
            folder = files.inside(root, path).parent
        except TaskstateError:
            continue  # `_finish` reports it
        files.sweep(folder)


def _finish(root: Path, record: Path, plan: Plan, states: tuple[_State, ...]) -> None:
    """Carry out the operations of a recorded plan that are not done yet, and delete the record."""
    if _State.OTHER in states:
        raise _conflict(record, plan, states)
    for index, (operation, state) in enumerate(zip(plan, states, strict=True)):
        if state is not _State.AFTER:
            try:
                _carry_out(root, record.parent, operation, half=state is _State.HALF)
            except StaleFile:
                if not undo(root, plan[:index]):
                    states = tuple(_state_or_other(root, each) for each in plan)
                    raise _conflict(record, plan, states) from None
                files.delete(record)
                raise
    # The change itself is done. If the record cannot be deleted, or a power cut brings it back, the next command finds
    # every operation done and deletes it then.
    with suppress(TaskstateError):
        files.delete(record)


def undo(root: Path, done: Plan) -> bool:
    """Undo the operations that were done, the last one first, and return whether all are undone.

    Only operations that add can be undone: a plan does not hold the bytes that a `Replace` or a `Delete` removed.
    """
    if not all(isinstance(operation, Create | Append | Move) for operation in done):
        return False
    try:
        return all(_undo_operation(root, operation) for operation in reversed(done))
    except TaskstateError:
        return False


def _undo_operation(root: Path, operation: Operation) -> bool:
    """Undo an operation that adds, and return whether that was possible: not where somebody appended more since."""
    if _state(root, operation) is not _State.AFTER:
        return False
    paths = [files.inside(root, path) for path in paths_of(operation)]
    match operation:
        case Append(expected_size=size, data=data):
            if files.size(paths[0]) != size + len(data):
                return False
            files.truncate(paths[0], size)
        case Create():
            files.delete(paths[0])
        case Move():
            files.move(paths[1], paths[0])
    return True


def _conflict(record: Path, plan: Plan, states: tuple[_State, ...]) -> TaskstateError:
    """Set the record aside, and return the error that says which file was changed and how far the plan got."""
    index = states.index(_State.OTHER) if _State.OTHER in states else len(states) - 1
    path = files.shown(", ".join(paths_of(plan[index])))
    done = sum(state is _State.AFTER for state in states)
    kept = _set_aside(record, CONFLICT)
    message = (
        f"an interrupted change cannot be finished, because {path} is not what it was made for: "
        f"{done} of {len(plan)} steps were done, nothing more was changed"
    )
    return TaskstateError(
        message,
        code="recover-conflict",
        help=f"compare the files with the plan in {kept}, mend them by hand, delete the plan",
    )


def _set_aside(record: Path, prefix: str) -> str:
    """Rename the record so that it no longer counts as pending, and return its new path for a message."""
    stem = record.name.removeprefix(_PENDING).removesuffix(".json")
    number = 1
    target = record.with_name(f"{prefix}{stem}.json")
    while os.path.lexists(target):
        number += 1
        target = record.with_name(f"{prefix}{stem}-{number}.json")
    files.move(record, target)
    return files.shown(target)


def _carry_out(root: Path, journal_folder: Path, operation: Operation, *, half: bool = False) -> None:
    """Carry out one operation; `half`: a killed writer has already written a part of its text."""
    paths = [files.inside(root, path) for path in paths_of(operation)]
    match operation:
        case Create(data=data):
            (files.replace if half else files.create)(paths[0], data)
        case Replace(path=path, expected_digest=expected, data=data):
            backups.replace(journal_folder, path, paths[0], expected, data)
        case Append(expected_size=size, data=data):
            if half:
                files.truncate(paths[0], size)
            files.append(paths[0], data, size)
        case Move():
            files.move(paths[0], paths[1])
        case Delete(expected_digest=expected):
            if files.digest(files.read(paths[0])) != expected:
                message = f"{files.shown(paths[0])} was changed by somebody else meanwhile"
                raise StaleFile(message, help="run the command again")
            files.delete(paths[0])


def _state_or_other(root: Path, operation: Operation) -> _State:
    """Return how far the operation got; one that can never be carried out counts as changed by somebody else."""
    try:
        return _state(root, operation)
    except TaskstateError as error:
        if error.code in _PERMANENT_ERRORS:
            return _State.OTHER
        raise


def _state(root: Path, operation: Operation) -> _State:
    """Return how far the operation got.

    Raises:
        TaskstateError: a path leads out of the root, is a link or a device, or cannot be read.
    """
    paths = [files.inside(root, path) for path in paths_of(operation)]
    match operation:
        case Create(data=data):
            return _state_of_create(_content(paths[0]), data)
        case Replace(expected_digest=expected, data=data):
            return _state_of_replace(_content(paths[0]), expected, data)
        case Append(expected_size=expected, data=data):
            return _state_of_append(paths[0], expected, data)
        case Move():
            return _state_of_move(source=os.path.lexists(paths[0]), target=os.path.lexists(paths[1]))
        case Delete(expected_digest=expected):
            return _state_of_delete(_content(paths[0]), expected)


def _content(path: Path) -> bytes | None:
    return None if files.size(path) is None else files.read(path)


def _state_of_create(content: bytes | None, data: bytes) -> _State:
    if content is None:
        return _State.BEFORE
    if content == data:
        return _State.AFTER
    # A file that holds only the beginning of `data` can be written again without losing anybody's text.
    return _State.HALF if data.startswith(content) else _State.OTHER


def _state_of_replace(content: bytes | None, expected: str, data: bytes) -> _State:
    if content is None:
        return _State.OTHER
    if files.digest(content) == expected:
        return _State.BEFORE
    return _State.AFTER if content == data else _State.OTHER


def _state_of_append(path: Path, expected: int, data: bytes) -> _State:
    """Judge an append by the file's tail alone: reading it whole would be slow, since an archive grows for years."""
    size = files.size(path)
    if size is None or size < expected:
        return _State.OTHER
    if size == expected:
        return _State.BEFORE
    tail = files.read_part(path, expected, len(data))
    if tail == data:
        return _State.AFTER  # also where somebody has appended more
    written = tail.rstrip(b"\0")  # after a power cut a file can have its new size, with zeros instead of the text
    return _State.HALF if size <= expected + len(data) and data.startswith(written) else _State.OTHER


def _state_of_move(*, source: bool, target: bool) -> _State:
    if source == target:
        return _State.OTHER
    return _State.BEFORE if source else _State.AFTER


def _state_of_delete(content: bytes | None, expected: str) -> _State:
    if content is None:
        return _State.AFTER
    return _State.BEFORE if files.digest(content) == expected else _State.OTHER

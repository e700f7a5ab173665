"""Carries out a change of several files so that a crash cannot leave it half done, and keeps what was carried out.

The plan is first written into the journal folder (a write-ahead log); after a crash the next command finds it there
(`pending`) and finishes it (`recover`). The disk shows for each operation whether it was done already, so finishing
twice changes nothing. If somebody else changed one of the files meanwhile, `edited_since` says how the plan ends all
the same. A plan that cannot end now waits, and stops only plans that touch the same files. The caller holds the lock.

A plan that comes with an entry is kept when it is done, as a copy of what it wrote: `workspace.kept` says for how long.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from itertools import count

from taskstate.errors import StaleFile, TaskstateError
from taskstate.storage import files, folders, kept_records, transaction
from taskstate.storage.plan_progress import PERMANENT_ERRORS, Progress, progress, progress_or_other
from taskstate.storage.private import make_folder
from taskstate.storage.signals import Held
from taskstate.storage.swap import compare_and_swap
from taskstate.storage.transaction import Append, Create, Delete, Move, Operation, Plan, Replace, paths_of
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from taskstate.error_codes import ErrorCode
    from taskstate.storage.private import Private

__all__ = ["Append", "Create", "Delete", "Move", "Operation", "Plan", "Replace"]
__all__ += ["Keeping", "pending", "recover", "waiting", "write"]

JOURNAL = "journal"  # in the private folder
PENDING = "pending-"
_UNREADABLE = "unreadable-"  # begins the names of plans that were set aside
_HOPELESS: frozenset[ErrorCode] = PERMANENT_ERRORS | {"too-large"}  # of a record: it will never be read
_SPARE_BYTES = 64 * 1024  # that must be free on the disk beside what a plan writes


def pending(private: Private) -> bool:
    """Return whether the journal holds an unfinished plan, by the names in its folder alone.

    Without the lock the plan may be that of a running command: take the lock and call `recover`, which then finds
    nothing to do.
    """
    return any(path.name.startswith(PENDING) or files.is_temporary(path.name) for path in private.files(JOURNAL))


def waiting(private: Private) -> Iterator[tuple[Path, Plan]]:
    """Yield the unfinished plans that can be read, each with the path of its record."""
    for record in private.files(JOURNAL):
        if record.name.startswith(PENDING):
            with suppress(TaskstateError, ValueError):
                yield record, transaction.decode(files.read(record, files.MAX_BYTES)).plan


class Keeping(NamedTuple):
    """How a finished plan is kept: with an `entry`, under a `name`.

    With `first` its record is written before the plan is carried out, also where that would be atomic without.
    """

    entry: Mapping[str, Any]
    name: str
    first: bool = False


def write(root: Path, private: Private, plan: Plan, keeping: Keeping | None = None) -> None:
    """Carry out `plan` under `root`; after a crash, `recover` does the rest. A signal to end is obeyed afterwards.

    Raises:
        StaleFile: a file is not as the plan expects it; nothing was changed.
        TaskstateError: the system refuses, or an unfinished plan has to be recovered first.
    """
    transaction.require_distinct(plan)
    _require_free(private, plan)
    _sweep_beside(root, plan)
    is_atomic = len(plan) == 1 and not isinstance(plan[0], Append) and not (keeping and keeping.first)
    if not (is_atomic and isinstance(plan[0], Replace)):  # which itself looks at the file before it changes anything
        _require_untouched(root, plan)
        _require_possible(root, plan)
    with Held():
        if is_atomic:
            _carry_out(root, plan[0])
            if keeping:
                kept_records.keep(private, transaction.encode(plan, keeping.entry), keeping.name)
        elif plan:
            _carry_out_recorded(root, private, plan, keeping)


def recover(root: Path, private: Private, may_write: Callable[[str], bool]) -> tuple[str, ...]:
    """End the plans that killed commands left, and return one line for each: how it ended, or what it waits for.

    One that names a file which no command `may_write` is renamed, so that it blocks nothing: where there is no git,
    somebody else may have put it there.
    """
    messages = []
    for folder in private.read:
        names = files.names(folder / JOURNAL)
        if any(map(files.is_temporary, names)):
            with suppress(TaskstateError):  # one that may not be written in: nothing there can be finished
                files.sweep(folder / JOURNAL)
        records = [folder / JOURNAL / name for name in names if name.startswith(PENDING)]
        messages += [_recover(root, private, record, may_write) for record in records]
    return tuple(messages)


def _require_untouched(root: Path, plan: Plan) -> None:
    for operation in plan:
        if progress(root, operation) is not Progress.BEFORE:
            touched = " or ".join(files.shown(path) for path in paths_of(operation))
            raise StaleFile(f"{touched} was changed by somebody else meanwhile", help="run the command again")


def _require_free(private: Private, plan: Plan) -> None:
    """Refuse a plan on files for which an unfinished one waits."""
    if not pending(private):
        return
    wanted = {path for operation in plan for path in paths_of(operation)}
    for _, other in waiting(private):
        shared = sorted(wanted.intersection(path for operation in other for path in paths_of(operation)))
        if shared:
            message = f"an interrupted change of {files.shown(shared[0])} has to be finished first"
            raise TaskstateError(message, code="pending", help="`taskstate doctor` says what it waits for")


def _require_possible(root: Path, plan: Plan) -> None:
    """Refuse a plan that the system would refuse in the middle, by permissions and free space."""
    for operation in plan:
        for relative in paths_of(operation):
            path = files.inside(root, relative)
            with files.os_errors("write", path):
                if not isinstance(operation, Move | Delete):  # these change the folder alone
                    files.require_replaceable(path)
                _require_writable_folder(path)
    if len(plan) > 1:
        needed = sum(len(getattr(operation, "data", b"")) for operation in plan) * 2 + _SPARE_BYTES
        with files.os_errors("write", root):
            disk = os.statvfs(root)
        if disk.f_bavail * disk.f_frsize < needed:
            advice = "free some space, then run the command again"
            message = f"cannot write in {files.shown(root)}: no space is left"
            raise TaskstateError(message, code="disk-full", help=advice)


def _require_writable_folder(path: Path) -> None:
    """Refuse a path in whose folder (or, where that is missing, its nearest parent) no file may be written."""
    folder = next(each for each in path.parents if folders.exists(each))
    if not folders.may(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _record(
    private: Private, plan: Plan, keeping: Keeping | None, before: Mapping[str, bytes] | None = None
) -> Path | None:
    """Write the plan into the journal folder, durably, and return the path of that record; None if there is no folder.

    The name of the record ends with that of the copy that is kept of it.
    """
    data = transaction.encode(plan, keeping.entry if keeping else None, before)
    if len(data) > files.MAX_BYTES:
        limit = f"{files.MAX_BYTES // 1024**2} MiB"
        raise TaskstateError(
            f"the change is too large: over {limit} of text at once", code="too-large", help="do it in parts"
        )
    if private.write is None:
        return None
    make_folder(private.write / JOURNAL)
    record = private.write / JOURNAL / f"{PENDING}{files.digest(data)[:16]}-{keeping.name if keeping else ''}.json"
    files.create(record, data, mode=0o600)
    return record


def _carry_out_recorded(root: Path, private: Private, plan: Plan, keeping: Keeping | None) -> None:
    before = texts_before(root, plan)
    record = _record(private, plan, keeping, before)
    try:
        _require_untouched(root, plan)  # again: syncing the record took milliseconds, in which an editor may have saved
    except TaskstateError:
        _drop(record)
        raise
    done = 0
    try:
        for done, operation in enumerate(plan):  # noqa: B007 - how many were done when one is refused
            _carry_out(root, operation)
        _end(private, record, is_kept=keeping is not None)
    except TaskstateError as error:
        if isinstance(error, StaleFile) and _take_back(root, plan[:done], before):
            _drop(record)
            raise
        if not _is_begun(root, plan):
            _drop(record)
            raise
        rest = "the next taskstate command finishes it" if record else "nothing is recorded that could finish it"
        message = f"{error.message}; the change was begun, and {rest}"
        raise TaskstateError(message, code=error.code, help=error.help) from error


def texts_before(root: Path, plan: Plan) -> dict[str, bytes]:
    """Return what the files hold that a plan replaces or deletes, by path."""
    return {
        operation.path: files.read(files.inside(root, operation.path), files.MAX_BYTES)
        for operation in plan
        if isinstance(operation, Replace | Delete)
    }


def _take_back(root: Path, plan: Plan, before: Mapping[str, bytes]) -> bool:
    """Undo a plan because somebody changed a file of the next operation meanwhile; return whether it was possible."""
    from taskstate.storage import edited_since

    with suppress(TaskstateError):
        steps, in_the_way = edited_since.steps(root, plan, _states(root, plan), before, back=True)
        if not in_the_way:
            for operation in steps:
                _carry_out(root, operation)
            return True
    return False


def _states(root: Path, plan: Plan) -> tuple[Progress, ...]:
    return tuple(progress_or_other(root, operation) for operation in plan)


def _drop(record: Path | None) -> None:
    if record:
        files.delete(record)


def _is_begun(root: Path, plan: Plan) -> bool:
    """Return whether anything of the plan was carried out; if that cannot be read, assume that it was."""
    try:
        return not {Progress.HALF, Progress.AFTER}.isdisjoint(_states(root, plan))
    except TaskstateError:
        return True


def _recover(root: Path, private: Private, record: Path, may_write: Callable[[str], bool]) -> str:
    """End one recorded plan and return a line about it; one that can never be carried out is renamed, not deleted."""
    try:
        plan, entry, before = transaction.decode(files.read(record, files.MAX_BYTES))
        _require_ours(root, plan, may_write)
    except (ValueError, TaskstateError) as error:
        if isinstance(error, TaskstateError) and error.code not in _HOPELESS:
            return f"{files.shown(record.name)} waits: {error}"
        name = _set_aside(record)
        shown = files.shown(record.name)
        return f"{shown} is not a plan that can be carried out: nothing more of it is done, and it is kept as {name}"
    touched = _shown(path for operation in plan for path in paths_of(operation))
    change = f"an interrupted change of {touched}"
    try:
        _sweep_beside(root, plan)
        states = _states(root, plan)
        if Progress.OTHER in states:
            how, is_finished = _end_edited(root, plan, states, before)
            _end(private, record, is_kept=is_finished and bool(entry))
            return f"{change} is {how}"
        for operation, state in zip(plan, states, strict=True):
            if state is not Progress.AFTER:
                _carry_out(root, operation, half=state is Progress.HALF)
        _end(private, record, is_kept=bool(entry))
    except TaskstateError as error:
        return f"{change} waits until it can be finished: {error}"
    return f"finished {change}"


def _shown(paths: Iterable[str]) -> str:
    return ", ".join(map(files.shown, paths))


def _end_edited(root: Path, plan: Plan, states: tuple[Progress, ...], before: Mapping[str, bytes]) -> tuple[str, bool]:
    """End a plan of which somebody edited a file since; return what became of it, and whether it was finished.

    Raises:
        TaskstateError: it waits, since it can neither be finished nor taken back; or the system refuses.
    """
    from taskstate.storage import edited_since

    operations = zip(plan, states, strict=True)
    others = (path for operation, state in operations if state is Progress.OTHER for path in paths_of(operation))
    edited = _shown(path for path in others if folders.exists(root / path))
    back, against_back = edited_since.steps(root, plan, states, before, back=True)
    on, against_on = edited_since.steps(root, plan, states, before, back=False)
    if against_back and against_on:
        raise _in_both_ways(root, against_on)
    is_begun = bool(back or against_back)
    is_finished = is_begun and not against_on
    for operation in on if is_finished else back:
        _carry_out(root, operation)
    if is_finished:
        return f"finished; what was changed since stays in {edited}", True
    how = "taken back" if is_begun else "dropped, as nothing of it is there"
    return f"{how}, since {edited} was changed meanwhile, which stays as it is; run the command again", False


def _in_both_ways(root: Path, paths: tuple[str, ...]) -> TaskstateError:
    """Return the error for a plan with edits before and after its steps, with the command that lets it go on."""
    from shlex import quote

    moves = " && ".join(f"mv {quote(str(root / path))} {quote(str(_aside(root, path)))}" for path in paths)
    message = f"{_shown(paths)} {'were' if len(paths) > 1 else 'was'} changed since, and so was what it had written"
    help_ = f"`{moves}` lets the next command finish it; then copy your changes back from there"
    return TaskstateError(message, help=help_, code="recover-conflict")


def _aside(root: Path, path: str) -> Path:
    """Return a free place beside a file."""
    places = (root / f"{path}.mine{number or ''}" for number in count())
    return next(place for place in places if not folders.exists(place))


def _require_ours(root: Path, plan: Plan, may_write: Callable[[str], bool]) -> None:
    for path in (path for operation in plan for path in paths_of(operation)):
        files.inside(root, path)
        if not may_write(path):
            raise ValueError("a plan for files that are not taskstate's")


def _sweep_beside(root: Path, plan: Plan) -> None:
    """Delete the temporary files that the killed command may have left beside the files that it changed."""
    paths = {path for operation in plan for path in paths_of(operation)}
    for path in sorted(paths):
        try:
            folder = files.inside(root, path).parent
        except TaskstateError:
            continue  # it is reported where it is carried out
        files.sweep(folder)


def _end(private: Private, record: Path | None, *, is_kept: bool) -> None:
    """Keep the record of a plan that is done, or delete it.

    If the record stays, or a power cut brings it back, the next command finds every operation done and ends it then.
    """
    with suppress(TaskstateError, OSError):
        if record and is_kept:
            kept_records.keep_file(
                private, record, record.name.removeprefix(PENDING).partition("-")[2].removesuffix(".json")
            )
        else:
            _drop(record)


def _set_aside(record: Path) -> str:
    """Rename the record so that it no longer counts as pending, and return its new path for a message."""
    stem = record.name.removeprefix(PENDING).removesuffix(".json")
    number = 1
    target = record.with_name(f"{_UNREADABLE}{stem}.json")
    while folders.exists(target):
        number += 1
        target = record.with_name(f"{_UNREADABLE}{stem}-{number}.json")
    files.move(record, target)
    return files.shown(target)


def _carry_out(root: Path, operation: Operation, *, half: bool = False) -> None:
    """Carry out one operation; `half`: a killed writer has already written a part of its text."""
    paths = [files.inside(root, path) for path in paths_of(operation)]
    match operation:
        case Create(data=data):
            (files.replace if half else files.create)(paths[0], data)
        case Replace(expected_digest=expected, data=data):
            compare_and_swap(paths[0], data, expected)
        case Append(expected_size=size, data=data):
            if half:
                files.truncate(paths[0], size)
            files.append(paths[0], data, size)
        case Move():
            files.move(paths[0], paths[1])
        case Delete(expected_digest=expected):
            if files.digest(files.read(paths[0], files.MAX_BYTES)) != expected:
                message = f"{files.shown(paths[0])} was changed by somebody else meanwhile"
                raise StaleFile(message, help="run the command again")
            files.delete(paths[0])

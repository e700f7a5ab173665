"""Judges by what is on the disk how far an operation of a plan got: after a crash nothing else knows."""

from __future__ import annotations

from enum import Enum

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.transaction import Append, Create, Delete, Move, Operation, Replace, paths_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.error_codes import ErrorCode

# With these errors an operation can never be carried out; any other error may pass, and the plan stays to be finished.
PERMANENT_ERRORS: frozenset[ErrorCode] = frozenset({"path-escapes", "is-link", "not-a-file", "bad-name"})


class Progress(Enum):
    """How far an operation got, judged by what is on the disk."""

    BEFORE = "nothing of it was done"
    HALF = "a part of its text was written"
    AFTER = "it was done"
    OTHER = "somebody else changed the file"


def progress_or_other(root: Path, operation: Operation) -> Progress:
    """Return how far the operation got; one that can never be carried out counts as changed by somebody else."""
    try:
        return progress(root, operation)
    except TaskstateError as error:
        if error.code in PERMANENT_ERRORS:
            return Progress.OTHER
        raise


def progress(root: Path, operation: Operation) -> Progress:
    """Return how far the operation got.

    Raises:
        TaskstateError: a path leads out of the root, is a link or a device, or cannot be read.
    """
    paths = [files.inside(root, path) for path in paths_of(operation)]
    match operation:
        case Create(data=data):
            return _of_create(_content(paths[0]), data)
        case Replace(expected_digest=expected, data=data):
            return _of_replace(_content(paths[0]), expected, data)
        case Append(expected_size=expected, data=data):
            return _of_append(paths[0], expected, data)
        case Move():
            return _of_move(source=folders.exists(paths[0]), target=folders.exists(paths[1]))
        case Delete(expected_digest=expected):
            return _of_delete(_content(paths[0]), expected)


def _content(path: Path) -> bytes | None:
    return None if files.size(path) is None else files.read(path, files.MAX_BYTES)


def _of_create(content: bytes | None, data: bytes) -> Progress:
    if content is None:
        return Progress.BEFORE
    if content == data:
        return Progress.AFTER
    # A file that holds only the beginning of `data` can be written again without losing anybody's text.
    return Progress.HALF if data.startswith(content) else Progress.OTHER


def _of_replace(content: bytes | None, expected: str, data: bytes) -> Progress:
    if content is None:
        return Progress.OTHER
    if files.digest(content) == expected:
        return Progress.BEFORE
    return Progress.AFTER if content == data else Progress.OTHER


def _of_append(path: Path, expected: int, data: bytes) -> Progress:
    """Judge an append by the file's tail alone: reading it whole would be slow, since an archive grows for years."""
    size = files.size(path)
    if size is None or size < expected:
        return Progress.OTHER
    if size == expected:
        return Progress.BEFORE
    tail = files.read_part(path, expected, len(data))
    if tail == data:
        return Progress.AFTER  # also where somebody has appended more
    written = tail.rstrip(b"\0")  # after a power cut a file can have its new size, with zeros instead of the text
    return Progress.HALF if size <= expected + len(data) and data.startswith(written) else Progress.OTHER


def _of_move(*, source: bool, target: bool) -> Progress:
    if source == target:
        return Progress.OTHER
    return Progress.BEFORE if source else Progress.AFTER


def _of_delete(content: bytes | None, expected: str) -> Progress:
    if content is None:
        return Progress.AFTER
    return Progress.BEFORE if files.digest(content) == expected else Progress.OTHER

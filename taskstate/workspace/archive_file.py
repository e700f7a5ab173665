"""Reads size and last session of a task's archive file from its last lines only, since an archive grows for years."""

from __future__ import annotations

import re

from taskstate.model.task_state import KB
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

_TAIL = 16 * KB  # bytes; hold the trailer of a batch of some 200 sessions, and a longer one is read in a second step


class ArchiveFile(NamedTuple):
    """A task's archive file on disk.

    `path` is from the repository's root, `size` in bytes (None: no file), `last` the highest session number in it.
    """

    path: str
    size: int | None
    last: int


def read_archive(workspace: Workspace, task_id: str) -> ArchiveFile:
    """Return the path and size of a task's archive file, and its last session number, read from its last lines only."""
    path = workspace.state_root / workspace.archive_path(task_id)
    size = files.size(path)
    return ArchiveFile(path=workspace.relative(path), size=size, last=_last_number(path, size) if size else 0)


def _last_number(path: Path, size: int) -> int:
    from taskstate.model.archive_format import BATCH_LINE, headings  # most tasks have no archive

    length = min(_TAIL, size)
    while True:
        tail = files.read_part(path, size - length, length).decode("utf-8", errors="replace")
        batches = re.findall(BATCH_LINE, tail)
        if batches:
            first, last = batches[-1]
            return int(last or first)
        if length == size:  # without any trailer, somebody made the file by hand
            return max((number or 0 for number, _ in headings(tail)), default=0)
        length = min(length * 8, size)

"""Opens a transcript, and streams its whole lines, within bounds.

A client's hook names the path, so that it is what anybody may have put there: only a plain file of this user is read,
which is no link, and opening it waits for nobody.
"""

from __future__ import annotations

import os
import stat
from contextlib import contextmanager

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ENDING = ".jsonl"
LONGEST = 2 * 1024**2  # of a line; those of use are shorter


class Source:
    """A transcript that is open: its size when it was opened, and an identity that no other file in its place has."""

    def __init__(self, descriptor: int, status: os.stat_result) -> None:
        self._descriptor = descriptor
        self.size = status.st_size
        self.identity = f"{status.st_dev}-{status.st_ino}"

    def lines(self, begin: int, most: int) -> Iterator[tuple[int, bytes]]:
        """Yield the whole lines that begin in the `most` bytes from `begin` on, each with the offset where it ends.

        Half a line at the end is left out, and so is one in whose midst `begin` lies. One that is too long is empty.
        """
        at = max(begin - 1, 0)
        data = os.pread(self._descriptor, min(self.size - at, most), at)
        start = data.find(b"\n") + 1 if begin else 0  # the line break before a line that begins here
        if begin and not start:
            return
        while (end := data.find(b"\n", start)) >= 0:
            yield at + end + 1, data[start:end] if end - start <= LONGEST else b""
            start = end + 1

    def is_line(self, offset: int) -> bool:
        """Return whether a line can begin at an offset."""
        return offset == 0 or (offset <= self.size and os.pread(self._descriptor, 1, offset - 1) == b"\n")


@contextmanager
def opened(path: str) -> Iterator[Source]:
    """Open the transcript at `path`.

    Raises:
        TaskstateError: it is none, or another user's, or cannot be read.
    """
    if not path.endswith(ENDING):
        raise TaskstateError(f"{files.shown(path)!r} is not a transcript", code="not-a-file")
    with files.os_errors("read", path):
        folder, name = os.path.split(os.path.abspath(path))
        real = os.path.join(os.path.realpath(folder), name)  # a home may lie behind a link
        descriptor, status = folders.open_checked(real, os.O_RDONLY, lambda found: _require_own(found, path))
    try:
        with files.os_errors("read", path):
            yield Source(descriptor, status)
    finally:
        os.close(descriptor)


def _require_own(status: os.stat_result, path: str) -> None:
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        raise TaskstateError(f"{files.shown(path)} is not a plain file of this user", code="not-a-file")

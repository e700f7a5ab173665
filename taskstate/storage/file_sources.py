"""Where the text of a checked file comes from: the disk, or git's index, which holds what is about to be committed.

A source also gives each file a mark, cheap to take, which differs whenever the bytes do: so a cache need not read what
has not changed.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import index as git_index

if TYPE_CHECKING:
    from pathlib import Path

# A file changed in the same instant as it was looked at may change again and keep its time stamps: time stamps are as
# coarse as two seconds on some file systems. Such a file is marked by what it holds (git's rule for its index).
_COARSEST_NS = 2_000_000_000


def mark_of(status: os.stat_result) -> str:
    """Return what tells one state of a file from another, once it `is_settled`."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"


def is_settled(status: os.stat_result, now: int) -> bool:
    """Return whether the file's last change is so long ago that the next one will have other time stamps."""
    return now - max(status.st_mtime_ns, status.st_ctime_ns) >= _COARSEST_NS


class Disk:
    """Files as they are on disk."""

    def mark(self, path: Path) -> str:
        """Return what tells one state of a file from another; empty where there is none that can be read."""
        try:
            status = os.stat(path, follow_symlinks=False)
        except (OSError, ValueError):
            return ""
        return mark_of(status) if is_settled(status, time.time_ns()) else f"sha256:{_digest(path)}"

    def read(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: it cannot be read.
        """
        return files.read(path)

    def exists(self, path: Path) -> bool:
        """Return whether there is something at `path`."""
        return os.path.lexists(path)


def _digest(path: Path) -> str:
    try:
        return files.digest(files.read(path))
    except TaskstateError as error:  # what cannot be read is told where it is read
        return error.code


class Index:
    """Files as they are in git's index; one that is not in there, as it is on disk."""

    def __init__(self, root: Path, objects: git.Objects) -> None:
        self._root = root
        self._disk = Disk()
        self._objects = objects
        self._ids = git_index.blobs_in_index(root)

    def _id(self, path: Path) -> str | None:
        return self._ids.get(path.relative_to(self._root).as_posix()) if path.is_relative_to(self._root) else None

    def mark(self, path: Path) -> str:
        """Return the object id of a file."""
        return self._id(path) or self._disk.mark(path)

    def read(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: it is not in the index, and cannot be read on disk.
        """
        found = self._id(path)
        data = self._objects.read(found) if found else None
        return self._disk.read(path) if data is None else data

    def exists(self, path: Path) -> bool:
        """Return whether the file is in the index, or on disk."""
        return self._id(path) is not None or self._disk.exists(path)

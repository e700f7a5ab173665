"""Reads the files to check from the disk, from git's index, which holds what is about to be committed, or a commit.

A source also gives each file a mark: a short text, cheap to get, that differs whenever the bytes do. A cache that
stores it need not read a file that has not changed.
"""

from __future__ import annotations

import time

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from pathlib import Path

    from taskstate.storage.git import client as git

# Time stamps are as coarse as two seconds on some file systems: a file that was changed just before it is looked at may
# change again and keep its time stamps. Such a file is marked by its content instead, as git does for its index.
_COARSEST_NS = 2_000_000_000


def mark_of(status: os.stat_result) -> str:
    """Return a file's size, times and inode number as one text; identifies its content once it `is_settled`."""
    return f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"


def is_settled(status: os.stat_result, now: int) -> bool:
    """Return whether the last change is so long ago that the next one is certain to get another time stamp."""
    return now - max(status.st_mtime_ns, status.st_ctime_ns) >= _COARSEST_NS


class Disk:
    """Files as they are on disk."""

    def mark(self, path: Path) -> str:
        """Return a text that changes whenever the file does; empty if it cannot be read."""
        try:
            status = folders.status(path)
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
        return folders.exists(path)


def _digest(path: Path) -> str:
    try:
        return files.digest(files.read(path, files.MAX_BYTES))
    except TaskstateError as error:  # reported by whoever reads the file
        return error.code


class GitFiles:
    """Files as they are in git's index or in a commit; a file that is not there is read from the disk.

    `ids` are the object ids of our own files there, by path from the root.
    """

    def __init__(self, root: Path, objects: git.Objects, ids: Mapping[str, str]) -> None:
        self._root = root
        self._disk = Disk()
        self._objects = objects
        self.ids = ids

    def _id(self, path: Path) -> str | None:
        return self.ids.get(path.relative_to(self._root).as_posix()) if path.is_relative_to(self._root) else None

    def mark(self, path: Path) -> str:
        """Return the file's object id, which is a hash of its content."""
        return self._id(path) or self._disk.mark(path)

    def read(self, path: Path) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: git does not have it there, and it cannot be read on disk.
        """
        object_id = self._id(path)
        data = self._objects.read(object_id, path.name) if object_id else None
        return self._disk.read(path) if data is None else data

    def exists(self, path: Path) -> bool:
        """Return whether git has the file there, or the disk."""
        return self._id(path) is not None or self._disk.exists(path)

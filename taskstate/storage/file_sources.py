"""Reads the files to check from the disk, from git's index, which holds what is about to be committed, or a commit.

A source also gives each file a mark: a short text, cheap to get, that differs whenever the bytes do. A cache that
stores it need not read a file that has not changed.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.storage.commit_files import ListedFiles
    from taskstate.storage.git import client as git

# Time stamps are as coarse as two seconds on some file systems: a file that was changed just before it is looked at may
# change again and keep its time stamps. Such a file is marked by its content instead, as git does for its index.
_COARSEST_NS = 2_000_000_000


def mark_of(status: os.stat_result) -> str:
    """Return a file's size, times and inode number as one text; identifies its content once it `is_settled`."""
    changed = status.st_mtime_ns  # as a rule the other time, too: their difference is short, and ten thousand add up
    return f"{status.st_size}-{changed}-{status.st_ctime_ns - changed}-{status.st_ino}"


def mark_of_content(digest: str) -> str:
    """Return the mark of a file that has just been written, given the SHA-256 of its bytes."""
    return f"sha256:{digest}"


def is_settled(status: os.stat_result, now: int) -> bool:
    """Return whether the last change is so long ago that the next one is certain to get another time stamp."""
    return max(status.st_mtime_ns, status.st_ctime_ns) <= settled_before(now)


def settled_before(now: int) -> int:
    """Return the time of the last change by which a file `is_settled` now."""
    return now - _COARSEST_NS


class Disk:
    """Files as they are on disk."""

    def mark(self, path: Path | str) -> str:
        """Return a text that changes whenever the file does; empty if it cannot be read."""
        try:
            return _mark(path, self._status(path))
        except OSError:
            return ""

    def read(self, path: Path, most: int = files.MAX_TEXT) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: it cannot be read, or has more than `most` bytes.
        """
        return files.read(path, most)

    def read_part(self, path: Path, length: int) -> bytes:
        """Return at most `length` bytes of a file.

        Raises:
            TaskstateError: it cannot be read.
        """
        return files.read_part(path, 0, length)

    def size(self, path: Path) -> int | None:
        """Return the size of a plain file, or None if nothing is there.

        Raises:
            TaskstateError: something else is there.
        """
        return files.size(path)

    def names(self, folder: Path) -> tuple[str, ...]:
        """Return the names in a folder, sorted; none if nothing is there.

        Raises:
            TaskstateError: it cannot be listed.
        """
        return files.names(folder)

    def real(self, path: str) -> str:
        """Return the path with its links followed."""
        return os.path.realpath(path)

    def close(self) -> None:
        """Let go of what is held open, which here is nothing."""

    def exists(self, path: Path) -> bool:
        """Return whether there is something at `path`."""
        try:
            return bool(self._status(path))
        except OSError:
            return False

    def is_folder(self, path: Path) -> bool:
        """Return whether a folder is at `path`."""
        try:
            return stat.S_ISDIR(self._status(path).st_mode)
        except OSError:
            return False

    def _status(self, path: Path | str) -> os.stat_result:
        return folders.status(path)


DISK = Disk()


class DiskInRun(Disk):
    """Files on disk during one run, which are assumed not to change meanwhile: each mark is taken once.

    It holds folders open until it is closed.
    """

    def __init__(self) -> None:
        self._lookout = folders.Lookout()
        self._marks: dict[str, str] = {}

    def mark(self, path: Path | str) -> str:
        """Return a text that changes whenever the file does; empty if it cannot be read."""
        name = str(path)
        mark = self._marks.get(name)
        if mark is None:
            mark = self._marks[name] = super().mark(name)
        return mark

    def read(self, path: Path, most: int = files.MAX_TEXT) -> bytes:
        """Return the content of a file."""
        return files.read(path, most, lookout=self._lookout)

    def _status(self, path: Path | str) -> os.stat_result:
        return self._lookout.status(path)

    def forget_file(self, path: Path) -> None:
        """Forget the mark of a file, which has been written since."""
        self._marks.pop(str(path), None)

    def close(self) -> None:
        """Forget all marks, and let go of the folders; whoever looks again starts anew."""
        self._marks.clear()
        self._lookout.close()


def _mark(path: Path | str, status: os.stat_result) -> str:
    return mark_of(status) if is_settled(status, time.time_ns()) else mark_of_content(_digest(path))


def _digest(path: Path | str) -> str:
    try:
        return files.digest(files.read(Path(path), files.MAX_BYTES))
    except TaskstateError as error:  # reported by whoever reads the file
        return error.code


class GitFiles(Disk):
    """Files as they are in git's index or in a commit; a file that is not there is read from the disk.

    `ids` are the object ids of our own files there, by path from the root.
    """

    def __init__(self, root: Path, objects: git.Objects, ids: Mapping[str, str]) -> None:
        self._root = root
        self._objects = objects
        self.ids = ids

    def _id(self, path: Path | str) -> str | None:
        name, root = os.fspath(path), f"{self._root}{os.sep}"
        return self.ids.get(name.removeprefix(root).replace(os.sep, "/")) if name.startswith(root) else None

    def mark(self, path: Path | str) -> str:
        """Return the file's object id, which is a hash of its content."""
        return self._id(path) or super().mark(path)

    def read(self, path: Path, most: int = files.MAX_TEXT) -> bytes:
        """Return the content of a file.

        Raises:
            TaskstateError: git does not have it there, and it cannot be read on disk.
        """
        object_id = self._id(path)
        data = self._objects.read(object_id, path.name) if object_id else None
        return super().read(path, most) if data is None else data

    def exists(self, path: Path) -> bool:
        """Return whether git has the file there, or the disk."""
        return self._id(path) is not None or super().exists(path)


if TYPE_CHECKING:
    Files = Disk | ListedFiles  # what both can be asked; a commit has no disk to fall back to, as the index has

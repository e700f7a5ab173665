"""Checks whether the files that a record names exist and are unchanged.

Every path is checked to stay inside the repository.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.file_sources import DISK, Disk
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.storage.file_sources import Files

_NO_FILE = {errno.ENOENT, errno.ENOTDIR, errno.ELOOP}  # behind a link there is none: git does not look there either
_CHUNK = 16 * 1024**2


def sha256_of(root: Path, relative: str) -> str | None:
    """Return the SHA-256 of a file of any size, or None if there is no such file.

    Raises:
        TaskstateError: the path leads out of the repository, or the file cannot be read.
    """
    import hashlib

    path = files.inside(root, relative)
    length = files.size(path) if folders.is_file(path) else None
    if length is None:
        return None
    digest = hashlib.sha256()
    for start in range(0, length, _CHUNK):
        digest.update(files.read_part(path, start, min(_CHUNK, length - start)))
    return digest.hexdigest()


def exists(root: Path, relative: str, source: Files = DISK) -> bool:
    """Return whether a file or folder exists at `relative`, or matches it as a pattern with wildcards.

    Raises:
        TaskstateError: code "path-escapes": it leads out of the repository.
    """
    path = files.inside(root, relative, source.real)
    if source.exists(Path(source.real(str(path.parent)), path.name)):
        return True
    if not isinstance(source, Disk):
        return source.has_match(root, relative)
    try:
        return any(True for _ in root.glob(relative))
    except (ValueError, NotImplementedError):  # not a valid pattern
        return False


class FileChange(NamedTuple):
    """A file that is not as it was recorded: its SHA-256 now, None where there is none, and the change in words."""

    path: str
    sha256: str | None
    words: str


def changes_since(root: Path, recorded: Iterable[tuple[str, str | None]]) -> tuple[FileChange, ...]:
    """Return the files whose SHA-256 is not the recorded one; None records that it did not exist."""
    changed = []
    for path, then in recorded:
        try:
            now = sha256_of(root, path)
        except TaskstateError as error:
            changed.append(FileChange(path, None, f"{files.shown(path)} cannot be read: {error.message}"))
            continue
        if now != then:
            change = "is gone" if now is None else "is there again" if then is None else "changed"
            changed.append(FileChange(path, now, f"{files.shown(path)} {change}"))
    return tuple(changed)


class FileOnDisk(NamedTuple):
    """A file on disk: its size and SHA-256; for a link, those of the path that it contains."""

    size: int
    sha256: str | None


def file_on_disk(root: Path, path: str) -> FileOnDisk | None:
    """Return size and hash of the file at a path; None if there is none, and no hash for a folder such as a submodule.

    Raises:
        TaskstateError: it cannot be read.
    """
    import hashlib
    import stat

    with files.os_errors("read", root / path):
        try:
            status = folders.status(root / path)
        except OSError as error:
            if error.errno in _NO_FILE:
                return None
            raise
        if stat.S_ISLNK(status.st_mode):
            target = folders.link_text(root / path)
            return FileOnDisk(len(target), hashlib.sha256(target).hexdigest())
        if not stat.S_ISREG(status.st_mode):
            return FileOnDisk(0, None)
        with open(folders.open_file(root / path, os.O_RDONLY), "rb", buffering=0) as stream:
            return FileOnDisk(status.st_size, hashlib.file_digest(stream, "sha256").hexdigest())

"""Replaces a file by compare-and-swap: only if it still has the content that the new one was made from."""

from __future__ import annotations

import errno
from contextlib import closing, suppress

from taskstate.errors import StaleFile
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Errors of systems that cannot give a file a second name.
_LINK_UNSUPPORTED = {
    *(errno.EACCES, errno.EPERM, errno.EXDEV, errno.EMLINK),
    *(errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP),
}


def compare_and_swap(path: Path, data: bytes, expected: str) -> None:
    """Replace the file at `path` by `data` if its content still has the SHA-256 `expected`.

    The old file keeps a second name (a hard link) until the end: an editor that saves in place between the last check
    and the rename writes into that old file, which is checked again afterwards and gets its name back.

    Raises:
        StaleFile: the file has other content, which is left as it is, or is gone.
        TaskstateError: the system refuses.
    """
    with files.os_errors("write", path):
        before = files.require_replaceable(path)
        if before is None:
            raise _changed(path)
        with files.temporary_file(path, data, before) as temporary:
            old = _second_name(path, files.temporary_name(path))
            try:
                _rename(temporary, path, old, expected)
            finally:
                if old != path:
                    with suppress(FileNotFoundError):  # it got its name back
                        folders.remove(old)


def _rename(temporary: Path, path: Path, old: Path, expected: str) -> None:
    """Rename `temporary` to `path`, if the file there is still `old` and has the digest `expected`."""
    with closing(folders.Lookout()) as lookout:
        ours = lookout.status(temporary).st_ino
        # The same inode, too: an editor that saves by rename has put another file there since the link was made.
        digest = files.digest(files.read(old, files.MAX_BYTES, lookout=lookout))
        if digest != expected or lookout.status(old).st_ino != lookout.status(path).st_ino:
            raise _changed(path)
    folders.rename(temporary, path)
    try:
        folders.sync(path.parent)
    except OSError:
        if old != path:
            folders.rename(old, path)
        raise
    if old != path and files.digest(files.read(old, files.MAX_BYTES)) != expected:
        if folders.status(path).st_ino == ours:
            folders.rename(old, path)
            folders.sync(path.parent)
        raise _changed(path)


def _second_name(path: Path, other: Path) -> Path:
    """Give the file at `path` a second name and return it, or `path` where the file system cannot do that."""
    try:
        folders.give_second_name(path, other)
    except OSError as error:
        if error.errno in _LINK_UNSUPPORTED:
            return path
        raise
    return other


def _changed(path: Path) -> StaleFile:
    return StaleFile(f"{files.shown(path)} was changed by somebody else meanwhile", help="run the command again")

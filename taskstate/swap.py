"""Puts a text in the place of another one, unless somebody else changes the file up to the very instant of it.

A rename overwrites whatever stands there, and an editor takes no lock. So the old file is kept by a second name, and
looked at again when the new one is in place. What is left is the time between two system calls, a look at the name and
the rename, for an editor that saves by rename itself.
"""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from taskstate import files
from taskstate.errors import StaleFile

if TYPE_CHECKING:
    from pathlib import Path

_CANNOT_LINK = {errno.EACCES, errno.EPERM, errno.EXDEV, errno.EMLINK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}


def swap(path: Path, data: bytes, expected: str, kept: Path | None = None) -> None:
    """Put `data` in the place of the file at `path`, whose content must have the digest `expected` to the last instant.

    The old file stays at `kept`, by a hard link. A save in place that reaches it in the instant of the change is seen
    by that: the very file that somebody is writing gets its name back.

    Raises:
        StaleFile: the file is another one; it stands as that somebody left it.
    """
    with files.told("write", path):
        before = files.replaceable(path)
        if before is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
        with files.temporary_file(path, data, before) as temporary:
            ours = temporary.stat().st_ino
            watched = kept if kept and _linked(path, kept) else path
            try:
                _rename_over(temporary, path, watched, expected)
            except BaseException:
                if watched is not path:
                    watched.unlink(missing_ok=True)
                raise
        try:
            files.sync_folder(path.parent)
        except OSError:
            if watched is not path:
                watched.replace(path)
            raise
        if watched is not path and files.digest(files.read(watched)) != expected:
            if path.lstat().st_ino == ours:
                watched.replace(path)
                files.sync_folder(path.parent)
            raise _changed(path)


def _rename_over(temporary: Path, path: Path, watched: Path, expected: str) -> None:
    """Give the file the name `path`, if what stands there is `watched` and has the digest `expected`."""
    if files.digest(files.read(watched)) != expected or watched.stat().st_ino != path.lstat().st_ino:
        raise _changed(path)
    temporary.replace(path)


def _linked(path: Path, kept: Path) -> bool:
    """Give the file at `path` a second name, and tell whether the system can do that here."""
    try:
        kept.unlink(missing_ok=True)
        kept.hardlink_to(path)
    except OSError as error:
        if error.errno in _CANNOT_LINK:
            return False
        raise
    return True


def _changed(path: Path) -> StaleFile:
    return StaleFile(f"{files.shown(path)} was changed by somebody else meanwhile", help="run the command again")

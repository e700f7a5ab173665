"""The files that an output names, on disk: whether they are there, and whether they still hold what they held.

Bytes and paths only; a path never leads out of the repository.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_CHUNK = 16 * 1024**2


def sha256_of(root: Path, relative: str) -> str | None:
    """Return the SHA-256 of a file's bytes, however large it is; None where there is no such file.

    Raises:
        TaskstateError: the path leads out of the repository, or the file cannot be read.
    """
    import hashlib

    path = files.inside(root, relative)
    length = files.size(path) if os.path.isfile(path) else None
    if length is None:
        return None
    digest = hashlib.sha256()
    for start in range(0, length, _CHUNK):
        digest.update(files.read_part(path, start, min(_CHUNK, length - start)))
    return digest.hexdigest()


def exists(root: Path, relative: str) -> bool:
    """Return whether a path names a file or a folder that is there, or with wildcards at least one.

    Raises:
        TaskstateError: code "path-escapes": it leads out of the repository.
    """
    path = files.inside(root, relative)
    if os.path.lexists(path):
        return True
    try:
        return any(True for _ in root.glob(relative))
    except (ValueError, NotImplementedError):  # no pattern that the system knows
        return False


def changed_since(root: Path, known: Iterable[tuple[str, str | None]]) -> tuple[str, ...]:
    """Return a line for each file that is not what it was: changed, gone, or there again."""
    found = []
    for path, then in known:
        try:
            now = sha256_of(root, path)
        except TaskstateError as error:
            found.append(f"{files.shown(path)} cannot be read: {error.message}")
            continue
        if now != then:
            what = "is gone" if now is None else "is there again" if then is None else "changed"
            found.append(f"{files.shown(path)} {what}")
    return tuple(found)

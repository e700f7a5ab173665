"""Files that are made once, beside their place: written as a stream, synced, and told by their digest."""

from __future__ import annotations

import hashlib
import os

from taskstate.storage import folders
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import IO


def stream(path: Path) -> IO[bytes]:
    """Return a new file, open for writing, which can be cut back."""
    return open(folders.open_file(path, os.O_RDWR | os.O_CREAT | os.O_EXCL), "w+b")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, however large it is, in hexadecimal."""
    with open(folders.open_file(path, os.O_RDONLY), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Make the content of a file durable."""
    with open(folders.open_file(path, os.O_RDONLY), "rb") as file:
        os.fsync(file.fileno())

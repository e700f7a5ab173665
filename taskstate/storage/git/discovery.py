"""Finds the git folder of a working tree by reading the files that name it, as git does, without starting git."""

from __future__ import annotations

import os

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 64 * 1024**2


def discover(path: Path) -> Path | None:
    """Return the nearest folder at or above `path` that is the root of a working tree."""
    start = path.absolute()
    return next((folder for folder in (start, *start.parents) if git_folder(folder)), None)


def git_folder(top: Path) -> Path | None:
    """Return the git folder of the working tree `top`: `.git`, or the one that the `.git` file of a worktree names."""
    entry = top / ".git"
    if not os.path.isdir(entry):
        line = first_line(entry)
        if not line.startswith("gitdir: "):
            return None
        entry = top / line.removeprefix("gitdir: ")
    return entry if os.path.isfile(entry / "HEAD") or os.path.islink(entry / "HEAD") else None


def first_line(path: Path) -> str:
    """Return the first line of a small file of git's; empty if there is no such plain file."""
    if not os.path.isfile(path):  # opening a FIFO would block
        return ""
    try:
        with path.open("rb") as stream:
            return os.fsdecode(stream.readline(4096).partition(b"\0")[0]).rstrip("\r\n")  # for git a NUL ends it
    except OSError:
        return ""


def small_file(path: Path) -> bytes | None:
    """Return the content of a file of git's; None if there is no such plain file, or it is too large to be looked at.

    Raises:
        OSError: it cannot be read.
    """
    if not os.path.isfile(path):  # opening a FIFO would block
        return None
    with path.open("rb") as stream:
        data = stream.read(_MOST_BYTES + 1)
    return None if len(data) > _MOST_BYTES else data

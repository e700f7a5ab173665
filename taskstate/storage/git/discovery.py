"""Finds the git folder of a working tree by reading the files that name it, as git does, without starting git."""

from __future__ import annotations

import os

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 64 * 1024**2
# What git names to its hooks besides the repository itself: the index of the commit that is being made, and the objects
# that a push brings. A hook may work in another repository, or in another worktree, where these count for nothing.
_INDEX, _OBJECTS = "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"
_IN_GIT_FOLDER = ("objects", "commondir")  # one of them, besides HEAD
_OF_A_HOOK = (_INDEX, _OBJECTS, "GIT_SHALLOW_FILE")


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


def foreign_variables(top: Path) -> tuple[str, ...]:
    """Return the names of the environment's variables that name files of another repository than the one at `top`."""
    named = [name for name in _OF_A_HOOK if name in os.environ]
    folder = git_folder(top) if named else None
    if folder is None:
        return ()
    shared = folder / (first_line(folder / "commondir") or ".")
    foreign = [each for each in named if not _is_ours(top, os.environ[each], folder if each == _INDEX else shared)]
    return (*foreign, "GIT_ALTERNATE_OBJECT_DIRECTORIES") if _OBJECTS in foreign else tuple(foreign)


def _is_ours(top: Path, name: str, own: Path) -> bool:
    """Return whether a file is in the git folder `own`, or in nobody's, such as an index that somebody chose."""
    folder = os.path.realpath((top / name).parent)  # a relative name counts from the root of the working tree
    while name and folder != os.path.dirname(folder):
        if os.path.isfile(folder):  # `.git` in another worktree, where the hook's repository has a folder
            return False
        if os.path.lexists(f"{folder}/HEAD") and any(os.path.exists(f"{folder}/{each}") for each in _IN_GIT_FOLDER):
            return folder == os.path.realpath(own)
        folder = os.path.dirname(folder)
    return name != ""


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

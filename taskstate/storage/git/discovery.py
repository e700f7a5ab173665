"""Finds the git folder of a working tree by reading the files that name it, as git does, without starting git.

A file `.git`, a link in its place and a file `commondir` can name any folder: also the git directory of another
repository of the user's, in an archive that was unpacked. Git works in that one then; here such a folder has no git.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_BYTES = 64 * 1024**2
# What git names to its hooks besides the repository itself: the index of the commit that is being made, and the objects
# that a push brings. A hook may work in another repository, or in another worktree, where these count for nothing.
_INDEX, _OBJECTS = "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"
_IN_GIT_FOLDER = ("objects", "commondir")  # one of them, besides HEAD
_IN_BARE = ("HEAD", "objects", "refs")  # all of them
_OF_A_HOOK = (_INDEX, _OBJECTS, "GIT_SHALLOW_FILE")


# In a git folder: the working tree that it belonged to when something private was first put into it. It counts after
# `git init --separate-git-dir`, which leaves no link back. No worktree is called so: git allows no `~` in their ids.
HOME = "taskstate/home~"
_CORE_WORKTREE = re.compile(rb"(?im)^[ \t]*worktree[ \t]*=[ \t]*(.+?)[ \t\r]*$")


class Foreign(NamedTuple):
    """A folder whose `.git` leads to another one's git directory."""

    top: Path
    git_dir: str


def discover(path: Path) -> Path | None:
    """Return the nearest folder at or above `path` that has a `.git`; None without one, or if it is a foreign one."""
    top = _nearest(path)
    return None if top is None or _foreign_folder(top) else top


def foreign(path: Path) -> Foreign | None:
    """Return the nearest folder at or above `path` with a `.git`, if that leads to another folder's git directory."""
    top = _nearest(path)
    git_dir = _foreign_folder(top) if top else ""
    return Foreign(top, git_dir) if top and git_dir else None


def is_linked(top: Path, git_dir: Path) -> bool:
    """Return whether a git directory is the `.git` in `top`, or names `top` or a place that is not here.

    Such a place is where the working tree was before it was moved, or is seen from another machine.
    """
    own = os.path.realpath(git_dir)
    if own == os.path.join(os.path.realpath(top), ".git"):
        return True
    named = [*_named_by(own)]
    return bool(named) and not any(_is_others(each, top, own) for each in named)


def _nearest(path: Path) -> Path | None:
    start = path.absolute()
    return next((folder for folder in (start, *start.parents) if git_folder(folder)), None)


def _foreign_folder(top: Path) -> str:
    """Return the git directory to which the `.git` of a folder leads if it is another folder's, else an empty text."""
    entry = top / ".git"
    try:
        is_own = stat.S_ISDIR(entry.lstat().st_mode)
    except OSError:  # it has just gone
        return ""
    if is_own and not os.path.lexists(entry / "commondir"):
        return ""
    named = git_folder(top) or entry
    git_dir = os.path.realpath(named)
    common = os.path.realpath(os.path.join(git_dir, first_line(Path(git_dir, "commondir")) or "."))
    if common != git_dir and os.path.dirname(git_dir) != os.path.join(common, "worktrees"):
        return common  # not where git puts the folder of a worktree
    owners = (os.path.dirname(named), os.path.dirname(git_dir), *_named_by(git_dir))
    return git_dir if any(_is_others(each, top, git_dir) for each in owners) else ""


def _named_by(git_dir: str) -> Iterator[str]:
    """Yield the folders that a git directory names as its working tree."""
    if back := first_line(Path(git_dir, "gitdir")):  # of a linked worktree
        yield os.path.dirname(os.path.join(git_dir, back))
    if home := first_line(Path(git_dir, HOME)):
        yield home
    for name in ("config", "config.worktree"):
        try:
            found = _CORE_WORKTREE.findall(small_file(Path(git_dir, name)) or b"")
        except OSError:
            continue
        for value in found:  # of a submodule, and of whom it was set by hand
            unquoted = re.sub(rb"\\(.)", rb"\1", value.strip(b'"'))
            yield os.path.join(git_dir, os.fsdecode(unquoted))


def _is_others(folder: str, top: Path, git_dir: str) -> bool:
    """Return whether a folder that is not `top` has this git directory: its own `.git` leads there."""
    try:
        found = git_folder(Path(folder))
        return found is not None and os.path.samefile(found, git_dir) and not os.path.samefile(folder, top)
    except (OSError, ValueError):  # it is not there, or it is no name
        return False


def bare_folder(path: Path) -> Path | None:
    """Return the bare repository that `path` is, or lies in; None where there is none, or a working tree."""
    if _nearest(path):
        return None
    start = path.absolute()
    found = (each for each in (start, *start.parents) if all(os.path.exists(each / name) for name in _IN_BARE))
    return next(found, None)


def git_folder(top: Path) -> Path | None:
    """Return the git folder of the working tree `top`: `.git`, or the one that the `.git` file of a worktree names."""
    entry = top / ".git"
    if not os.path.isdir(entry):
        line = first_line(entry)
        if not line.startswith("gitdir: "):
            return None
        entry = top / line.removeprefix("gitdir: ")
    return entry if os.path.isfile(entry / "HEAD") or os.path.islink(entry / "HEAD") else None


def linked_worktrees(common_dir: Path) -> Iterator[tuple[Path, str, bool]]:
    """Yield the git folder of each linked worktree that a repository has, its real path, and whether it is there."""
    try:
        names = sorted(os.listdir(common_dir / "worktrees"))
    except OSError:
        return
    for folder in (common_dir / "worktrees" / name for name in names):
        if named := first_line(folder / "gitdir"):
            entry = Path(folder, named)
            yield folder, os.path.realpath(entry.parent), first_line(entry).startswith("gitdir: ")


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

"""Finds the folder for what is private to the tool: the journal, kept copies of what was acknowledged, and caches.

It lies where no commit reaches: in git's common folder, one for each worktree. Where that cannot be written or does not
name this working tree, and without git, it is `private/` in the state folder, which a stranger's commit could hold: so
that one is used only if nothing in it is a link, tracked by git, or another user's.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from taskstate.errors import GitFailed, TaskstateError
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.git.discovery import HOME
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

FALLBACK = "private"  # in the state folder
_IN_GIT = "taskstate"  # in git's common folder
_MAIN = "main"


class Private(NamedTuple):
    """The private folders: those that are read, the one that is written (None: none can be), and why one is not used.

    They need not exist yet; `removed` are those of worktrees that are gone. `foreign` is the git directory of another
    folder to which `.git` leads; `unlinked` one that names no working tree. Neither holds anything of ours.
    """

    read: tuple[Path, ...]
    write: Path | None
    refusal: str = ""
    removed: tuple[Path, ...] = ()
    foreign: str = ""
    unlinked: str = ""

    def files(self, kind: str) -> Iterator[Path]:
        """Yield the files of one kind (`journal`, `kept`), each folder's in the order of their names."""
        for folder in self.read:
            for name in files.names(folder / kind):
                yield folder / kind / name

    def discard(self, kind: str, names: Container[str]) -> None:
        """Delete the files of one kind with these names; one that another command deletes meanwhile is gone as well.

        Raises:
            TaskstateError: one cannot be deleted.
        """
        for path in self.files(kind):
            if path.name in names:
                try:
                    files.delete(path)
                except TaskstateError as error:
                    if error.code != "not-found":
                        raise

    def cache(self, name: str) -> Path | None:
        """Return the path of a cache file, or None where nothing private can be written."""
        return self.write / "cache" / name if self.write else None


def find_private(root: Path, state_root: Path) -> Private:
    """Return the private folders of the repository at `root`."""
    at = _git_folders(root)
    is_ours = at is not None and git.is_linked(at.top, at.git_dir)
    own = at.common_dir / _IN_GIT / _worktree(at, root) if at and is_ours else None
    in_git = own if own and _is_free(own) and _is_free(own.parent) else None
    is_writable = in_git is not None and _is_writable(in_git)
    fallback = state_root / FALLBACK
    why_not = refusal(fallback, root) if folders.exists(fallback) else ""
    read = (*((in_git,) if in_git else ()), *(() if why_not else (fallback,)))
    write = in_git if is_writable else None if why_not else fallback
    found = Private(read, write, why_not, _removed(at, in_git) if at and in_git else ())
    if at:
        return found if is_ours else found._replace(unlinked=str(at.git_dir))
    other = git.foreign(root)
    return found._replace(foreign=other.git_dir) if other else found


def make_folder(folder: Path) -> None:
    """Create a private folder, and its parents, for this user alone.

    Raises:
        TaskstateError: the system refuses.
    """
    with files.os_errors("create", folder):
        if not folders.is_folder(folder):
            above = folder.parent.parent
            is_new = above.name == _IN_GIT and not folders.exists(above)
            files.make_folder(above.parent if above.name == _IN_GIT else above)
            for each in (above, folder.parent, folder):
                folders.make(each, 0o700)
            if is_new and above.parent.name == ".git":
                _name_home(above.parent)


def _name_home(git_dir: Path) -> None:
    """Note whose a git directory is, for the time after it was moved out of there by `git init --separate-git-dir`."""
    with suppress(OSError):  # another command has just done so; or the disk is full, and what follows says so
        descriptor = folders.open_file(git_dir / HOME, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            files.write_all(descriptor, os.fsencode(git_dir.parent) + b"\n")
        finally:
            os.close(descriptor)


def _git_folders(root: Path) -> git.GitFolders | None:
    """Return git's folders, with every link resolved; None also where they are another folder's."""
    try:
        at = git.folders(root)
    except GitFailed:
        return None
    if at is None:
        return None
    git_dir, common_dir = Path(os.path.realpath(at.git_dir)), Path(os.path.realpath(at.common_dir))
    return at._replace(git_dir=git_dir, common_dir=common_dir)


def _worktree(at: git.GitFolders, root: Path) -> str:
    """Return the name of the folder of a worktree, or of a folder in it that has a configuration of its own.

    Git allows neither `~` nor `:` in the id of a worktree.
    """
    is_main = os.path.realpath(at.git_dir) == os.path.realpath(at.common_dir)
    name = _MAIN if is_main else f"{_MAIN}~" if at.git_dir.name == _MAIN else at.git_dir.name
    below = os.path.relpath(os.path.realpath(root), os.path.realpath(at.top))
    if below == os.curdir:
        return name
    from urllib.parse import quote  # which few need, and which takes as long to load as a good part of a command

    return f"{name}:{quote(below, safe='')}"


def of_worktree(at: git.GitFolders, git_dir: Path, root: Path) -> Path:
    """Return the private folder of the linked worktree with this git folder, for the folder that is `root` here."""
    return at.common_dir / _IN_GIT / _worktree(at._replace(git_dir=git_dir), root)


def _is_free(folder: Path) -> bool:
    return folders.is_folder(folder) or not folders.exists(folder)  # not where a link or a file is in its place


def _is_writable(folder: Path) -> bool:
    existing = next(each for each in (folder, *folder.parents) if folders.exists(each))
    return folders.is_folder(existing) and folders.may(existing, os.W_OK | os.X_OK)


def _removed(at: git.GitFolders, own: Path) -> tuple[Path, ...]:
    """Return the private folders of worktrees that git no longer knows."""
    _, colon, below = own.name.partition(":")
    found = []
    for name in files.names(own.parent):
        worktree = name.partition(":")[0]
        same_place = name == f"{worktree}{colon}{below}"
        known = at.common_dir / "worktrees" / worktree.rstrip("~")
        if worktree not in (_MAIN, os.path.basename(HOME)) and same_place and not folders.is_folder(known):
            found.append(own.parent / name)
    return tuple(found)


def refusal(folder: Path, root: Path) -> str:
    """Return why a folder in the repository must not be used for private things, or an empty text."""
    pending = [os.fspath(folder)]
    while pending:
        path = pending.pop()
        try:
            status = folders.status(path)
            if stat.S_ISDIR(status.st_mode):
                pending += [f"{path}{os.sep}{name}" for name, _ in folders.entries(path)]
        except FileNotFoundError:  # another command has just removed it
            continue
        if stat.S_ISLNK(status.st_mode):
            return f"{files.shown(path)} is a link"
        if status.st_uid != os.geteuid():
            return f"{files.shown(path)} belongs to another user"
    if git.toplevel(root) is None:
        return ""
    try:
        tracked = git.run(["ls-files", "-z", "--", f":(literal){folder.relative_to(root).as_posix()}"], root)
    except GitFailed as error:
        return error.message
    return f"git tracks {files.shown(os.fsdecode(tracked.split(bytes(1))[0]))}" if tracked else ""

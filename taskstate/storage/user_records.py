"""Keeps what the user said of a repository, where nothing that comes by git can reach: in the user's own state folder.

For each kind of it there is a folder, and in that a file for each repository, named after the hash of its real path. So
a repository that was moved or copied starts with nothing said. Where a file cannot be believed, nothing is said either,
and `Said.problem` says why. Like the lock this module reads the environment: every command would have to pass the
folder on otherwise.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.model.loose_values import json_of
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, TypeAlias

    Values: TypeAlias = "Mapping[str, Any]"

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Kind(NamedTuple):
    """A kind of what a user says: its folder, the command that writes it anew, and whether values are ones of ours.

    With `is_shared` all worktrees of a repository have one file.
    """

    folder: str
    command: str
    is_whole: Callable[[Values], bool]
    is_shared: bool = False


class Said(NamedTuple):
    """What was said of a repository; `problem` is why that does not count, if it does not."""

    values: Mapping[str, Any] = {}
    problem: str = ""


def read(kind: Kind, root: Path) -> Said:
    """Return what was said of the repository at `root`. What cannot be believed or read counts for nothing."""
    try:
        path, named = _place(kind, root)
        problem = _doubt(kind, path.parent) or _doubt(kind, path)
        if problem or not folders.exists(path):
            return Said(problem=problem)
        value = json_of(files.read(path))
    except TaskstateError as error:
        return Said(problem=error.message)
    if isinstance(value, dict) and value.pop("root", None) == named and kind.is_whole(value):
        return Said(value)
    return Said(problem=f"{files.shown(path)} is damaged; {_anew(kind)}")


def change(kind: Kind, root: Path, changed: Callable[[Values], Values]) -> bool:
    """Write what is said from now on, as `changed` makes it of what counted before; return whether that is new.

    Raises:
        TaskstateError: the user's state folder cannot be found or written; LockTimeout: another command holds it.
    """
    from taskstate.model.canonical_json import canonical_json
    from taskstate.storage import lock  # each hook reads what is said, and hardly any command changes it

    path, named = _place(kind, root)
    doubt = _doubt(kind, path.parent)  # now: what others have put there must not count once the folder is private
    _make_private(path.parent)
    with lock.locked(path.parent / "lock"):
        before = Said(problem=doubt) if doubt else read(kind, root)
        after = changed(before.values)
        if after == before.values and not before.problem:
            return False
        content = canonical_json({"root": named, **after}).encode("utf-8", "surrogatepass")
        files.replace_private(path, content)
    return True


def forget(kind: Kind, root: Path) -> bool:
    """Forget all that was said of the repository at `root`; return whether there was anything.

    Raises:
        TaskstateError: it cannot be deleted; LockTimeout: another command holds it.
    """
    from taskstate.storage import lock

    path, _ = _place(kind, root)
    if not folders.exists(path):
        return False
    with lock.locked(path.parent / "lock"):
        files.delete(path)
    return True


def folder() -> Path | None:
    """Return the folder with all that this user said of repositories; None where it is not there."""
    try:
        found = _state_folder() / "taskstate"
    except TaskstateError:
        return None
    return found if folders.is_folder(found) else None


def _place(kind: Kind, root: Path) -> tuple[Path, str]:
    """Return the path of the file for a repository, and the path that stands for the repository in it.

    Raises:
        TaskstateError: code "no-state-folder": the user has no state folder, or it lies in the repository.
    """
    named = _named(kind, root)
    folder = _state_folder() / "taskstate" / kind.folder
    if any(Path(os.path.realpath(folder)).is_relative_to(each) for each in (named, os.path.realpath(root))):
        message = f"{files.shown(folder)}, where it is remembered, lies in the repository itself"
        raise TaskstateError(message, help="let XDG_STATE_HOME name a folder outside", code="no-state-folder")
    return folder / f"{files.digest(os.fsencode(named))[:32]}.json", named


def _named(kind: Kind, root: Path) -> str:
    """Return the path that stands for a repository: its real one, or that of its main worktree."""
    real = os.path.realpath(root)
    at = git.folders(Path(real)) if kind.is_shared else None
    if at is None or not git.is_linked(at.top, at.git_dir):  # what `.git` claims alone is nobody's word
        return real
    common = os.path.realpath(at.common_dir)
    main = os.path.dirname(common) if os.path.basename(common) == ".git" else common
    return os.path.normpath(os.path.join(main, os.path.relpath(real, os.path.realpath(at.top))))


def _state_folder() -> Path:
    """Return the folder in which programs of this user keep their state."""
    for name in (os.environ.get("XDG_STATE_HOME", ""), os.path.expanduser("~/.local/state")):
        if os.path.isabs(name):  # a relative one is invalid, says the specification of these folders
            return Path(os.path.realpath(name))
    message = "there is no folder for the state of programs, since this user has no home folder"
    raise TaskstateError(message, help="let XDG_STATE_HOME name one", code="no-state-folder")


def _anew(kind: Kind) -> str:
    return f"`{kind.command}` writes it again"


def _doubt(kind: Kind, path: Path) -> str:
    """Return why a file or folder may be another user's words, or an empty text."""
    status = folders.find(path)
    if status is None:
        return ""
    name = files.shown(path)
    if stat.S_ISLNK(status.st_mode):
        return f"{name} is a link; {_anew(kind)}" if path.suffix else f"{name} is a link: put the folder itself there"
    if status.st_uid != os.geteuid():
        return f"{name} belongs to another user"
    return f"{name} may be written by other users; {_anew(kind)}" if status.st_mode & _OTHERS_MAY_WRITE else ""


def _make_private(folder: Path) -> None:
    """Create the folder of these files for this user alone, also if it is there with another mode."""
    make_folder(folder)
    with files.os_errors("write to", folder):
        if folders.is_link(folder):
            raise TaskstateError(
                f"{files.shown(folder)} is a link", help="put the folder itself in its place", code="is-link"
            )
        folders.set_mode(folder, 0o700)

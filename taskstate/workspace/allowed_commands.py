"""Remembers which command lines the user has allowed to run in which repository.

This lies in the user's own state folder, where nothing that comes by git can reach: a file for each repository, named
after the hash of its real path. So a repository that was moved or copied starts with nothing allowed. The file holds
hashes of command lines and not their text, which might contain a secret. Where it cannot be believed, nothing is
allowed, and `Grants.problem` says why. Like the lock this module reads the environment: every command that archives
would have to pass the folder on otherwise.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.model.canonical_json import canonical_json
from taskstate.model.loose_values import json_of
from taskstate.storage import files, folders, lock
from taskstate.storage.private import make_folder
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

_HASH = r"[0-9a-f]{64}"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_ANEW = "`taskstate trust` writes it anew"


class Command(NamedTuple):
    """A command line, and how it is run: by a shell, or as a program, whose words no shell reads."""

    kind: Literal["shell", "program"]
    text: str

    @property
    def hash(self) -> str:
        """The hash under which it is remembered; the same words for a shell and as a program are two commands."""
        return files.digest(canonical_json([self.kind, self.text]).encode("utf-8", "surrogatepass"))


class Grants(NamedTuple):
    """The hashes of what may run in a repository; `problem` says why what was granted does not count, if it does not.

    The words fit behind "nothing is trusted here: ".
    """

    hashes: frozenset[str] = frozenset()
    problem: str = ""

    def allows(self, command: Command) -> bool:
        """Return whether a command line was granted, exactly as it is now."""
        return command.hash in self.hashes


def read_grants(root: Path) -> Grants:
    """Return what was granted for the repository at `root`. What cannot be believed or read counts for nothing."""
    try:
        path = _path(root)
        problem = _doubt(path.parent) or _doubt(path)
        if problem or not folders.exists(path):
            return Grants(problem=problem)
        hashes = _read(files.read(path), root)
    except TaskstateError as error:
        return Grants(problem=error.message)
    return Grants(problem=f"{files.shown(path)} is damaged; {_ANEW}") if hashes is None else Grants(hashes)


def grant(root: Path, commands: Iterable[Command]) -> bool:
    """Allow command lines in the repository at `root`, besides those allowed before; return whether any is new.

    Raises:
        TaskstateError: the user's state folder cannot be found or written; LockTimeout: another command holds it.
    """
    path = _path(root)
    doubt = _doubt(path.parent)  # now: what others have put there must not count once the folder is private
    _make_private(path.parent)
    with lock.locked(path.parent / "lock"):
        before = Grants(problem=doubt) if doubt else read_grants(root)
        after = before.hashes | {each.hash for each in commands}
        if after == before.hashes and not before.problem:
            return False
        content = canonical_json({"root": _real(root), "granted": sorted(after)}).encode("utf-8", "surrogatepass")
        files.replace_private(path, content)
    return True


def revoke(root: Path) -> bool:
    """Forget all that was granted for the repository at `root`; return whether there was anything.

    Raises:
        TaskstateError: it cannot be deleted; LockTimeout: another command holds it.
    """
    path = _path(root)
    if not folders.exists(path):
        return False
    with lock.locked(path.parent / "lock"):
        files.delete(path)
    return True


def _path(root: Path) -> Path:
    """Return the path of the file for a repository.

    Raises:
        TaskstateError: code "no-state-folder": the user has no state folder, or it lies in the repository.
    """
    real = _real(root)
    folder = _state_folder() / "taskstate" / "trust"
    if Path(os.path.realpath(folder)).is_relative_to(real):
        message = f"{files.shown(folder)}, where it is remembered, lies in the repository itself"
        raise TaskstateError(message, help="let XDG_STATE_HOME name a folder outside", code="no-state-folder")
    return folder / f"{files.digest(os.fsencode(real))[:32]}.json"


def _state_folder() -> Path:
    """Return the folder in which programs of this user keep their state."""
    for name in (os.environ.get("XDG_STATE_HOME", ""), os.path.expanduser("~/.local/state")):
        if os.path.isabs(name):  # a relative one is invalid, says the specification of these folders
            return Path(os.path.realpath(name))
    message = "there is no folder for the state of programs, since this user has no home folder"
    raise TaskstateError(message, help="let XDG_STATE_HOME name one", code="no-state-folder")


def _real(root: Path) -> str:
    return os.path.realpath(root)


def _doubt(path: Path) -> str:
    """Return why a file or folder may be another user's words, or an empty text."""
    status = folders.find(path)
    if status is None:
        return ""
    name = files.shown(path)
    if stat.S_ISLNK(status.st_mode):
        return f"{name} is a link; {_ANEW}" if path.suffix else f"{name} is a link: put the folder itself there"
    if status.st_uid != os.geteuid():
        return f"{name} belongs to another user"
    return f"{name} may be written by other users; {_ANEW}" if status.st_mode & _OTHERS_MAY_WRITE else ""


def _read(data: bytes, root: Path) -> frozenset[str] | None:
    """Return the hashes in a file, or None where it is not one that `grant` has written for this repository."""
    value = json_of(data)
    granted = value.get("granted") if isinstance(value, dict) and value.get("root") == _real(root) else None
    if not isinstance(granted, list):
        return None
    whole = all(isinstance(each, str) and re.fullmatch(_HASH, each) for each in granted)
    return frozenset(granted) if whole else None


def _make_private(folder: Path) -> None:
    """Create the folder of these files for this user alone, also if it is there with another mode."""
    make_folder(folder)
    with files.os_errors("write to", folder):
        if folders.is_link(folder):
            raise TaskstateError(
                f"{files.shown(folder)} is a link", help="put the folder itself in its place", code="is-link"
            )
        folders.set_mode(folder, 0o700)

"""Remembers which command lines the user has allowed to run in which repository.

The user's own file for a repository holds hashes of command lines and not their text, which might contain a secret.
Where it cannot be believed, nothing is allowed, and `Grants.problem` says why.
"""

from __future__ import annotations

import re

from taskstate.model.canonical_json import canonical_json
from taskstate.storage import files, user_records
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import Literal

    from taskstate.storage.user_records import Values

_HASH = r"[0-9a-f]{64}"


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


def _are_hashes(values: Values) -> bool:
    granted = values.get("granted")
    return isinstance(granted, list) and all(isinstance(each, str) and re.fullmatch(_HASH, each) for each in granted)


_TRUST = user_records.Kind("trust", "taskstate trust", _are_hashes)


def read_grants(root: Path) -> Grants:
    """Return what was granted for the repository at `root`. What cannot be believed or read counts for nothing."""
    said = user_records.read(_TRUST, root)
    return Grants(frozenset(said.values.get("granted", ())), said.problem)


def grant(root: Path, commands: Iterable[Command]) -> bool:
    """Allow command lines in the repository at `root`, besides those allowed before; return whether any is new.

    Raises:
        TaskstateError: the user's state folder cannot be found or written; LockTimeout: another command holds it.
    """

    def added(values: Values) -> Values:
        before = values.get("granted", ())
        after = {*before, *(each.hash for each in commands)}
        return {"granted": sorted(after)} if len(after) > len(before) else values

    return user_records.change(_TRUST, root, added)


def revoke(root: Path) -> bool:
    """Forget all that was granted for the repository at `root`; return whether there was anything.

    Raises:
        TaskstateError: it cannot be deleted; LockTimeout: another command holds it.
    """
    return user_records.forget(_TRUST, root)

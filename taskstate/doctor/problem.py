"""What a check of `doctor` reports, and the names of the checks."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    _Git = Literal["git", "merge-driver", "hooks"]
    _Setting = Literal["configuration", "weakened", "set-up", "clients", "versions", "prompts", "autosave"]
    _Storage = Literal["lock", "unfinished", "kept", "temporary", "artifacts", "cache"]
    _Tasks = Literal["files", "removed", "attention", "archives", "ids", "permanent", "orphans"]
    CheckName = _Git | _Setting | _Storage | _Tasks


class RepositoryProblem(NamedTuple):
    """A problem found by a check; `path` is relative to the root, or empty; `--fix` repairs a `fixable` one.

    A `note` is worth knowing, but not an error.
    """

    check: CheckName
    path: str
    message: str
    help: str
    fixable: bool = False
    note: bool = False

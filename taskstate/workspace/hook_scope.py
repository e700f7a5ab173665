"""Says what a check reads and compares with, by its flags and by what git and the managers of hooks tell a hook."""

from __future__ import annotations

import os

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.storage.git.client import DISK, INDEX
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

NONE = "none"  # of --against
# Set by pre-commit and prek for a push, and by their --from-ref and --to-ref.
_FROM, _TO = "PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF"
_REMOTE, _REMOTE_BRANCH = "PRE_COMMIT_REMOTE_NAME", "PRE_COMMIT_REMOTE_BRANCH"  # set for a push alone


def place_and_base(root: Path, against: str | None, *, staged: bool) -> tuple[str, str | None]:
    """Return where the files are read, and the revision to compare with (empty: none; None: what is protected)."""
    base = "" if against == NONE else against
    if not staged:
        return DISK, base
    if base is None and _names_a_range():
        return os.environ[_TO], _pushed_to(root) or os.environ[_FROM]
    return INDEX, base


def _pushed_to(root: Path) -> str:
    """Return the remote-tracking branch of a push, empty for a new one and where nothing is pushed.

    It says more than the beginning of the range, which for some managers is an older commit if the push is forced.
    """
    remote, branch = os.environ.get(_REMOTE, ""), os.environ.get(_REMOTE_BRANCH, "")
    name = f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}"
    try:
        return name if remote and branch and git.resolve_commit(root, name) else ""
    except GitFailed:
        return ""


def is_commit_hook(root: Path) -> bool:
    """Return whether a commit, a merge or a range of commits is checked: then only what they change counts."""
    top = git.toplevel(root)
    return bool(top and git.index_of_commit(top)) or _names_a_range()


def in_commit(workspace: Workspace, paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return those of these files that are in the commit, merge or range of commits that a hook checks; else all.

    Raises:
        GitFailed: git refuses, or the range names no commits.
    """
    from taskstate.storage.git.index import changes

    head = git.head(workspace.root)
    if head is None or not is_commit_hook(workspace.root):
        return tuple(paths)
    place, base = INDEX, head
    if _names_a_range():
        place, base = (git.resolve_commit(workspace.root, os.environ[name]) for name in (_TO, _FROM))
    changed = {each.path for each in changes(workspace.root, base, place)}
    return tuple(path for path in paths if workspace.relative(path) in changed)


def _names_a_range() -> bool:
    return bool(os.environ.get(_FROM) and os.environ.get(_TO))

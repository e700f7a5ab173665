"""Puts what archiving changed into git's index: for a hook that mends a commit instead of refusing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import index as git_index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.workspace.workspace import Workspace


def require_staged(workspace: Workspace, tasks: Iterable[str]) -> None:
    """Refuse tasks whose state file or archive is staged in another form than it has on disk.

    Staging it anew would commit what somebody left out on purpose.

    Raises:
        TaskstateError: code "unstaged".
    """
    partly = git_index.unstaged(workspace.root, _staged(workspace, tasks))
    if partly:
        what = f"{', '.join(map(files.shown, partly))} has changes that are not staged"
        raise TaskstateError(what, help="stage or stash them, then run this again", code="unstaged")


def restage(workspace: Workspace, tasks: Iterable[str]) -> tuple[str, ...]:
    """Stage the state files and archives of tasks whose state files are in the index; return what was staged."""
    changed = tuple(path for path in _staged(workspace, tasks) if files.size(workspace.root / path) is not None)
    git_index.stage(workspace.root, changed)
    return changed


def _staged(workspace: Workspace, tasks: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of the tasks' files, of those tasks that git has in its index."""
    if git.toplevel(workspace.root) is None:
        return ()
    index = git_index.index(workspace.root)
    found: list[str] = []
    for task in tasks:
        path = workspace.relative(workspace.locate(task))
        if path in index:
            found += [path, workspace.relative(workspace.state_root / workspace.archive_path(task))]
    return tuple(found)

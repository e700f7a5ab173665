"""Stages what archiving changed in git's index, for a commit hook that archives instead of refusing the commit."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import index as git_index
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.workspace.workspace import Workspace


def require_staged(workspace: Workspace, tasks: Iterable[str]) -> None:
    """Refuse tasks whose state file or archive differs between git's index and disk.

    Staging such a file would commit changes that somebody left out on purpose.

    Raises:
        TaskstateError: code "unstaged".
    """
    unstaged = git_index.unstaged(workspace.root, _files_in_index(workspace, tasks))
    if unstaged:
        problem = f"{', '.join(map(files.shown, unstaged))} has changes that are not staged"
        raise TaskstateError(problem, help="stage or stash them, then run this again", code="unstaged")


def restage(workspace: Workspace, tasks: Iterable[str]) -> tuple[str, ...]:
    """Stage the state files and archives of tasks whose state files are in the index; return the staged paths."""
    changed = tuple(path for path in _files_in_index(workspace, tasks) if files.size(workspace.root / path) is not None)
    git_index.stage(workspace.root, changed)
    return changed


def _files_in_index(workspace: Workspace, tasks: Iterable[str]) -> tuple[str, ...]:
    """Return the paths of the files of those tasks that are in git's index."""
    if git.toplevel(workspace.root) is None:
        return ()
    index = git_index.blobs_in_index(workspace.root)
    paths: list[str] = []
    for task in tasks:
        path = workspace.relative(workspace.locate(task))
        if path in index:
            paths += [path, workspace.relative(workspace.state_root / workspace.archive_path(task))]
    return tuple(paths)

"""Finds the other worktrees of a repository: those that have tasks, and those that git lists and that are gone."""

from __future__ import annotations

import os
from pathlib import Path

from taskstate.messages import quoted
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.git import discovery
from taskstate.storage.private import of_worktree
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def others(root: Path, state_folder: str) -> Iterator[Path]:
    """Yield the folder that is `root` here in each other worktree of the repository that has a `state_folder` there."""
    at = git.folders(root)
    if at is None:
        return
    top, real, common = (os.path.realpath(each) for each in (at.top, root, at.common_dir))
    main = [os.path.dirname(common)] if os.path.basename(common) == ".git" else []
    below = os.path.relpath(real, top)
    linked = sorted(each for _, each, is_there in discovery.linked_worktrees(Path(common)) if is_there)
    for each in (*main, *linked):
        other = Path(each, below) if below != os.curdir else Path(each)
        found = git.folders(Path(each)) if each != top and folders.is_folder(other / state_folder) else None
        if found and os.path.realpath(found.common_dir) == common:  # and no folder of somebody else's
            yield other


def holders(root: Path, state_folder: str, task_id: str) -> Iterator[Path]:
    """Yield the other worktrees in which a task stands where tasks are created."""
    for other in others(root, state_folder):
        listed = files.names(other / state_folder / "tasks")
        if any(names.has_id(each, task_id) for each in listed):
            yield other


def gone(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield what to do about each worktree that was moved or deleted by hand, and its private folder."""
    at = git.folders(root)
    for folder, path, is_there in discovery.linked_worktrees(at.common_dir) if at else ():
        branch = discovery.first_line(folder / "HEAD").rpartition("refs/heads/")[2]
        cure = "if it was moved, `git worktree repair NEW-PATH`; if it was deleted, `git worktree prune`"
        if folders.exists(folder / "locked"):
            cure = f"it is locked: bring it back, or `git worktree unlock {quoted(path)}` and `git worktree prune`"
        if at and not is_there:
            yield f"the worktree {path} (branch {branch}) is gone: {cure}", of_worktree(at, folder, root)

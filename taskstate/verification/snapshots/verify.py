"""Compares the working tree with a role's snapshot, and counts drift.

The common case is cheap: git's status report is that of the snapshot, and no file differs from the kept copy of the
index. Otherwise the tree ids decide, and only where those differ are files compared one by one. `compare` changes
nothing; `verify` adds each drift to the budget of the role whose snapshot it failed.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.syntax.edits import apply
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import drift
from taskstate.verification.snapshots.base import require_open, require_snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import Snapshot
    from taskstate.verification.snapshots.drift import DriftReport
    from taskstate.workspace.change import Change, Request
    from taskstate.workspace.workspace import Loaded, Workspace


def verify(workspace: Workspace, task_id: str, role: str, request: Request) -> DriftReport:
    """Compare the working tree with the snapshot of a role; drift adds 1 to the role's drift budget.

    Raises:
        TaskstateError: code "no-snapshot"; or the repository cannot be compared.
    """
    roles.require_role(role, workspace.config.roles)
    report = compare(workspace, workspace.load(workspace.locate(task_id)), role)
    if report.drift:
        count_up(workspace, task_id, role, request)
    return report


def require_match(workspace: Workspace, task_id: str, role: str, request: Request) -> None:
    """Refuse where the working tree differs from a role's snapshot, and add 1 to the role's drift budget.

    Raises:
        TaskstateError: code "drift", which names the files; code "no-snapshot".
    """
    report = verify(workspace, task_id, role, request)
    if report.drift:
        raise TaskstateError(report.message, help=report.help, code="drift")


def count_up(workspace: Workspace, task_id: str, role: str, request: Request) -> None:
    """Add 1 to a role's drift budget, which only accepting the drift resets."""
    from taskstate.workspace.change import Change
    from taskstate.workspace.writer import change

    def job(loaded: Loaded) -> Change:
        blocks = blocks_of(loaded.document)
        coordination = roles.with_role_values(blocks, {role: {"drift_budget": blocks.role(role).budget + 1}})
        return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "coordination", coordination)))

    change(workspace, task_id, job, request)


# The comparison


def compare(workspace: Workspace, loaded: Loaded, role: str) -> DriftReport:
    """Compare the working tree with the snapshot of a role, without writing anything.

    Raises:
        TaskstateError: code "task-complete"; code "no-snapshot"; code "no-commit": its base commit is missing; or the
            repository cannot be compared.
    """
    require_open(loaded.state)
    snapshot_base.require_no_git_operation(workspace)
    snapshot = require_snapshot(workspace, loaded, role)
    object_folder = snapshot_base.object_folder(workspace, snapshot)
    artifacts = snapshot_base.artifact_state(workspace, snapshot)
    notes = snapshot_base.submodule_notes(workspace.root)
    is_unmoved = object_folder is not None and _is_unmoved(workspace, str(snapshot.base_commit), loaded.state.id)
    found = drift.TreeDifferences(loaded.state.id, role, str(snapshot.base_commit), notes=notes, artifacts=artifacts)
    if object_folder and is_unmoved and snapshot_base.is_certainly_unchanged(workspace, snapshot, object_folder):
        return drift.drift_report(found)
    from taskstate.verification.snapshots.tree_comparison import compare_trees

    return compare_trees(workspace, loaded, snapshot, found)


def _is_unmoved(workspace: Workspace, base: str, task_id: str) -> bool:
    """Return whether no commit since the base commit touched files other than our own."""
    head = git.head(workspace.root)
    return head is not None and (head == base or not snapshot_base.committed_since(workspace, base, task_id))


def committed_as_left(workspace: Workspace, loaded: Loaded) -> bool:
    """Return whether HEAD contains exactly what the newest snapshot recorded, our own files aside.

    False where there is no snapshot, or its tree is lost.
    """
    from taskstate.storage.git.objects import Store, leaves

    snapshots = blocks_of(loaded.document).delta.snapshots
    newest = newest_role(snapshots, workspace.config.roles)
    head = git.head(workspace.root)
    if newest is None or head is None:
        return False
    snapshot = snapshots[newest]
    folders = filter(None, [snapshot_base.object_folder(workspace, snapshot)])
    with worktree.scratch(workspace.root, *folders) as scratch, closing(Store(scratch, head)) as store:
        try:
            changed = store.changes(store.tree_of(head), str(snapshot.tree))
        except GitFailed:
            return False
    return not leaves(changed, workspace.is_ours)


def newest_role(snapshots: Mapping[str, Snapshot], names: tuple[str, ...]) -> str | None:
    """Return the role with the newest snapshot; of several at the same time, the first in the configured order."""
    taken = [name for name in names if name in snapshots]
    return max(taken, key=lambda name: str(snapshots[name].snapshot_time), default=None)

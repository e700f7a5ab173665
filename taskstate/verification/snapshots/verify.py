"""Compares the working tree with what a role left, and lets somebody accept a drift.

The common case is decided cheaply: git's status report is the one of the snapshot, and no file differs from the index
that was kept with it. Else the tree id of what is there decides; only where that differs are files looked at one by
one. A comparison reads and writes nothing; a verification counts each drift in the budget of the role whose snapshot
failed.
"""

from __future__ import annotations

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
    """Compare the working tree with the snapshot of a role; a drift counts up the role's drift budget.

    Raises:
        TaskstateError: code "no-snapshot"; or the repository is not at rest.
    """
    roles.require_role(role, workspace.config.roles)
    verified = compare(workspace, workspace.load(workspace.locate(task_id)), role)
    if verified.drift:
        count_up(workspace, task_id, role, request)
    return verified


def require_match(workspace: Workspace, task_id: str, role: str, request: Request) -> None:
    """Refuse to go on where the working tree is not what a role left; that counts up the role's drift budget.

    Raises:
        TaskstateError: code "drift", with the files named; code "no-snapshot".
    """
    verified = verify(workspace, task_id, role, request)
    if verified.drift:
        raise TaskstateError(verified.message, help=verified.help, code="drift")


def count_up(workspace: Workspace, task_id: str, role: str, request: Request) -> None:
    """Count one more drift in a role's budget, which nobody but who resolves it takes back."""
    from taskstate.workspace.change import Change
    from taskstate.workspace.writer import change

    def job(loaded: Loaded) -> Change:
        blocks = blocks_of(loaded.document)
        told = roles.with_role_values(blocks, {role: {"drift_budget": blocks.role(role).budget + 1}})
        return Change(text=apply(loaded.document.text, set_front_matter(loaded.document, "coordination", told)))

    change(workspace, task_id, job, request)


# The comparison


def compare(workspace: Workspace, loaded: Loaded, role: str) -> DriftReport:
    """Compare the working tree with the snapshot of a role, and write nothing.

    Raises:
        TaskstateError: code "task-complete"; code "no-snapshot"; code "no-commit": its base commit is gone; or the
            repository is not at rest.
    """
    require_open(loaded.state)
    snapshot_base.require_no_git_operation(workspace)
    snapshot = require_snapshot(workspace, loaded, role)
    kept = snapshot_base.object_folder(workspace, snapshot)
    artifacts = snapshot_base.artifact_state(workspace, snapshot)
    notes = snapshot_base.submodule_notes(workspace.root)
    unmoved = kept is not None and _is_unmoved(workspace, str(snapshot.base_commit), loaded.state.id)
    if kept and unmoved and snapshot_base.is_certainly_unchanged(workspace, snapshot, kept):
        return drift.clean_report(artifacts, notes)
    from taskstate.verification.snapshots.tree_comparison import compare_trees

    return compare_trees(workspace, loaded, role, artifacts, notes)


def _is_unmoved(workspace: Workspace, base: str, task_id: str) -> bool:
    """Return whether HEAD is where it was but for our own files."""
    head = git.head(workspace.root)
    return head is not None and (head == base or not snapshot_base.committed_since(workspace, base, task_id))


def committed_as_left(workspace: Workspace, loaded: Loaded) -> bool:
    """Return whether HEAD holds just what the newest snapshot recorded, our own files aside.

    Not where there is no snapshot, or its tree is lost.
    """
    from taskstate.storage.git.objects import Store, leaves

    snapshots = blocks_of(loaded.document).delta.snapshots
    newest = newest_role(snapshots, workspace.config.roles)
    head = git.head(workspace.root)
    if newest is None or head is None:
        return False
    snapshot = snapshots[newest]
    kept = snapshot_base.object_folder(workspace, snapshot)
    with worktree.scratch(workspace.root, *([kept] if kept else [])) as place:
        store = Store(place, head)
        try:
            changed = store.changes(store.tree_of(head), str(snapshot.tree))
        except GitFailed:
            return False
        finally:
            store.close()
    return not leaves(changed, workspace.is_ours)


def newest_role(snapshots: Mapping[str, Snapshot], names: tuple[str, ...]) -> str | None:
    """Return the role that took the newest snapshot; of several at the same time the first in order."""
    taken = [name for name in names if name in snapshots]
    return max(taken, key=lambda name: str(snapshots[name].snapshot_time), default=None)

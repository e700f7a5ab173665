"""Compares the working tree with a role's snapshot, and counts drift.

The common case is cheap: git's status report is that of the snapshot, and no file differs from the kept copy of the
index. Otherwise the tree ids decide, and only where those differ are files compared one by one, and what commits or
other tasks explain is set apart. `compare` changes nothing; `verify` adds each drift to the budget of the role whose
snapshot it failed.
"""

from __future__ import annotations

from contextlib import closing

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.config import HELD
from taskstate.model.statuses import BLOCKED, CLOSED, DONE, IN_PROGRESS
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import drift, packs
from taskstate.snapshots.base import require_open, require_snapshot
from taskstate.snapshots.drift_report import drift_report
from taskstate.storage.git import client as git
from taskstate.storage.git import log as git_log
from taskstate.storage.git import worktree
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from taskstate.model.delta_block import Delta, Snapshot
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.drift import DriftReport
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Change, Request


RESTORED = "drift-restored"  # event


def verify(workspace: Workspace, task_id: str, role: str, request: Request, log: str = "") -> DriftReport:
    """Compare the working tree with the snapshot of a role, and count drift.

    A file that holds the log with the hash `log`, which is being recorded, is no drift.

    Raises:
        TaskstateError: code "no-snapshot"; or the repository cannot be compared.
    """
    roles.require_role(role, workspace.config.roles)
    report = compare(workspace, workspace.load(workspace.locate(task_id)), role, log)
    count(report, (workspace, task_id, role), request)
    return report


def require_match(workspace: Workspace, task_id: str, role: str, request: Request, log: str = "") -> None:
    """Refuse where the working tree differs from a role's snapshot, as `verify` sees it, and count that.

    Raises:
        TaskstateError: code "drift", which names the files; code "no-snapshot".
    """
    report = verify(workspace, task_id, role, request, log)
    if report.drift:
        raise TaskstateError(report.message, help=report.help, code="drift")


def require_as_left(workspace: Workspace, task_id: str, request: Request, log: str = "") -> None:
    """Refuse where the working tree is not what the last role left and no role is at work; count that as drift.

    Raises:
        TaskstateError: code "drift", which names the files; code "drift-unresolved"; or the repository cannot be
            compared.
    """
    loaded = workspace.load(workspace.locate(task_id))
    last = role_to_match(loaded, workspace.config.roles)
    if last:
        roles.require_no_drift(blocks_of(loaded.document), loaded.state.id)
        require_match(workspace, task_id, last, request, log)


def role_to_match(loaded: Loaded, names: tuple[str, ...]) -> str:
    """Return the role whose snapshot the working tree should match now; empty where one is at work, or none has one."""
    blocks = blocks_of(loaded.document)
    last = newest_role(blocks.delta, names)
    if last is None or loaded.state.status in CLOSED or at_work(blocks, last, names):
        return ""
    return "" if blocks.role(last).status in {IN_PROGRESS, BLOCKED} else last


def count(
    report: DriftReport, place: tuple[Workspace, str, str], request: Request, restored: Sequence[str] = ()
) -> None:
    """Add 1 to the drift budget of a role where a report tells of drift; `place` is workspace, task and role.

    Nothing else lowers it than accepting the drift, or putting files back: where none differs after that, it is 0, and
    an event names those `restored`. What was never in this clone has not drifted here.
    """
    if not report.is_here or report.at_work or not (report.drift or restored):
        return
    from taskstate.writing.change import Change
    from taskstate.writing.event_log import add_event
    from taskstate.writing.writer import change

    workspace, task_id, role = place

    def job(loaded: Loaded) -> Change:
        blocks = blocks_of(loaded.document)
        budget = blocks.role(role).budget
        if not report.drift and not budget:
            return Change(text=loaded.document.text)
        changed = {role: {"drift_budget": budget + 1 if report.drift else 0}}
        coordination = roles.with_role_values(blocks, changed)
        text = apply(loaded.document.text, set_front_matter(loaded.document, "coordination", coordination))
        if report.drift:
            return Change(text=text)
        text, before = add_event(workspace, text, request.metadata.event(RESTORED, role=role, files=list(restored)))
        return Change(text=text, before=before)

    change(workspace, task_id, job, request)


# The comparison


def compare(
    workspace: Workspace, loaded: Loaded, role: str, log: str = "", read: SnapshotBase | None = None
) -> DriftReport:
    """Compare the working tree with the snapshot of a role, without writing anything.

    Content is compared, wherever HEAD is. What differs while a later role is in progress is that role's work so far;
    where one is done that went on from it, the snapshot is compared with what that role left. A log of checks that was
    written into the tree is no drift: those that are recorded, and the one with the hash `log`.
    The working tree may have been `read` already.

    Raises:
        TaskstateError: code "task-complete"; code "no-snapshot"; code "no-commit": commits are held, and the base
            commit is missing; or the repository cannot be compared.
    """
    require_open(loaded.state)
    snapshot_base.require_no_git_operation(workspace)
    snapshot = require_snapshot(workspace, loaded, role)
    blocks, names = blocks_of(loaded.document), workspace.config.roles
    later = superseded_by(blocks, role, names)
    if later:
        return _superseded(workspace, loaded, snapshot, blocks.delta.snapshots[later])
    object_folder = packs.object_folder(workspace, snapshot)
    found = drift.TreeDifferences(
        loaded.state.id,
        role,
        snapshot.head or "",
        notes=snapshot_base.submodule_notes(workspace.root),
        artifacts=packs.artifact_state(workspace, snapshot),
        held=held_paths(workspace, loaded),
        at_work=at_work(blocks, role, names),
        tree=str(snapshot.tree),  # as the quick test shows; a comparison says which one else
    )
    if object_folder and not found.held and _is_unchanged(workspace, snapshot, object_folder):
        return drift_report(found)
    from taskstate.snapshots.tree_comparison import Earlier, compare_trees

    earlier = Earlier(str(snapshot.tree), snapshot.head, snapshot, log, read)
    return drift_report(compare_trees(workspace, loaded, earlier, found))


def at_work(blocks: ToolBlocks, role: str, names: tuple[str, ...]) -> str:
    """Return the role after this one that is in progress, or an empty text."""
    later = names[names.index(role) + 1 :]
    return next((name for name in later if blocks.role(name).status in {IN_PROGRESS, BLOCKED}), "")


def superseded_by(blocks: ToolBlocks, role: str, names: tuple[str, ...]) -> str:
    """Return the next role after this one that went on from what it left and is done, or an empty text."""
    if at_work(blocks, role, names):
        return ""
    later, snapshots = names[names.index(role) + 1 :], blocks.delta.snapshots
    done = (name for name in later if blocks.role(name).status == DONE and name in snapshots)
    return next((name for name in done if snapshots[name].tree), "")


def _superseded(workspace: Workspace, loaded: Loaded, snapshot: Snapshot, later: Snapshot) -> DriftReport:
    """Return how a snapshot differs from the one that superseded it, which is no drift."""
    from taskstate.snapshots.tree_comparison import compare_snapshots

    files = compare_snapshots(workspace, loaded, (snapshot, later))
    found = drift.TreeDifferences(loaded.state.id, snapshot.role, files=files, superseded_by=later.role)
    return drift_report(found)


def held_paths(workspace: Workspace, loaded: Loaded) -> tuple[str, ...] | None:
    """Return the files that commits touched since the base commit, where commits are held; None where they are free.

    Raises:
        TaskstateError: code "no-commit": commits are held, and the base commit is missing.
    """
    base = blocks_of(loaded.document).delta.base_commit
    if workspace.config.coordination.commits != HELD:
        return None
    return () if base is None else snapshot_base.committed_since(workspace, base, loaded.state.id)


def _is_unchanged(workspace: Workspace, snapshot: Snapshot, folder: Path) -> bool:
    """Return whether the quick check proves that nothing has changed; HEAD must not have moved, since that is told."""
    return _is_where_it_was(workspace, snapshot) and snapshot_base.is_certainly_unchanged(workspace, snapshot, folder)


def _is_where_it_was(workspace: Workspace, snapshot: Snapshot) -> bool:
    """Return whether HEAD has no commit since the snapshot, except of taskstate's own files."""
    head = git.head(workspace.root)
    if head is None or snapshot.head is None:
        return False
    try:
        return head == snapshot.head or not any(
            not workspace.is_ours(path) for path in git_log.changed_paths(workspace.root, snapshot.head)
        )
    except GitFailed:  # the commit is not here
        return False


def committed_as_left(workspace: Workspace, loaded: Loaded) -> bool:
    """Return whether HEAD contains exactly what the newest snapshot recorded, our own files aside.

    False where there is no snapshot, or its tree is lost.
    """
    from taskstate.snapshots.committed_trees import is_here
    from taskstate.storage.git.objects import Store, leaves

    delta = blocks_of(loaded.document).delta
    newest = newest_role(delta, workspace.config.roles)
    head = git.head(workspace.root)
    if newest is None or head is None:
        return False
    snapshot = delta.snapshots[newest]
    folders = filter(None, [packs.object_folder(workspace, snapshot)])
    with worktree.scratch(workspace.root, *folders) as scratch, closing(Store(scratch, head)) as store:
        if not is_here(workspace, store, str(snapshot.tree), snapshot.head):
            return False
        changed = store.changes(store.tree_of(head), str(snapshot.tree))
    return not leaves(changed, workspace.is_ours)


def newest_role(delta: Delta, names: tuple[str, ...]) -> str | None:
    """Return the role with the newest snapshot.

    Of several in the same second it is the one whose tree was left last, and else the last in the configured order.
    """

    def age(name: str) -> tuple[str, bool, int]:
        snapshot = delta.snapshots[name]
        return str(snapshot.snapshot_time), bool(delta.left and delta.left.tree == snapshot.tree), names.index(name)

    return max((name for name in names if name in delta.snapshots), key=age, default=None)

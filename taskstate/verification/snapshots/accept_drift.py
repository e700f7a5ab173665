"""Accepts drift: records who accepted it, why and for which files, and takes the affected snapshots again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.tool_blocks import read_delta
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.storage.git.objects import leaves
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.verification.snapshots import base as snapshot_base
from taskstate.verification.snapshots import drift
from taskstate.verification.snapshots.base import require_open
from taskstate.verification.snapshots.take import ACCEPTED, SnapshotRequest, create_snapshot, sweep, with_snapshots
from taskstate.verification.snapshots.verify import newest_role
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import add_event
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import Snapshot, ToolBlocks
    from taskstate.verification.snapshots.base import SnapshotBase
    from taskstate.verification.snapshots.take import NewSnapshot
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

_MAX_LISTED = 20  # files that an event lists


class AcceptedDrift(NamedTuple):
    """The roles whose drift is accepted, those that get a new snapshot, the new base commit, and files by role."""

    accepted: tuple[str, ...]
    retaken: tuple[str, ...]
    base: str
    files: Mapping[str, tuple[str, ...]]


def resolve(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome[AcceptedDrift]:
    """Accept the working tree and HEAD as they are: reset drift budgets to 0, and record the note as an event.

    Raises:
        TaskstateError: code "nothing-to-resolve": nothing differs from the snapshots; code "task-complete"; or the
            repository cannot be compared.
    """
    note = escaping.one_line(note, what="--note")
    head = snapshot_base.require_at_rest(workspace)

    def job(loaded: Loaded) -> Change[AcceptedDrift]:
        require_open(loaded.state)
        blocks = blocks_of(loaded.document)
        created: list[NewSnapshot] = []
        delta = blocks.delta
        with snapshot_base.snapshot_base(workspace, delta, head) as current:
            plan = _plan(current, loaded, blocks, head)
            for role in plan.retaken:
                snapshot_request = SnapshotRequest(role, plan.base, request, clean=True)
                created.append(create_snapshot(current, loaded.state, delta, snapshot_request))
                delta = read_delta(with_snapshots(delta, created, plan.base))
        text = _settled(loaded, blocks, with_snapshots(blocks.delta, created, plan.base))
        events = [_event(role, plan, note, request) for role in plan.accepted or ("",)]
        for event in events[:-1]:
            text = with_event(text, event)
        text, archive_plan = add_event(workspace, text, events[-1])
        notes = tuple(each for snapshot in created for each in snapshot.notes)
        return Change(text=text, before=archive_plan, notes=notes, result=plan)

    try:
        return change(workspace, task_id, job, request)
    finally:
        if not request.dry_run:
            sweep(workspace, task_id)


def _plan(current: SnapshotBase, loaded: Loaded, blocks: ToolBlocks, head: str) -> AcceptedDrift:
    role_names, (base, snapshots, _) = current.workspace.config.roles, blocks.delta
    newest, unresolved = newest_role(snapshots, role_names), roles.unresolved(blocks)
    new_base = head if base is None else _new_base(current.workspace, loaded.state.id, base, head)
    candidates = tuple(name for name in role_names if name in unresolved) or ((newest,) if newest else ())
    affected = {name: snapshots[name] for name in candidates if name in snapshots}
    state = (current.tree, new_base)
    retaken = tuple(name for name, each in affected.items() if (each.tree, each.base_commit) != state)
    if not unresolved and not retaken and new_base == (head if base is None else base):
        message = f"nothing to resolve: the working tree and HEAD are as they were left in task {loaded.state.id}"
        raise TaskstateError(message, help="go on with the work", code="nothing-to-resolve")
    differing = {name: _differing(current, each) for name, each in affected.items()}
    return AcceptedDrift(unresolved or retaken, retaken, new_base, differing)


def _new_base(workspace: Workspace, task_id: str, base: str, head: str) -> str:
    """Return the new base commit: HEAD where work was committed since, or where the old one no longer exists."""
    try:
        return head if snapshot_base.committed_since(workspace, base, task_id) else base
    except TaskstateError as error:
        if error.code != "no-commit":
            raise
        return head


def _differing(current: SnapshotBase, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the paths that differ between a snapshot and the working tree; empty where its tree is lost."""
    try:
        entries = current.store.changes(str(snapshot.tree), current.tree)
    except GitFailed:
        return ()
    return tuple(drift.quoted(each.path) for each in leaves(entries, current.workspace.is_ours))


def _settled(loaded: Loaded, blocks: ToolBlocks, delta: Mapping[str, object]) -> str:
    """Return the task's text with all drift resolved, and with `delta` as its delta block."""
    document, drifted = loaded.document, roles.unresolved(blocks)
    if drifted:
        settled = roles.with_role_values(blocks, {name: {"drift_budget": 0} for name in drifted})
        document = parse(apply(document.text, set_front_matter(document, "coordination", settled)))
    return apply(document.text, set_front_matter(document, "delta", delta))


def _event(role: str, plan: AcceptedDrift, note: str, request: Request) -> dict[str, object]:
    paths = plan.files.get(role, ())
    at, actor = timestamp(request.metadata.now), request.metadata.actor
    return {
        "at": at,
        "actor": actor,
        "event": ACCEPTED,
        "note": note,
        **({"role": role} if role else {}),
        "files": list(paths[:_MAX_LISTED]),
        **({"file_count": len(paths)} if len(paths) > _MAX_LISTED else {}),
    }

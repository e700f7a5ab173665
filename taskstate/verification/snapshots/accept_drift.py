"""Accepts a drift: who did, why, and which files; the snapshots concerned are taken anew from what is there."""

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
from taskstate.workspace.event_log import remember
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import Snapshot, ToolBlocks
    from taskstate.verification.snapshots.base import SnapshotBase
    from taskstate.verification.snapshots.take import NewSnapshot
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

_NAMED = 20  # files that an event names


class AcceptResult(NamedTuple):
    """What was accepted: the write, the roles whose snapshots were taken anew, and the base commit from now on."""

    outcome: Outcome
    retaken: tuple[str, ...]
    base: str | None


class _Plan(NamedTuple):
    """Whose drift is accepted, who takes the snapshot anew, from which commit, and the files by role that differ."""

    accepted: tuple[str, ...]
    retaken: tuple[str, ...]
    base: str
    files: Mapping[str, tuple[str, ...]]


def resolve(workspace: Workspace, task_id: str, note: str, request: Request) -> AcceptResult:
    """Accept the working tree and HEAD as they are: drift budgets are 0 again, and the note stays as an event.

    Raises:
        TaskstateError: code "nothing-to-resolve": nothing differs from what was left; code "task-complete"; or the
            repository is not at rest.
    """
    note = escaping.one_line(note, what="--note")
    head = snapshot_base.require_at_rest(workspace)

    def job(loaded: Loaded) -> Change[_Plan]:
        require_open(loaded.state)
        blocks = blocks_of(loaded.document)
        made: list[NewSnapshot] = []
        delta = blocks.delta
        with snapshot_base.snapshot_base(workspace, delta, head) as seen:
            planned = _plan(seen, loaded, blocks, head)
            for role in planned.retaken:
                wanted = SnapshotRequest(role, planned.base, request, clean=True)
                made.append(create_snapshot(seen, loaded.state, delta, wanted))
                delta = read_delta(with_snapshots(delta, made, planned.base))
        text = _settled(loaded, blocks, with_snapshots(blocks.delta, made, planned.base))
        events = [_event(role, planned, note, request) for role in planned.accepted or ("",)]
        for event in events[:-1]:
            text = with_event(text, event)
        text, rolled = remember(workspace, text, events[-1])
        notes = tuple(each for one in made for each in one.notes)
        return Change(text=text, before=rolled, notes=notes, result=planned)

    try:
        outcome = change(workspace, task_id, job, request)
    finally:
        if not request.dry_run:
            sweep(workspace, task_id)
    return AcceptResult(outcome, outcome.result.retaken, outcome.result.base)


def _plan(seen: SnapshotBase, loaded: Loaded, blocks: ToolBlocks, head: str) -> _Plan:
    names, (base, left, _) = seen.workspace.config.roles, blocks.delta
    newest, open_ = newest_role(left, names), roles.unresolved(blocks)
    start = head if base is None else _start(seen.workspace, loaded.state.id, base, head)
    candidates = tuple(name for name in names if name in open_) or ((newest,) if newest else ())
    snapshots = {name: left[name] for name in candidates if name in left}
    now = (seen.tree, start)
    retaken = tuple(name for name, each in snapshots.items() if (each.tree, each.base_commit) != now)
    if not open_ and not retaken and start == (head if base is None else base):
        what = f"nothing to resolve: the working tree and HEAD are as they were left in task {loaded.state.id}"
        raise TaskstateError(what, help="go on with the work", code="nothing-to-resolve")
    return _Plan(open_ or retaken, retaken, start, {name: _differing(seen, each) for name, each in snapshots.items()})


def _start(workspace: Workspace, task_id: str, base: str, head: str) -> str:
    """Return the base commit from now on: HEAD where work was committed since, or the old one is gone."""
    try:
        return head if snapshot_base.committed_since(workspace, base, task_id) else base
    except TaskstateError as error:
        if error.code != "no-commit":
            raise
        return head


def _differing(seen: SnapshotBase, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the paths that differ between a snapshot and now; none where its tree is lost."""
    try:
        entries = seen.store.changes(str(snapshot.tree), seen.tree)
    except GitFailed:
        return ()
    return tuple(drift.quoted(each.path) for each in leaves(entries, seen.workspace.is_ours))


def _settled(loaded: Loaded, blocks: ToolBlocks, delta: Mapping[str, object]) -> str:
    """Return a task's text with no drift unresolved, and with this block `delta`."""
    document, drifted = loaded.document, roles.unresolved(blocks)
    if drifted:
        settled = roles.with_role_values(blocks, {name: {"drift_budget": 0} for name in drifted})
        document = parse(apply(document.text, set_front_matter(document, "coordination", settled)))
    return apply(document.text, set_front_matter(document, "delta", delta))


def _event(role: str, planned: _Plan, note: str, request: Request) -> dict[str, object]:
    paths = planned.files.get(role, ())
    event: dict[str, object] = {
        "at": timestamp(request.stamp.now),
        "actor": request.stamp.actor,
        "event": ACCEPTED,
        "note": note,
    }
    if role:
        event["role"] = role
    event["files"] = list(paths[:_NAMED])
    if len(paths) > _NAMED:
        event["file_count"] = len(paths)
    return event

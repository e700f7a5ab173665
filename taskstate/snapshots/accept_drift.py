"""Accepts drift: records who accepted it, why and for which files, and takes the affected snapshots again."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.model.config import HELD
from taskstate.model.delta_block import with_base, with_left_tree, with_snapshots
from taskstate.model.write_metadata import blocks_of, set_front_matter, with_event
from taskstate.snapshots import base as snapshot_base
from taskstate.snapshots import drift, packs
from taskstate.snapshots.base import require_open
from taskstate.snapshots.take import ACCEPTED, SnapshotRequest, create_snapshot, pinned
from taskstate.snapshots.tree_comparison import Earlier, compare_with_current
from taskstate.snapshots.verify import at_work, newest_role, superseded_by
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.event_log import add_event
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.delta_block import Delta
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.snapshots.base import SnapshotBase
    from taskstate.snapshots.take import NewSnapshot
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

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
        TaskstateError: code "nothing-to-resolve": nothing differs from the snapshots; code "task-complete"; code
            "tree-changed"; or the repository cannot be compared.
    """
    note = escaping.one_line(note, what="--note")
    head = snapshot_base.require_at_rest(workspace)

    def job(loaded: Loaded) -> Change[AcceptedDrift]:
        require_open(loaded.state)
        blocks = blocks_of(loaded.document)
        created: list[NewSnapshot] = []
        with snapshot_base.snapshot_base(workspace, loaded.state.id, blocks.delta, head) as current:
            drift.require_tree(current.tree, request.expect_tree, loaded.state.id, _look(workspace, loaded))
            plan, delta = _plan(current, loaded, blocks)
            for role in plan.retaken:
                created.append(
                    create_snapshot(current, loaded.state, delta, SnapshotRequest(role, request, clean=True))
                )
                delta = with_snapshots(delta, {role: created[-1].record})
            if delta.left and not plan.retaken and not request.dry_run:
                snapshot_base.keep(current, loaded.state.id)
            delta = with_left_tree(delta, current.tree, head)
        text = _settled(loaded, blocks, delta.values)
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
            packs.sweep(workspace, task_id)


def _look(workspace: Workspace, loaded: Loaded) -> str:
    """Return the command that shows how the tree differs from what was left."""
    blocks, names = blocks_of(loaded.document), workspace.config.roles
    role = next((name for name in names if name in roles.unresolved(blocks)), newest_role(blocks.delta, names))
    return f"taskstate snapshot verify {loaded.state.id} --role {role}" if role else "git status"


def _plan(current: SnapshotBase, loaded: Loaded, blocks: ToolBlocks) -> tuple[AcceptedDrift, Delta]:
    """Return what is accepted, and the delta block with the base that the work starts from now."""
    names, snapshots = current.workspace.config.roles, blocks.delta.snapshots
    newest, unresolved = newest_role(blocks.delta, names), roles.unresolved(blocks)
    delta = _with_base(current, loaded.state.id, blocks.delta)
    is_new_base = blocks.delta.base_commit is not None and delta.base_commit != blocks.delta.base_commit
    candidates = tuple(name for name in names if name in unresolved) or ((newest,) if newest else ())
    left = blocks.delta.left if not candidates else None  # without roles it is what the last turn left
    is_left = left is None or left.tree in {None, current.tree}
    # What a later role has edited, at work or done, belongs to its own snapshot, not to one of an earlier role.
    is_last = {each: not at_work(blocks, each, names) and not superseded_by(blocks, each, names) for each in candidates}
    affected = {name: snapshots[name] for name in candidates if name in snapshots and is_last[name]}
    retaken = tuple(name for name, each in affected.items() if each.tree != current.tree or is_new_base)
    if not unresolved and not retaken and not is_new_base and is_left:
        message = f"nothing to resolve: the working tree is as it was left in task {loaded.state.id}"
        raise TaskstateError(message, help="go on with the work", code="nothing-to-resolve")
    trees = {name: Earlier(str(each.tree), each.head, each) for name, each in affected.items()}
    trees |= {"": Earlier(left.tree, left.head)} if left and left.tree else {}
    differing = {name: _differing(current, loaded, each) for name, each in trees.items()}
    return AcceptedDrift(unresolved or retaken, retaken, str(delta.base_commit), differing), delta


def _with_base(current: SnapshotBase, task_id: str, delta: Delta) -> Delta:
    """Return the delta block with the base from now on.

    It is HEAD where the old one is not here any more, or where commits are held and work was committed since.
    """
    if delta.base_commit is not None and not _is_left_behind(current, task_id, delta):
        return pinned(current, task_id, delta)
    return with_base(delta, current.head, current.base_tree(delta))


def _is_left_behind(current: SnapshotBase, task_id: str, delta: Delta) -> bool:
    if current.base_tree(delta) is None:
        return True
    if current.workspace.config.coordination.commits != HELD:
        return False
    try:
        return bool(snapshot_base.committed_since(current.workspace, str(delta.base_commit), task_id))
    except TaskstateError as error:
        if error.code != "no-commit":
            raise
        return True


def _differing(current: SnapshotBase, loaded: Loaded, then: Earlier) -> tuple[str, ...]:
    """Return the paths that drifted since an earlier tree, without what is explained; empty where it is not here."""
    if not current.has(then.tree, then.head):
        return ()
    found = compare_with_current(current, loaded, then, drift.TreeDifferences(loaded.state.id, ""))
    return tuple(each.path for each in found.files or ())


def _settled(loaded: Loaded, blocks: ToolBlocks, delta: Mapping[str, object]) -> str:
    """Return the task's text with all drift resolved, and with `delta` as its delta block."""
    document, drifted = loaded.document, roles.unresolved(blocks)
    if drifted:
        settled = roles.with_role_values(blocks, {name: {"drift_budget": 0} for name in drifted})
        document = document.with_text(apply(document.text, set_front_matter(document, "coordination", settled)))
    return apply(document.text, set_front_matter(document, "delta", delta))


def _event(role: str, plan: AcceptedDrift, note: str, request: Request) -> dict[str, object]:
    paths = plan.files.get(role, ())
    whose = {"role": role} if role else {}
    count = {"file_count": len(paths)} if len(paths) > _MAX_LISTED else {}
    return request.metadata.event(ACCEPTED, note=note, **whose, files=list(paths[:_MAX_LISTED]), **count)

"""Reports the status of tasks: the pipeline of roles, open findings, drift, handoffs and the next step."""

from __future__ import annotations

from taskstate.brief.attention import FINDINGS, attention
from taskstate.model import roles
from taskstate.model.permanent import PERMANENT, version_of
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS, PENDING
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent import readers
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.delta_block import Snapshot
    from taskstate.model.tool_blocks import Role
    from taskstate.permanent.readers import Standings
    from taskstate.workspace.workspace import Loaded, Workspace

_MARKS = {PENDING: " ", IN_PROGRESS: ">", BLOCKED: "!", DONE: "x"}
_SNAPSHOT = ("snapshot_time", "actor", "tree", "diff_stat")
_WHOLE = (
    *_SNAPSHOT,
    *("head", "start_tree", "index_tree", "base_tree", "diff_sha", "scope_hash"),
    *("incremental_diff_sha", "incremental_diff_error", "folder"),
)


def status_shape(
    workspace: Workspace, loaded: Loaded, reader: str = "", *, standing: Standings | None = None
) -> dict[str, object]:
    """Return the status of a task as JSON values, for the agent that reads it; `standing` is that of `attention`."""
    names = workspace.config.roles
    state, blocks = loaded.state, blocks_of(loaded.document)
    pipeline = roles.pipeline(blocks, names)
    return {
        "id": state.id,
        "path": loaded.relative,
        "title": state.title,
        "status": state.status,
        "revision": state.revision,
        "roles": roles_shape(loaded, names) if state.kind != PERMANENT else [],
        "role": next((role.name for role in pipeline if role.status != DONE and state.kind != PERMANENT), None),
        "findings": sum(len(role.findings) for role in pipeline),
        "drift": list(roles.unresolved(blocks)),
        "attention": [each._asdict() for each in attention(workspace, loaded, reader, standing=standing)],
        "handoff": blocks.handoffs.open,
        "next_step": next_step(loaded),
        **({"kind": state.kind, "version": version_of(state)} if state.kind == PERMANENT else {}),
    }


def roles_shape(loaded: Loaded, names: tuple[str, ...], workspace: Workspace | None = None) -> list[dict[str, object]]:
    """Return the status of a task's roles as JSON values; with what the artifacts of a `workspace` say of snapshots."""
    blocks = blocks_of(loaded.document)
    shapes = [_role_shape(role, names, blocks.delta.base_commit) for role in roles.pipeline(blocks, names)]
    for shape, role in zip(shapes, roles.pipeline(blocks, names), strict=True):
        if workspace and role.snapshot:
            shape["snapshot"] = _whole_snapshot(workspace, role.snapshot, blocks.delta.base_commit)
    return shapes


def _whole_snapshot(workspace: Workspace, snapshot: Snapshot, base: str | None) -> dict[str, object]:
    """Return a snapshot as JSON values; what only its artifacts say is null where they are not here."""
    from taskstate.snapshots import packs
    from taskstate.snapshots.changed_files import recorded_files
    from taskstate.snapshots.file_list import item

    snapshot, listed = packs.whole(workspace, snapshot), recorded_files(workspace, snapshot)
    files = None if listed is None else [item(each) for each in listed]
    return {**{key: getattr(snapshot, key) for key in _WHOLE}, "files_changed": files, "base_commit": base}


def _role_shape(role: Role, names: tuple[str, ...], base: str | None) -> dict[str, object]:
    snapshot = role.snapshot
    recorded = {**{key: getattr(snapshot, key, None) for key in _SNAPSHOT}, "base_commit": base}
    return {
        "role": role.name,
        "configured": role.name in names,
        "status": role.status,
        "completed_at": role.completed_at,
        "session_id": role.session_id,
        "findings": [each.values() for each in role.findings],
        "drift_budget": role.budget,
        "snapshot": recorded if snapshot else None,
    }


def next_step(loaded: Loaded) -> str | None:
    """Return the next step: the first that the newest session names, else the first open feature."""
    state = loaded.state
    if state.next_steps:
        return state.told_steps[0].partition("\n")[0]
    features = state.checklist.counted if state.checklist else ()
    return next((f"{each.id}: {each.description}" for each in features if not each.passes), None)


def status_text(workspace: Workspace, loaded: Loaded, reader: str = "") -> str:
    """Return the status of a task as text, for the agent that reads it."""
    state, blocks = loaded.state, blocks_of(loaded.document)
    pipeline = roles.pipeline(blocks, workspace.config.roles)
    if state.kind == PERMANENT:
        return _permanent_text(workspace, loaded, reader)
    lines = [f"{state.id}  {state.title}  ({(state.status or 'unknown').replace('_', ' ')})"]
    lines.append("  " + "  ".join(f"[{_MARKS[role.status]}] {role.name}{_detail(role)}" for role in pipeline))
    lines += [f"  finding of {role.name}: {finding}" for role in pipeline for finding in role.findings]
    more = attention(workspace, loaded, reader, without=(FINDINGS,))  # those are listed
    lines += [f"  {each.line}" for each in more]
    handoff, step = blocks.handoffs.open, next_step(loaded)
    lines += [f"  open handoff: {handoff}"] if handoff else []
    lines += [f"  next: {step}"] if step else []
    return "\n".join(lines)


def _permanent_text(workspace: Workspace, loaded: Loaded, reader: str) -> str:
    """Return the status of the permanent task, which has no roles and no next step: its version and who is behind."""
    status = (loaded.state.status or "unknown").replace("_", " ")
    first, *rows = readers.table(loaded.state).split("\n")
    lines = [f"{first}  (permanent, {status})", *rows]
    more = attention(workspace, loaded, reader)
    return "\n".join((*lines, *(f"  {each.line}" for each in more)))


def _detail(role: Role) -> str:
    return "" if role.status == PENDING else f" {role.status.replace('_', ' ')}"

"""Compares the working tree with what a role left, and lets somebody accept a drift.

The common case is decided cheaply: git's status report is the one of the snapshot, and no file differs from the index
that was kept with it. Else the tree id of what is there decides; only where that differs are files looked at one by
one. A comparison reads and writes nothing; a verification counts each drift in the budget of the role whose snapshot
failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate import delta, ground, submodules
from taskstate.errors import GitFailed, TaskstateError
from taskstate.model import roles
from taskstate.model.chain import COMPLETE
from taskstate.model.write_metadata import front_matter_values
from taskstate.storage import files
from taskstate.storage.git import client as git
from taskstate.storage.git import worktree
from taskstate.workspace import artifacts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.delta import Verified
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.change import Change, Request
    from taskstate.workspace.workspace import Loaded, Workspace

LOST = "the snapshot's artifacts are lost or broken, as in another clone: it can be compared, and not restored"
PURGED = "the snapshot's artifacts were purged: it can be compared, and not restored"


def verify(workspace: Workspace, task_id: str, role: str, request: Request) -> Verified:
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
        values = front_matter_values(loaded.document)
        budget = roles.role_of(values, role).get("drift_budget")
        told = {"drift_budget": (budget if isinstance(budget, int) else 0) + 1}
        return Change(text=with_roles(loaded, values, {role: told}))

    change(workspace, task_id, job, request)


def with_roles(loaded: Loaded, values: Mapping[str, Any], changed: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a task's text in which keys of some roles' coordination are changed."""
    from taskstate.model.write_metadata import set_front_matter
    from taskstate.syntax.edits import apply

    held = values.get("coordination")
    held = dict(held) if isinstance(held, dict) else {}
    told = {name: {**roles.role_of(values, name), **keys} for name, keys in changed.items()}
    return apply(loaded.document.text, set_front_matter(loaded.document, "coordination", {**held, **told}))


# The comparison


def compare(workspace: Workspace, loaded: Loaded, role: str) -> Verified:
    """Compare the working tree with the snapshot of a role, and write nothing.

    Raises:
        TaskstateError: code "task-complete"; code "no-snapshot"; code "no-commit": its base commit is gone; or the
            repository is not at rest.
    """
    require_open(loaded.state)
    ground.require_quiet(workspace)
    snapshot = require_snapshot(workspace, loaded, role)
    kept = ground.kept_in(workspace, snapshot)
    notes = () if ground.has_pack(workspace, snapshot) else (PURGED if ground.is_purged(snapshot) else LOST,)
    remarks = (*notes, *submodules.remarks(workspace.root))
    unmoved = kept is not None and _is_unmoved(workspace, str(snapshot.get("base_commit")), loaded.state.id)
    if kept and unmoved and ground.is_as_left(workspace, snapshot, kept):
        return delta.matching(remarks)
    from taskstate.comparing import compared

    return compared(workspace, loaded, role, remarks)


def require_open(state: TaskState) -> None:
    """Refuse a task that is complete: what was to be compared has been handed down, and its artifacts dropped.

    Raises:
        TaskstateError: code "task-complete".
    """
    if state.status == COMPLETE:
        what = f"task {state.id} is complete, so its snapshots stay as they are"
        help_ = f'`taskstate reopen {state.id} --note "WHY"` takes it back to work'
        raise TaskstateError(what, help=help_, code="task-complete")


def require_snapshot(workspace: Workspace, loaded: Loaded, role: str) -> Mapping[str, Any]:
    """Return the snapshot of a role.

    Raises:
        TaskstateError: code "no-snapshot"; code "bad-snapshot": what it names as a tree is no object id.
    """
    task_id = loaded.state.id
    snapshot = roles.snapshot_of(front_matter_values(loaded.document), role)
    if snapshot is None or not isinstance(snapshot.get("tree"), str):
        what = f"task {task_id}: {role} has left no snapshot of the working tree"
        help_ = f"take it when the role's work is done: `taskstate snapshot take {task_id} --role {role}`"
        if files.names(artifacts.path_of(workspace, artifacts.name_of(task_id, role))):
            help_ += "; if git has set the state file back, `taskstate doctor --fix` brings back what it said"
        raise TaskstateError(what, help=help_, code="no-snapshot")
    roles.require_ids(snapshot, f"task {task_id}: the snapshot of {role}")
    return snapshot


def _is_unmoved(workspace: Workspace, base: str, task_id: str) -> bool:
    """Return whether HEAD is where it was but for our own files."""
    head = git.head(workspace.root)
    return head is not None and (head == base or not ground.committed_since(workspace, base, task_id))


def committed_as_left(workspace: Workspace, loaded: Loaded) -> bool:
    """Return whether HEAD holds just what the newest snapshot recorded, our own files aside.

    Not where there is no snapshot, or its tree is lost.
    """
    from taskstate.storage.git.objects import Store, leaves

    values = front_matter_values(loaded.document)
    newest = newest_role(values, workspace.config.roles)
    snapshot = roles.snapshot_of(values, newest) if newest else None
    head = git.head(workspace.root)
    if snapshot is None or head is None:
        return False
    kept = ground.kept_in(workspace, snapshot)
    with worktree.scratch(workspace.root, *([kept] if kept else [])) as place:
        store = Store(place, head)
        try:
            changed = store.changes(store.tree_of(head), str(snapshot.get("tree")))
        except GitFailed:
            return False
        finally:
            store.close()
    return not leaves(changed, workspace.is_ours)


def newest_role(values: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """Return the role that took the newest snapshot; of several at the same time the last in order."""
    taken = [(snapshot, name) for name in names if (snapshot := roles.snapshot_of(values, name))]
    return max(taken, key=lambda each: str(each[0].get("snapshot_time")), default=({}, None))[1] if taken else None

"""Tells whether the work of a task has begun, so that a baseline taken now would be late: it may hide what work broke.

Where git can compare, the tree decides: that of the base is the one before the work. Else what the state file says of
sessions and roles does.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.model.statuses import DONE
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded, Workspace


def begun(workspace: Workspace, loaded: Loaded, log_sha: str = "") -> str:
    """Return in words why a baseline of a task would be late, or an empty text.

    A file of the tree that holds the log with the hash `log_sha` is no work.
    """
    blocks = blocks_of(loaded.document)
    if blocks.delta.base_commit is not None and git.toplevel(workspace.root) is not None:
        differing = _differing(workspace, loaded, log_sha)
        if differing is not None:
            return f"{counted(differing, 'file')} not as in the base commit" if differing else ""
    done = [name for name, role in blocks.roles.items() if role.status == DONE]
    if done:
        return f"{done[0]} is done"
    return f"session {loaded.state.last_session} is recorded" if loaded.state.last_session else ""


def _differing(workspace: Workspace, loaded: Loaded, log_sha: str) -> int | None:
    """Return how many files differ from the base; None where that cannot be told."""
    from taskstate.snapshots import base as snapshot_base
    from taskstate.snapshots.log_files import log_files
    from taskstate.storage.git.objects import leaves

    blocks = blocks_of(loaded.document)
    logs = log_files(workspace.root, blocks, log_sha)
    try:
        head = snapshot_base.require_at_rest(workspace)
        with snapshot_base.snapshot_base(workspace, loaded.state.id, blocks.delta, head) as current:
            base = current.base_tree(blocks.delta)
            if base is None:
                return None
            changed = leaves(current.store.changes(base, current.tree), workspace.is_ours)
            return sum(bool(each.old_id) or not logs.has(each.path) for each in changed)
    except TaskstateError:
        return None


def require_reason(task_id: str, begun_by: str, note: str) -> None:
    """Refuse a late baseline for which nobody gives a reason.

    Raises:
        TaskstateError: code "baseline-late".
    """
    if not begun_by or note:
        return
    message = f"task {task_id}: work has begun ({begun_by}), so a baseline taken now is late"
    help_ = 'say why it is taken now: add --note "WHY"; checks that fail in it still stop `finish`'
    raise TaskstateError(message, help=help_, code="baseline-late")

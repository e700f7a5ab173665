"""Says what comes after a turn: the next role, or what completion still misses."""

from __future__ import annotations

from taskstate.model import roles
from taskstate.model.statuses import COMPLETE, DONE
from taskstate.model.write_metadata import blocks_of
from taskstate.storage.git import worktree
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded, Workspace

_MAX_GAPS = 8  # lines


def next_lines(workspace: Workspace, loaded: Loaded, *, goes_on: bool = False) -> tuple[str, ...]:
    """Return the command that comes next; where no role is left and nobody takes over, what completion misses.

    Of a turn that was paused or given up the work `goes_on`. The output is asked for last, when all else is there.
    """
    blocks, task_id = blocks_of(loaded.document), loaded.state.id
    if loaded.state.status == COMPLETE:
        is_dirty = bool(worktree.dirty_files(workspace.root, workspace.is_ours))
        later = f"next: commit, with `task {task_id}` in the message"
        return (f"task {task_id} is complete", *([later] if is_dirty else []))
    opened, begun = blocks.handoffs.open, roles.has_begun(blocks)
    due = next((name for name in workspace.config.roles if begun and blocks.role(name).status != DONE), "")
    if due or opened or goes_on:
        handed = (f"handed over: {workspace.config.root}/{opened}",) if opened else ()
        return (*handed, f"next: `taskstate start {task_id}{f' --role {due}' if due else ''}`")
    from taskstate.chain.output import output_gaps
    from taskstate.tasks import completion_checks  # as long as a role is left, nothing is asked of completion

    found, output = completion_checks.gaps(workspace, loaded), output_gaps(loaded.state)
    gaps = [each.words for each in found if each not in output] or [each.words for each in output]
    if not gaps:
        return (f"next: `taskstate complete {task_id}`",)
    is_last = len(output) == len(found)
    what = ", write its Chain Output, which tasks that build on this one start from" if is_last else ""
    more = len(gaps) - _MAX_GAPS
    listed = [f"- {gap}" for gap in gaps[:_MAX_GAPS]] + ([f"- and {more} more"] if more > 0 else [])
    return (f"before `taskstate complete {task_id}`{what}:", *listed)

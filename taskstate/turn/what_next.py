"""Says what comes after a turn: the next role, or what completion still misses; and what the linter finds now."""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.paths import lint_paths
from taskstate.lint.runner import LintRequest
from taskstate.model import roles
from taskstate.model.statuses import COMPLETE, DONE
from taskstate.model.write_metadata import blocks_of, timestamp
from taskstate.storage.git import worktree
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome

_MAX_GAPS = 8  # lines


def lint_lines(workspace: Workspace, outcome: Outcome, now: datetime) -> tuple[str, ...]:
    """Return the errors that the linter finds in a state file `now`, compared as by `taskstate lint`, a line each."""
    request = LintRequest(timestamp(now), None)
    report = lint_paths(workspace, [workspace.root / outcome.path], request)
    errors = [(f"{each.path}:{each.line}", each.diagnostic) for each in report.findings]
    return tuple(f"{at}: {each.code} {each.message}: {each.help}" for at, each in errors if each.severity == ERROR)


def next_lines(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return the command that comes next; where no role is left and nobody takes over, what completion misses."""
    blocks, task_id = blocks_of(loaded.document), loaded.state.id
    if loaded.state.status == COMPLETE:
        is_dirty = bool(worktree.dirty_files(workspace.root, workspace.is_ours))
        later = f"commit with `task {task_id}` in the message; then `taskstate git-history sync {task_id}` lists that"
        return (f"task {task_id} is complete", *([later] if is_dirty else []))
    opened, begun = blocks.handoffs.open, roles.has_begun(blocks)
    due = next((name for name in workspace.config.roles if begun and blocks.role(name).status != DONE), "")
    if due or opened:
        handed = (f"handed over: {workspace.config.root}/{opened}",) if opened else ()
        return (*handed, f"next: `taskstate start {task_id}{f' --role {due}' if due else ''}`")
    from taskstate.tasks import completion_checks  # as long as a role is left, nothing is asked of completion

    gaps = [each.words for each in completion_checks.gaps(workspace, loaded)]
    if not gaps:
        return (f"next: `taskstate complete {task_id}`",)
    more = len(gaps) - _MAX_GAPS
    listed = [f"- {gap}" for gap in gaps[:_MAX_GAPS]] + ([f"- and {more} more"] if more > 0 else [])
    return (f"before `taskstate complete {task_id}`:", *listed)

"""Takes the baseline of a task: the results of its validation commands on the tree that the work starts from."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.write_metadata import blocks_of
from taskstate.turn.checks import checks_of
from taskstate.typed import TYPE_CHECKING
from taskstate.verification.qa import trust
from taskstate.verification.qa.record import Results, record_baseline

if TYPE_CHECKING:
    from taskstate.turn.call import Call
    from taskstate.turn.position import Position


def take_baseline(call: Call, where: Position, log: bytes | None) -> tuple[str, ...]:
    """Record the baseline where there is none yet and the tree is still that of the base; return what is to be said.

    Without it every check that fails at `finish` counts. Nothing in here keeps a turn from having begun.
    """
    workspace, task_id = call.workspace, call.task_id
    loaded = workspace.load(workspace.locate(task_id))
    blocks = blocks_of(loaded.document)
    if blocks.baseline.results or not trust.validation_commands(workspace, loaded):
        return ()
    if log is None and where.tree != blocks.delta.base_tree and blocks.delta.left:
        return ()  # it was said at the first start
    if log is None and where.tree != blocks.delta.base_tree:
        cure = f"if this is still before the work, `taskstate qa baseline {loaded.state.id}` takes one now"
        return (f"no baseline: the working tree is not the base any more, so each failing check will count; {cure}",)
    try:
        checks = checks_of(call, loaded, log, instead="give a log: `start --qa-log LOG`")
        if checks.refusal:
            return (f"no baseline: {checks.refusal}",)
        outcome = record_baseline(workspace, task_id, Results(checks.results, checks.log or b""), call.request).outcome
    except TaskstateError as error:
        return (f"no baseline: {error}",)
    failing = [name for name, each in checks.results.items() if not each.ok]
    said = f"baseline: {len(checks.results) - len(failing)} of {len(checks.results)} checks pass"
    return (f"{said}; failing already: {'; '.join(failing)}" if failing else said, *outcome.warnings, *checks.notes)

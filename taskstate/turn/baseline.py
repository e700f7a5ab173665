"""Takes the baseline of a task: the results of its validation commands on the tree that the work starts from."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.write_metadata import blocks_of
from taskstate.qa import trust
from taskstate.qa.record import BaselineReason, Results, record_baseline
from taskstate.turn.checks import checks_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.turn.situation import Look
    from taskstate.turn.turn_request import TurnRequest
    from taskstate.workspace.workspace import Loaded, Workspace


def take_baseline(call: TurnRequest, loaded: Loaded, seen: Look, log: bytes | None) -> tuple[Loaded, tuple[str, ...]]:
    """Record the baseline where there is none yet and the tree is still that of the base.

    Return the task as it is then, and what is to be said. Without a baseline every check that fails at `finish` counts.
    Nothing in here keeps a turn from having begun.
    """
    workspace, task_id = call.workspace, call.task_id
    blocks, where = blocks_of(loaded.document), seen.where
    base = seen.base.tree if seen.base else None
    if blocks.baseline.results or not trust.validation_commands(workspace, loaded):
        return loaded, _untrusted(workspace, loaded)
    if log is None and where.tree != base and blocks.delta.left:
        return loaded, _untrusted(workspace, loaded)  # that there is none was said at the first start
    if log is None and where.tree != base:
        command = f'`taskstate qa baseline {loaded.state.id} --note "WHY"`'
        cure = f"a baseline taken now is late, and needs a reason: {command}"
        try:
            trust.require_trusted(workspace, loaded, instead="give it a log with `--qa-log LOG`")
        except TaskstateError as error:
            cure = f"{cure}; before it, {error.help}"
        said = (
            f"no baseline: the working tree has changed since the base commit, so each failing check will count; {cure}"
        )
        return loaded, (said,)
    why = BaselineReason(begun="" if log is None and where.tree else None)
    try:
        checks = checks_of(call, loaded, log, instead="give a log: `start --qa-log LOG`")
        if checks.refusal:
            return loaded, (f"no baseline: {checks.refusal}",)
        request, results = call.request._replace(known=loaded), Results(checks.results, checks.log or b"")
        outcome = record_baseline(workspace, task_id, results, request, why).outcome
    except TaskstateError as error:
        return loaded, (f"no baseline: {error}",)
    failing = [name for name, each in checks.results.items() if not each.ok]
    said = f"baseline: {len(checks.results) - len(failing)} of {len(checks.results)} checks pass"
    said = f"{said}; failing already: {'; '.join(failing)}" if failing else said
    return outcome.loaded, (said, *outcome.warnings, *checks.notes)


def _untrusted(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return a line where the checks may not run here, as in a new or a moved clone: before the work, not behind it."""
    try:
        trust.require_trusted(workspace, loaded, instead="")
    except TaskstateError as error:
        trusting = f"`taskstate trust {loaded.state.id}` shows and allows them"
        said = f"nobody has allowed the checks to run in this clone, and `finish` asks for it: {trusting}"
        return (said,) if error.code == "untrusted" else ()
    return ()

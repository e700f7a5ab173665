"""`complete`: completes a task, or lists what is missing."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, switch
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text
    from taskstate.operations.result import Result


class Complete(NamedTuple):
    """The arguments of `complete`."""

    id: TaskId = TASK
    force: bool = switch("complete even if something is missing (requires --note)")
    note: Text | None = option("TEXT", "reason for --force; it is recorded")


def complete(call: Call, asked: Complete) -> Result:
    """Complete a task, and copy its output to the tasks that depend on it.

    This requires that all features pass with evidence, all criteria are checked, the output is written, all roles are
    done and no handoff is open; otherwise list what is missing.
    """
    from taskstate.tasks.complete import complete as complete_task

    if asked.force != (asked.note is not None):
        message = "complete --force needs a reason" if asked.force else "--note is the reason for --force"
        raise usage_error(message, help='give both: --force --note "WHY"')
    if asked.force and not (asked.note or "").strip():
        raise TaskstateError("--note is empty", help="say why it may be complete without what is missing", code="empty")
    outcome = complete_task(call.workspace, call.task_id(asked.id), call.request(), note=asked.note or "")
    return changed(call, outcome, "complete")


OPERATIONS = (
    Operation(
        "complete",
        "complete a task, or list what is missing",
        complete,
        Complete,
        writes=True,
        compares="what the last role left",
    ),
)

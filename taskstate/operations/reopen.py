"""`reopen`: reopens a task that is complete or dropped."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation, option
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text
    from taskstate.operations.result import Result


class Reopen(NamedTuple):
    """The arguments of `reopen`."""

    id: TaskId = TASK
    note: Text = option("TEXT", "reason; it is recorded", is_required=True)


def reopen(call: Call, asked: Reopen) -> Result:
    """Reopen a task that is complete or dropped."""
    from taskstate.tasks.complete import reopen as reopen_task

    outcome = reopen_task(call.workspace, call.task_id(asked.id), call.request(), note=asked.note)
    return changed(call, outcome, "in progress again")


OPERATIONS = (
    Operation(
        "reopen",
        "reopen a task that is complete or dropped",
        reopen,
        Reopen,
        writes=True,
        compares="nothing: `complete` and `drop` have compared, and the work begins again from HEAD",
    ),
)

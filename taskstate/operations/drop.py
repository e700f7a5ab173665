"""`drop`: gives a task up."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation, option
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId, Text
    from taskstate.operations.result import Result


class Drop(NamedTuple):
    """The arguments of `drop`."""

    id: TaskId = TASK
    note: Text = option("TEXT", "reason; it is recorded", is_required=True)


def drop(call: Call, asked: Drop) -> Result:
    """Give a task up: set its status to dropped, record who did so and why, and delete its artifacts.

    Its files may be deleted afterwards. `taskstate reopen` takes it up again.
    """
    from taskstate.tasks.drop import drop as drop_task

    outcome = drop_task(call.workspace, call.task_id(asked.id), call.request(), note=asked.note)
    return changed(call, outcome, "dropped")


OPERATIONS = (
    Operation(
        "drop",
        "give a task up",
        drop,
        Drop,
        writes=True,
        compares="what the last role left, unless one is at work",
    ),
)

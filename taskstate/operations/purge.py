"""`purge`: deletes the artifacts of a task and its snapshot data."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.operations.result import Result


class Purge(NamedTuple):
    """The arguments of `purge`."""

    id: TaskId = TASK


def purge(call: Call, asked: Purge) -> Result:
    """Delete the artifacts of a task and its snapshot data."""
    from taskstate.snapshots.purge import purge as purge_task

    outcome = purge_task(call.workspace, call.task_id(asked.id), call.request())
    done = (
        "delta data and artifacts dropped; the front matter keeps who left which tree when"
        if outcome.revision
        else "deleted"
    )
    return changed(call, outcome, done)


OPERATIONS = (
    Operation(
        "purge",
        "delete the artifacts of a task and its snapshot data",
        purge,
        Purge,
        writes=True,
        compares="what the last role left, unless one is at work",
    ),
)

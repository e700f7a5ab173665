"""`purge`: deletes the artifacts of a task and its snapshot data."""

from __future__ import annotations

from taskstate.operations.operation import OfTask, Operation
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.result import Result


def purge(call: Call, asked: OfTask) -> Result:
    """Delete the artifacts of a task: logs and snapshot data."""
    from taskstate.snapshots.purge import purge as purge_task

    outcome = purge_task(call.workspace, call.task_id(asked.id), call.request())
    done = "snapshot data and artifacts deleted" if outcome.revision else "deleted"
    return changed(call, outcome, done)


OPERATIONS = (
    Operation(
        "purge",
        "delete the artifacts of a task: logs and snapshot data",
        purge,
        OfTask,
        writes=True,
        compares="what the last role left, unless one is at work",
    ),
)

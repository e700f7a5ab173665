"""`status`: the roles, findings and next steps of the tasks in progress."""

from __future__ import annotations

from taskstate.operations.operation import Operation, positional
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId


class Status(NamedTuple):
    """The arguments of `status`."""

    id: TaskId | None = positional("ID", "task to show, whatever its status (default: all tasks in progress)")


def status(call: Call, asked: Status) -> Result:
    """Show the roles, findings and next steps of the tasks in progress."""
    from taskstate.permanent.readers import standings
    from taskstate.views.status import active_tasks, status_shape, status_text

    workspace, reader = call.workspace, call.reader
    if asked.id is not None:
        loaded = call.load_parsed(asked.id)
        return Result(status_shape(workspace, loaded, reader), status_text(workspace, (loaded,), reader))
    tasks, unreadable = active_tasks(workspace)
    call.report_all_damage(unreadable)
    standing = standings(workspace)
    text = "no other task is in progress"
    if tasks or not unreadable:
        text = status_text(workspace, tasks, reader, standing=standing)
    return Result({"tasks": [status_shape(workspace, each, reader, standing=standing) for each in tasks]}, text)


OPERATIONS = (Operation("status", "show the roles, findings and next steps of the tasks in progress", status, Status),)

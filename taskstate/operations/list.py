"""`list`: lists tasks."""

from __future__ import annotations

from taskstate.model.statuses import OF_TASKS
from taskstate.operations.operation import Operation, option, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call


class List(NamedTuple):
    """The arguments of `list`."""

    status: str = option("", "list only tasks with this status", choices=OF_TASKS)
    area: str = option("NAME", "list only tasks of this area")
    ready: bool = switch("list only open tasks that are not blocked and wait for no other task")
    blocked: bool = switch("list only open tasks that are blocked or wait for another task")


def list_(call: Call, asked: List) -> Result:
    """List tasks."""
    from taskstate.views.task_list import READY, WAITING, list_tasks, table

    standing = WAITING if asked.blocked else READY if asked.ready else ""
    if call.as_data:
        found = list_tasks(call.workspace, status=asked.status, area=asked.area, standing=standing, shaped=True)
        call.report_all_damage(found.unread)
        return Result([found.shapes[each.path] for each in found.tasks], "")
    workspace = call.workspace
    damaged = {each.path: each.message for each in call.told if each.damaged}
    given = {"status": asked.status, "area": asked.area, "standing": standing}
    shown = table(workspace, **given, damaged=damaged, width=call.width)
    call.report_all_damage(shown.unread)
    return Result(None, shown.text)


OPERATIONS = (Operation("list", "list tasks", list_, List, apart=(("--ready", "--blocked"),)),)

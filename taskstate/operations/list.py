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
    ready: bool = switch("list only open tasks that are not blocked, wait for no other task and have no open subtask")
    blocked: bool = switch("list only open tasks that are blocked or wait for another task")
    waived: bool = switch("list only tasks that were done elsewhere, and imported as complete")


def list_(call: Call, asked: List) -> Result:
    """List the tasks of all worktrees; one that differs between them is listed with each branch, the newest first."""
    from taskstate.storage.git.client import has_worktrees
    from taskstate.views.task_list import READY, WAITING, WAIVED, list_tasks, listing, matching, table

    standings = ((asked.blocked, WAITING), (asked.ready, READY), (asked.waived, WAIVED))
    workspace, standing = call.workspace, next((name for is_asked, name in standings if is_asked), "")
    given = {"status": asked.status, "area": asked.area, "standing": standing}
    damaged = {each.path: each.message for each in call.told if each.damaged}
    if not (has_worktrees(workspace.root) or call.as_data):
        shown = table(workspace, **given, damaged=damaged, width=call.width)
        call.report_all_damage(shown.unread)
        return Result(None, shown.text, is_in_rows=True)
    if has_worktrees(workspace.root):
        from taskstate.views import repository

        read = repository.read(workspace, whole=True)
        found = matching(repository.task_list(read, shaped=call.as_data), **given)
        call.problems(read.unread)
    else:
        found = list_tasks(workspace, **given, shaped=True)
    call.report_all_damage(found.unread)
    if call.as_data:
        return Result([found.shapes[each.path] for each in found.tasks], "")
    text = listing(found.tasks, workspace.config.size.max_sessions, found.problems | damaged, call.width)
    return Result(None, text, is_in_rows=True)


OPERATIONS = (Operation("list", "list tasks", list_, List, apart=(("--ready", "--blocked", "--waived"),)),)

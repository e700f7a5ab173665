"""`search`: finds a text in the files of all tasks."""

from __future__ import annotations

import operator
import os

from taskstate.operations.operation import Operation, option, positional
from taskstate.operations.result import Result
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId


class Search(NamedTuple):
    """The arguments of `search`."""

    text: str = positional("TEXT", "text to look for, within one line")
    task: TaskId = option("ID", "search only the files of this task")


def search(call: Call, asked: Search) -> Result:
    """Find a text in the state files, archives and handoffs of all tasks in all worktrees, ignoring case."""
    from taskstate.views.search import search_all
    from taskstate.workspace.worktrees import holders

    workspace, task = call.workspace, call.task_id(asked.task) if asked.task else ""
    if task and not any(holders(workspace.root, workspace.config.root, task)):
        workspace.locate(task)  # fails if there is no such task
    result, unread = search_all(workspace, asked.text, task=task)
    call.problems(unread)
    call.report_all_damage(result.unreadable)
    if call.as_data:
        return Result({"found": [each.shape for each in result.found], "unreadable": list(result.unreadable)}, "")
    lines = [f"{one_line(os.path.join(each.worktree, each.path))}:{each.number}: {each.line}" for each in result.found]
    labels = (f" [{each.branch}]" if each.branch else "" for each in result.found)
    return Result(None, "\n".join(map(operator.add, lines, labels)) or "no file says that", is_in_rows=True)


OPERATIONS = (Operation("search", "find a text in the files of all tasks", search, Search),)

"""`search`: finds a text in the files of all tasks."""

from __future__ import annotations

from taskstate.operations.operation import Operation, option, positional
from taskstate.operations.result import Result
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId


class Search(NamedTuple):
    """The arguments of `search`."""

    text: str = positional("TEXT", "text to look for; one line contains all of it")
    task: TaskId = option("ID", "search only the files of this task")


def search(call: Call, asked: Search) -> Result:
    """Find a text in the state files, archives and handoffs of all tasks, ignoring case."""
    from taskstate.views.search import search as search_files

    task = call.task_id(asked.task) if asked.task else ""
    if task:
        call.workspace.locate(task)  # fails if there is no such task
    result = search_files(call.workspace, asked.text, task=task)
    call.report_all_damage(result.unreadable)
    if call.as_data:
        return Result({"found": [each._asdict() for each in result.found], "unreadable": list(result.unreadable)}, "")
    lines = [f"{one_line(each.path)}:{each.number}: {each.line}" for each in result.found]
    return Result(None, "\n".join(lines) or "no file says that", is_in_rows=True)


OPERATIONS = (Operation("search", "find a text in the files of all tasks", search, Search),)

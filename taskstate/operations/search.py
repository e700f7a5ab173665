"""`search`: finds a text in the files of all tasks."""

from __future__ import annotations

import operator
import os

from taskstate.operations.operation import Operation, option, positional
from taskstate.operations.result import Result
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId

_MOST = 200  # lines on a terminal: a pipe gets all


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
    is_cut = len(result.found) > _MOST and call.screen.is_live
    shown = result.found[:_MOST] if is_cut else result.found
    lines = [f"{one_line(os.path.join(each.worktree, each.path))}:{each.number}: {each.line}" for each in shown]
    labels = (f" [{each.branch}]" if each.branch else "" for each in shown)
    text = "\n".join(
        (*map(operator.add, lines, labels), *(_rest(call, asked, len(result.found) - _MOST) if is_cut else ()))
    )
    return Result(None, text or "no file says that", is_in_rows=True)


def _rest(call: Call, asked: Search, hidden: int) -> Iterator[str]:
    """Yield how many lines are not shown, with the command that shows them."""
    from taskstate.messages import quoted
    from taskstate.views.layout import more

    given = {"root": call.conditions.root, "config": call.conditions.config, "task": asked.task}
    flags = "".join(f"--{name} {quoted(value)} " for name, value in given.items() if value)
    text = f"-- {quoted(asked.text)}" if asked.text.startswith("-") else quoted(asked.text)
    return more(f"{hidden} more lines", f"search {flags}{text} | less", call.screen)


OPERATIONS = (Operation("search", "find a text in the files of all tasks", search, Search),)

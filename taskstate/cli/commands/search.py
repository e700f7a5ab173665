"""`taskstate search`: finds a text in the files of all tasks."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.syntax.spans import one_line


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = "Find a text in the state files, archives and handoffs of all tasks, ignoring case."
    parser.add_argument("text", metavar="TEXT", help="text to look for; one line contains all of it")
    parser.add_argument("--task", metavar="ID", help="search only the files of this task")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Print the lines that contain the text."""
    from taskstate.workflow.search import search

    named = invocation.flag_value("task")
    task = invocation.task_id(named) if named else ""
    if task:
        invocation.workspace.locate(task)  # fails if there is no such task
    result = search(invocation.workspace, invocation.args.text, task=task)
    invocation.report_all_damage(result.unreadable)
    if invocation.as_json:
        data = {"found": [each._asdict() for each in result.found], "unreadable": list(result.unreadable)}
        return invocation.print_result(data, "")
    lines = [f"{one_line(each.path)}:{each.number}: {each.line}" for each in result.found]
    return invocation.print_result(None, "\n".join(lines) or "no file says that")

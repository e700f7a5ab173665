"""`taskstate graph`: draws tasks, their status and their chains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_common
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation
    from taskstate.tasks.dependency_graph import Graph


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "ids", metavar="ID", nargs="*", help="only these tasks, what they build on and what builds on them"
    )
    parser.add_argument(
        "--output-format", choices=("text", "mermaid", "dot"), default="text", help="how to draw (default: text)"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Draw the tasks."""
    from taskstate.tasks import dependency_graph
    from taskstate.workspace import task_index

    tasks = task_index.all_tasks(invocation.workspace)
    invocation.print_problems(tuple(f"not drawn: {task.problem}" for task in tasks if task.problem))
    drawn = dependency_graph.Graph(
        dependency_graph.GraphTask(task.id, task.title, task.status, task.depends_on, task.parent) for task in tasks
    )
    if invocation.args.ids:
        ids = [invocation.task_id(each) for each in invocation.args.ids]
        _require_known(drawn, ids)
        drawn = drawn.related_to(ids)
    forms = {"text": dependency_graph.as_text, "mermaid": dependency_graph.as_mermaid, "dot": dependency_graph.as_dot}
    told = forms[invocation.args.output_format](drawn)
    data = {
        "tasks": [{"id": t.id, "title": t.title, "status": t.status or None} for t in drawn.tasks.values()],
        "chains": [[drawn.tasks[up].id, drawn.tasks[down].id] for up, down in drawn.chains],
        "subtasks": [[drawn.tasks[up].id, drawn.tasks[down].id] for up, down in drawn.parts],
        "circles": [list(circle) for circle in drawn.circles()],
        "drawing": told,
    }
    return invocation.print_result(data if invocation.as_json else {}, told)


def _require_known(drawn: Graph, ids: list[str]) -> None:
    for each in ids:
        if each.casefold() not in drawn.tasks:
            what = f"there is no task {each}"
            raise TaskstateError(what, help="`taskstate list` shows the tasks that exist", code="not-found")

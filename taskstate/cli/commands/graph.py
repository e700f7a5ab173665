"""`taskstate graph`: draws the dependency graph of tasks."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError
from taskstate.model.permanent import PERMANENT
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.tasks.dependency_graph import Graph


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "ids", metavar="ID", nargs="*", help="draw only these tasks, with their dependencies and dependents"
    )
    parser.add_argument(
        "--output-format",
        choices=("text", "mermaid", "dot"),
        default="text",
        help="format of the drawing (default: text)",
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Draw the tasks."""
    from taskstate.tasks import dependency_graph
    from taskstate.workspace import task_index

    tasks = task_index.all_tasks(invocation.workspace)
    invocation.report_all_damage(tuple(f"not drawn: {task.problem}" for task in tasks if task.problem))
    permanent = {task.id.casefold() for task in tasks if task.kind == PERMANENT}
    graph = dependency_graph.Graph(
        dependency_graph.GraphTask(task.id, task.title, task.status, task.depends_on, task.parent) for task in tasks
    ).without(permanent)
    if invocation.args.ids:
        ids = [invocation.task_id(each) for each in invocation.args.ids]
        _require_known(graph, ids, permanent)
        graph = graph.related_to(ids)
    forms = {"text": dependency_graph.as_text, "mermaid": dependency_graph.as_mermaid, "dot": dependency_graph.as_dot}
    drawing = forms[invocation.args.output_format](graph)
    data = {
        "tasks": [{"id": t.id, "title": t.title, "status": t.status or None} for t in graph.tasks.values()],
        "chains": [[graph.tasks[up].id, graph.tasks[down].id] for up, down in graph.chains],
        "subtasks": [[graph.tasks[up].id, graph.tasks[down].id] for up, down in graph.parts],
        "circles": [list(circle) for circle in graph.circles()],
        "drawing": drawing,
    }
    return invocation.print_result(data if invocation.as_json else {}, drawing)


def _require_known(graph: Graph, ids: list[str], permanent: set[str]) -> None:
    for each in ids:
        if each.casefold() in permanent:
            message = f"task {each} is a permanent task, which no task waits for"
            raise TaskstateError(message, help="`taskstate impact show --mermaid` draws its map", code="kind")
        if each.casefold() not in graph.tasks:
            message = f"there is no task {each}"
            raise TaskstateError(message, help="`taskstate list` shows the tasks that exist", code="not-found")

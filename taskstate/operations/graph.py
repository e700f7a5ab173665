"""`graph`: draws the dependency graph of tasks."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.permanent import PERMANENT
from taskstate.operations.operation import Operation, option, positional
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.tasks.dependency_graph import Graph as Drawn


class Graph(NamedTuple):
    """The arguments of `graph`."""

    ids: tuple[TaskId, ...] = positional("ID", "draw only these tasks, with their dependencies and dependents")
    output_format: str = option(
        "", "format of the drawing (default: text)", choices=("text", "mermaid", "dot"), default="text"
    )


def graph(call: Call, asked: Graph) -> Result:
    """Draw the dependency graph of the tasks."""
    from taskstate.tasks import dependency_graph
    from taskstate.workspace import task_index
    from taskstate.writing.damage import why_unread

    tasks = (*task_index.all_tasks(call.workspace), *task_index.left_out(call.workspace))
    call.report_all_damage(tuple(f"not drawn: {each}" for each in why_unread(call.workspace, tasks)))
    permanent = {task.id.casefold() for task in tasks if task.kind == PERMANENT}
    drawn = dependency_graph.Graph(
        dependency_graph.GraphTask(task.id, task.title, task.status, task.depends_on, task.parent) for task in tasks
    ).without(permanent)
    if asked.ids:
        ids = [call.task_id(each) for each in asked.ids]
        _require_known(drawn, ids, permanent)
        drawn = drawn.related_to(ids)
    forms = {"text": dependency_graph.as_text, "mermaid": dependency_graph.as_mermaid, "dot": dependency_graph.as_dot}
    drawing = forms[asked.output_format](drawn)
    if not call.as_data:
        return Result(None, drawing, is_document=asked.output_format != "text")
    data = {
        "tasks": [{"id": each.id, "title": each.title, "status": each.status or None} for each in drawn.tasks.values()],
        "chains": [[drawn.tasks[up].id, drawn.tasks[down].id] for up, down in drawn.chains],
        "subtasks": [[drawn.tasks[up].id, drawn.tasks[down].id] for up, down in drawn.parts],
        "circles": [list(circle) for circle in drawn.circles()],
        "drawing": drawing,
    }
    return Result(data, drawing)


def _require_known(graph: Drawn, ids: list[str], permanent: set[str]) -> None:
    for each in ids:
        if each.casefold() in permanent:
            message = f"task {each} is a permanent task, which no task waits for"
            raise TaskstateError(message, help="`taskstate impact show --mermaid` draws its map", code="kind")
        if each.casefold() not in graph.tasks:
            from taskstate.workspace.workspace import no_task

            raise no_task(each, [task.id for task in graph.tasks.values()])


OPERATIONS = (Operation("graph", "draw the dependency graph of the tasks", graph, Graph),)

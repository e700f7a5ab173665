"""`edit`: changes what a task says of itself, from its title to whether it is blocked."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, switch
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import Line, TaskId, Text
    from taskstate.operations.result import Result


class Edit(NamedTuple):
    """The arguments of `edit`."""

    id: TaskId = TASK
    title: Line = option("T", "title, in the front matter and the title line")
    description: Text = option("TEXT", "description of the task; - reads standard input")
    priority: str = option("", "priority, P0 being the most urgent", choices=("P0", "P1", "P2", "P3"))
    area: Line = option("NAME", "part of the product, such as backend")
    depends_on: tuple[TaskId, ...] = option("ID", "upstream task; replaces the whole list", by_comma=True)
    no_depends_on: bool = switch("empty the list of upstream tasks", flag="no-depends-on")
    blocked: Line = option("WHY", "block the task, for this reason")
    unblocked: bool = switch("return to the status before it was blocked")
    note: Line = option("WHY", "reason to change sealed text")


def edit(call: Call, asked: Edit) -> Result:
    """Change title, description and other facts of a task; a sealed context is sealed again in the same write."""
    from taskstate.tasks.edit import Edited
    from taskstate.tasks.edit import edit as run

    upstream = tuple(map(call.task_id, asked.depends_on)) if asked.depends_on or asked.no_depends_on else None
    given = {key: value for key, value in asked._asdict().items() if key in Edited._fields}
    wanted = Edited(**given | {"depends_on": upstream})
    if wanted._replace(note="") == Edited():
        raise usage_error("edit: nothing to change is given", help="say what, such as --title TITLE")
    return changed(call, run(call.workspace, call.task_id(asked.id), wanted, call.request()), "edited")


OPERATIONS = (
    Operation(
        "edit",
        "change title, description, priority, area or dependencies; block a task",
        edit,
        Edit,
        writes=True,
        apart=(("--blocked", "--unblocked"), ("--depends-on", "--no-depends-on")),
    ),
)

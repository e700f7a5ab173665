"""`status`: what needs a person, and what is at work; of one task the roles, findings and next step."""

from __future__ import annotations

from taskstate.messages import quoted
from taskstate.operations.operation import Operation, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.views.needs import Need
    from taskstate.views.repository import Repository


class Status(NamedTuple):
    """The arguments of `status`."""

    id: TaskId | None = positional("ID", "task to show, whatever its status (default: what needs you, and is at work)")
    exit_code: bool = switch("end with 1 if something needs a person", flag="exit-code")
    watch: bool = switch("show it again after each change, until Ctrl-C")


def status(call: Call, asked: Status) -> Result:
    """Show what needs a person, and the tasks at work; of one task the roles, findings and next step."""
    if asked.id is not None:
        from taskstate.views.status import status_shape, status_text

        workspace, loaded = call.workspace, call.load_parsed(asked.id)
        shape = status_shape(workspace, loaded, call.reader)
        return Result(shape, status_text(workspace, (loaded,), call.reader), int(asked.exit_code and _needs(shape)))
    from taskstate.views import glance, needs

    repository, found = look(call)
    data, text = {}, ""
    if call.as_data:
        data = {"tasks": _shapes(call, repository), **needs.shape(found), "totals": {**glance.totals(repository)}}
    else:
        text = glance.text(repository, found, call.screen)
    is_wanted = asked.exit_code and any(each.is_listed for each in found)
    return Result(data, text, int(is_wanted), highlights=glance.HIGHLIGHTS)


def look(call: Call) -> tuple[Repository, tuple[Need, ...]]:
    """Return the tasks of all worktrees, and what needs a person; what cannot be read is told besides."""
    from taskstate.views import needs, repository

    given, workspace = call.conditions, call.workspace
    flags = f" --root {quoted(str(workspace.root))}" if given.root else ""
    found = repository.read(workspace, f"{flags} --config {quoted(given.config)}" if given.config else flags)
    told = ((f"{each.tree.name}: " if each.tree.name else "") + each.problem for each in found.tasks if each.problem)
    call.report_all_damage(tuple(told))
    return found, needs.needs(found, call.now(), call.told)


def _shapes(call: Call, repository: Repository) -> list[dict[str, object]]:
    """Return the tasks at work as JSON values; each file is read by itself."""
    from taskstate.permanent.readers import standings
    from taskstate.views.glance import at_work
    from taskstate.views.status import status_shape

    standing = {each.name: standings(each.workspace) for each in repository.trees}
    shapes = []
    for each in at_work(repository):
        workspace = each.tree.workspace
        loaded = workspace.load(workspace.root / each.task.path)
        shape = status_shape(workspace, loaded, call.reader, standing=standing[each.tree.name])
        place = {"branch": each.branch, "worktree": each.tree.name}
        shapes.append(shape | {key: value for key, value in place.items() if value})
    return shapes


def _needs(shape: dict[str, object]) -> bool:
    return bool(shape["attention"])


OPERATIONS = (
    Operation(
        "status",
        "show what needs a person, and what is at work",
        status,
        Status,
        apart=(("--exit-code", "--watch"),),
        is_view=True,
    ),
)

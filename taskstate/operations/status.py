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

    id: TaskId | None = positional("ID", "task to show, whatever its status (default: what needs you or is at work)")
    exit_code: bool = switch("exit with status 1 if something needs a person", flag="exit-code")
    watch: bool = switch("show it again after each change, until Ctrl-C")


def status(call: Call, asked: Status) -> Result:
    """Show what needs a person, and the tasks at work; or the roles, findings and next step of one task."""
    if asked.id is not None:
        return _of_task(call, asked.id, asked)
    from taskstate.views import glance, needs

    repository, found = look(call, is_listed=not call.conditions.is_quiet)
    data, text = {}, ""
    if call.as_data:
        data = {"tasks": _shapes(call, repository), **needs.shape(found), "totals": {**glance.totals(repository)}}
    else:
        text = glance.text(repository, found, call.screen)
    is_wanted = asked.exit_code and any(each.is_listed for each in found)
    return Result(data, text, int(is_wanted), highlights=glance.HIGHLIGHTS)


def _of_task(call: Call, given: str, asked: Status) -> Result:
    """Show the status of a task in each worktree in which it differs."""
    from taskstate.operations import versions
    from taskstate.views.status import status_shape, status_text

    found = versions.versions(call, given, call.load_parsed)
    shape = versions.shape(found, lambda each: status_shape(each.workspace, each.loaded, call.reader))
    text = versions.text(found, lambda each: status_text(each.workspace, each.loaded, call.reader))
    return Result(shape, text, int(asked.exit_code and bool(shape["attention"])))


def look(call: Call, *, is_listed: bool = False) -> tuple[Repository, tuple[Need, ...]]:
    """Return the tasks of all worktrees, and what needs a person; what cannot be read is told, unless that list is."""
    from taskstate.views import needs, repository

    given, workspace, losses = call.conditions, call.workspace, call.told
    flags = f" --root {quoted(str(workspace.root))}" if given.root else ""
    found = repository.read(workspace, f"{flags} --config {quoted(given.config)}" if given.config else flags)
    told = tuple(f"{each.tree.name}: {each.problem}".removeprefix(": ") for each in found.tasks if each.problem)
    if is_listed:
        call.found_damage, call.told = bool(told) or any(each.damaged for each in losses), ()
    else:
        call.problems(found.unread)
        call.report_all_damage(told)
    return found, needs.needs(found, call.now(), losses)


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
        shapes.append(shape | each.place)
    return shapes


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

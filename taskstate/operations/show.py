"""`show`: a task, or one of its sections."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.operations.operation import TASK, Operation, option
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.syntax.document import Section
    from taskstate.workspace.workspace import Loaded


class Show(NamedTuple):
    """The arguments of `show`."""

    id: TaskId = TASK
    section: str = option("NAME", "print this section or subsection, verbatim")


def show(call: Call, asked: Show) -> Result:
    """Show a task as each worktree has it, the newest first; or one section of it, as it is in this worktree."""
    from taskstate.operations import versions
    from taskstate.tasks.size_warning import warning
    from taskstate.views.layout import folded
    from taskstate.views.overview import overview, task_shape

    found = versions.versions(call, asked.id, call.load)
    own, newest = versions.first_of(found), found[0]
    if asked.section:
        section = _section(own.loaded, asked.section)
        text = section.span.of(own.loaded.document.text).strip("\r\n")
        call.notes((f"newer on {newest.branch}: {newest.path}",) if newest is not own else ())
        return Result({"path": own.loaded.relative, "section": section.title, "text": text}, text, is_verbatim=True)
    text = folded(versions.text(found, lambda each: overview(each.loaded._replace(relative=each.path))), call.width)
    told = warning(own.workspace, own.loaded.state)
    return Result(versions.shape(found, lambda each: task_shape(each.loaded)), text, warning=told, is_verbatim=True)


def _section(loaded: Loaded, name: str) -> Section:
    from taskstate.model.document_kinds import section_key
    from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL

    sections = [section for section in loaded.document.sections if section.level <= PART_LEVEL]
    for section in sections:
        if section_key(section.title) == section_key(name.lstrip("# ")):
            return section
    decision = next((each for each in sections if each.title.casefold().startswith(f"{name.casefold()}:")), None)
    if decision:  # AD-7, whose heading has its title behind the number
        return decision
    titles = ", ".join(section_key(section.title) for section in sections if section.level == SECTION_LEVEL)
    raise TaskstateError(f"{loaded.relative} has no section {name!r}", help=f"it has: {titles}", code="not-found")


OPERATIONS = (Operation("show", "show a task, or one section of it", show, Show),)

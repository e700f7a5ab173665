"""`taskstate show`: shows a task, or one of its sections."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.syntax.document import Section
    from taskstate.workspace.workspace import Loaded


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_argument("--section", metavar="NAME", help="print this section or subsection, verbatim")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Show a task, or one of its sections."""
    from taskstate.tasks.overview import overview, task_shape
    from taskstate.tasks.size_warning import warning

    loaded = invocation.load_task()
    if invocation.args.section:
        section = _section(loaded, invocation.args.section)
        text = section.span.of(loaded.document.text).strip("\r\n")
        return invocation.print_result({"path": loaded.relative, "section": section.title, "text": text}, text)
    status = invocation.print_result(task_shape(loaded), overview(loaded))
    invocation.print_warning(warning(loaded.state, invocation.workspace.config.size))
    return status


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

"""Takes over an older shared context, a Markdown document with a version in its front matter, as the permanent task.

Sections are mapped by title; what has no place goes under Notes, and so does the front matter. Nothing is lost: each
line of the source must be in the result, or nothing is written.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.model import permanent
from taskstate.model.document_kinds import section_key
from taskstate.model.impact_faults import faults
from taskstate.model.impact_map import read_map
from taskstate.model.permanent import (
    ALL_SECTIONS,
    CHANGE_LOG,
    CONSTRAINTS,
    DECISIONS,
    IMPACT_MAP,
    PHASE_STATUS,
    USER_INTENT,
    LoggedVersion,
)
from taskstate.model.statuses import IN_PROGRESS
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, timestamp
from taskstate.permanent.consolidate import require_embeddable
from taskstate.permanent.create import NewPermanent, render
from taskstate.permanent.find import find
from taskstate.permanent.update import require_writer
from taskstate.permanent.versions import actor_in_log
from taskstate.syntax import escaping
from taskstate.syntax.conservation import content_lines, demoted, heading_line, require_conserved
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.tasks.create import require_free
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.free_ids import next_number
from taskstate.writing.writer import create_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document, Section
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Outcome, Request

NOTES = "Notes"
# The titles under which other documents have what belongs into a section, in lower case.
_TITLES = {
    USER_INTENT: "intent, goal, goals, objective, objectives, project goal, project goals, requirements, "
    "user requirements, scope, purpose, vision, overview, project overview, what users want",
    IMPACT_MAP: "impact map, codebase map, code map, codebase impact, module map, modules, module dependencies",
    DECISIONS: "decisions, key decisions, architecture decision, design decisions, decision log, decisions made, adr, "
    "adrs, architectural decisions, architecture",
    PHASE_STATUS: "phases, phase, status, current status, progress, pipeline status, phase progress, current phase, "
    "roadmap, phase plan",
    CONSTRAINTS: "constraint, limits, limitations, rules, invariants, non-functional requirements, "
    "technical constraints, boundaries",
}
_PLACES = {title: name for name, titles in _TITLES.items() for title in (name.casefold(), *titles.split(", "))}
_VERSION = re.compile(r"(?i)(?:[a-z]{1,9}-)?v?(\d{1,9})")
_OWN = 3  # level of the heading of a part within a section


class Imported(NamedTuple):
    """What was taken over: the id and the version, and for each heading of the source the section that it went to."""

    id: str
    version: int
    places: tuple[tuple[str, str], ...]


class _Source(NamedTuple):
    """The older document: its name, its content and its front matter with LF line ends, and what is read from them."""

    name: str
    document: Document
    front: str
    title: str
    version: int
    title_section: Section | None
    sections: tuple[Section, ...]


class _Part(NamedTuple):
    """A part of the source: its title there, the section that it goes to, and its text for that place."""

    title: str
    place: str
    text: str


def import_document(
    workspace: Workspace, name: str, text: str, request: Request, *, task_id: str = ""
) -> tuple[Outcome, Imported]:
    """Create the permanent task from an older document; `name` is that of its file, for messages.

    Raises:
        TaskstateError: code "exists": there is a permanent task already, or the id is taken; code "invalid-input": its
            version cannot be read; code "structure": it cannot be taken apart; code "unsafe": a line would get lost;
            code "writer"; or it is empty.
    """
    require_writer(workspace, request)
    present = find(workspace)
    if present:
        message = f"there is a permanent task already: {present.id}"
        help_ = f"if it is the same one, nothing is to be done; else first `taskstate permanent close {present.id}`"
        raise TaskstateError(message, help=help_, code="exists")
    task_id = task_id or next_number(workspace).id
    require_free(workspace, task_id)
    source = _read(name, escaping.clean(text.removeprefix("\ufeff"), what=name))
    parts = tuple(_parts(source))
    result = _result(workspace, task_id, source, parts, request)
    _require_conserved(source, result)
    relative = workspace.relative(workspace.tasks / f"task-{task_id}-state.md")
    state = read_state(parse(format_text(result, relative, workspace.kinds), workspace.kinds))
    seal = permanent.version_seal(state, source.version)
    sealed = apply(state.document.text, set_front_matter(state.document, permanent.VERSION_SEAL, seal))
    places = tuple((part.title, part.place) for part in parts)
    return create_file(workspace, relative, sealed, request), Imported(task_id, source.version, places)


# Reading the older document


def _read(name: str, text: str) -> _Source:
    from taskstate.frontmatter_handler import read_parts

    foreign = read_parts(text, name)
    # A rule at the beginning of the content must not be taken for the delimiter of another front matter.
    document = parse(f"\n{foreign.content}")
    headings = document.sections
    is_titled = bool(headings) and headings[0].level == 1 and all(each.level > 1 for each in headings[1:])
    rest = headings[1:] if is_titled else headings
    top = min((each.level for each in rest), default=0)
    values = foreign.metadata
    stated = next((str(values[key]) for key in ("title", "feature", "project", "name") if values.get(key)), "")
    shown = (headings[0].title if is_titled else stated) or name.rpartition("/")[2].removesuffix(".md")
    return _Source(
        name=name,
        document=document,
        front=foreign.front.strip("\n"),
        title=" ".join(shown.removeprefix("[PERMANENT]").removesuffix("- State").split()),
        version=_version(name, values.get("version")),
        title_section=headings[0] if is_titled else None,
        sections=tuple(each for each in rest if each.level == top),
    )


def _version(name: str, value: object) -> int:
    """Return the number of the version; 1 where the document has none."""
    if value is None:
        return 1
    match = _VERSION.fullmatch(str(value).strip())
    if match is None or not int(match[1]):
        message = f"{name}: the version {str(value)!r} has no number"
        raise TaskstateError(message, help="write it as `version: GC-v3`", code="invalid-input")
    return int(match[1])


def _parts(source: _Source) -> Iterator[_Part]:
    """Yield the parts of the source in its order; the front matter, and what stands above the sections, are Notes."""
    text, front = source.document.text, source.front
    if front.strip():
        yield _checked(
            source, _under(f"Front matter of {source.name}", NOTES, f"```yaml\n{front}\n```")
        )  # JSON is YAML
    begin = source.title_section.own.start if source.title_section else 0
    end = source.sections[0].span.start if source.sections else len(text)
    if text[begin:end].strip():
        yield _checked(source, _under(f"Beginning of {source.name}", NOTES, text[begin:end]))
    seen = set[str]()
    for section in source.sections:
        part = _part(source, section, seen)
        seen.add(part.place)
        yield _checked(source, part)


def _under(title: str, place: str, content: str) -> _Part:
    """Return a part under a heading of its own."""
    content = content.strip("\n")
    return _Part(title, place, f"### {title}\n\n{content}".rstrip())


def _part(source: _Source, section: Section, seen: set[str]) -> _Part:
    """Return a section of the source as a part; `seen` are the places that have some content already."""
    place, content = _PLACES.get(section_key(section.title), NOTES), section.body.of(source.document.text)
    if place == IMPACT_MAP and not _is_map(content):
        place = NOTES
    lower = demoted(content, _OWN - 1 - section.level, least=_OWN).strip("\n")
    if heading_line(section.title) == place.casefold() and place not in seen:
        return _Part(section.title, place, lower)
    if place == DECISIONS:  # their headings have to stand right below the section's own
        return _Part(section.title, place, f"{heading_line(section.title).capitalize()}\n\n{lower}")
    return _under(section.title, place, demoted(content, _OWN - section.level, least=_OWN))


def _checked(source: _Source, part: _Part) -> _Part:
    """Return a part, or refuse one that would change the structure of the document.

    Raises:
        TaskstateError: code "structure".
    """
    try:
        require_embeddable(part.text)
    except TaskstateError as error:
        message = f"{source.name}, {part.title!r}: {error.message}"
        raise TaskstateError(message, help=error.help, code=error.code) from error
    return part


def _is_map(content: str) -> bool:
    """Return whether a section can be that of the Impact Map: its json fence, if it has one, holds a sound map."""
    if "```" not in content and "~~~" not in content:
        return True
    try:
        return not faults(read_map(content, "the map"))
    except TaskstateError:
        return False


# The new document


def _result(workspace: Workspace, task_id: str, source: _Source, parts: tuple[_Part, ...], request: Request) -> str:
    """Return the text of the permanent task, not yet formatted."""
    at = timestamp(request.metadata.now)
    line = LoggedVersion(
        source.version, at, actor_in_log(request), (ALL_SECTIONS,), f"imported from {source.name}"
    ).line
    text = render(workspace, NewPermanent(task_id, source.title), request)
    for name in permanent.CONTENT:
        text = _with(text, name, _content(parts, name))
    text = _with(text, CHANGE_LOG, line)
    notes = _content(parts, NOTES)
    text = f"{text.rstrip()}\n\n## {NOTES}\n\n{notes}\n" if notes else text
    text = apply(text, set_front_matter(parse(text), "version", source.version))
    if _content(parts, USER_INTENT):
        text = apply(text, set_front_matter(parse(text), "status", IN_PROGRESS))
    return text


def _content(parts: tuple[_Part, ...], place: str) -> str:
    """Return what goes into a section: first what has no heading of its own."""
    texts = [each.text.rstrip() for each in parts if each.place == place and each.text.strip()]
    return "\n\n".join(sorted(texts, key=lambda each: place != DECISIONS and each.startswith("### ")))


def _with(text: str, name: str, content: str) -> str:
    state: TaskState = read_state(parse(text))
    section = state.section(name)
    if not content:
        return text
    if section is None:
        message = f"the project's template of a permanent task has no section {name}"
        raise TaskstateError(message, help="add it to the template, or delete the template", code="template")
    is_last = section.body.end == len(text)
    return apply(text, [Edit(*section.body, f"\n{content}\n{'' if is_last else chr(10)}")])


def _require_conserved(source: _Source, result: str) -> None:
    """Refuse a result that lacks a line of the source.

    Raises:
        TaskstateError: code "unsafe".
    """
    title = [heading_line(source.title_section.title)] if source.title_section else []  # it is the title
    # A section's title may become a line of text, in its own case.
    before, after = (map(str.casefold, content_lines(each)) for each in (source.document, parse(result)))
    front = (" ".join(line.casefold().split()) for line in source.front.split("\n") if line.strip())
    require_conserved(source.name, (*before, *front), (*after, *title))

"""Makes the sections of a brief from a task, and declares how long each is kept when the budget is short.

`SECTION_SPECS` is the table of sections. A section consists of units that are kept or cut as a whole: a list item, a
paragraph, a code fence. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model import chain, chain_quotes, phases
from taskstate.model.document_kinds import kind
from taskstate.model.static_context import SECTION, read_static
from taskstate.model.task_state import PART_LEVEL
from taskstate.syntax.markdown_blocks import read_blocks
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import trimmed, with_newlines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from taskstate.model.static_context import StaticPart
    from taskstate.model.task_state import Session, TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.syntax.document import Section

ALWAYS = 0  # kept even where it does not fit


class BriefSectionSpec(NamedTuple):
    """A section that a brief may have; `keep` is its priority, where the lowest number is kept longest.

    `more` is the command that shows all of it. `field` names a field of the export: a role that does not get the field
    does not get the section.
    """

    name: str
    title: str
    keep: int
    more: str
    field: str = ""


class Unit(NamedTuple):
    """A piece of a section that is kept or cut as a whole; after a `tight` one the next follows without a blank line.

    `number` is the number of its session. The `short` form replaces the text where that does not fit. A unit `aside`
    is never in the brief and only listed as left out.
    """

    text: str
    tight: bool = False
    number: int = 0
    short: str = ""
    aside: bool = False


class BriefSection(NamedTuple):
    """A section of a brief with its units, those kept longest first."""

    spec: BriefSectionSpec
    units: tuple[Unit, ...]
    heading: str = ""

    @property
    def title(self) -> str:
        """The title: the heading of the section in the state file, or the one of the table."""
        return self.heading or self.spec.title


SHOW_SECTION = 'taskstate show {id} --section "NAME"'
# In the order in which they are shown. Earlier sessions are cut first, then their summary, then what came from other
# tasks, then the description of the task.
SECTION_SPECS = (
    BriefSectionSpec("next", "Next step", ALWAYS, "taskstate show {id}"),
    BriefSectionSpec("features", "Open features", ALWAYS, "taskstate show {id}"),
    BriefSectionSpec("findings", "Blocking findings", 1, "taskstate role show {id}", "coordination"),
    BriefSectionSpec("handoff", "Open handoff", 1, "taskstate handoff show {id}"),
    BriefSectionSpec("session", "Newest session", 2, "taskstate session show {id} N"),
    BriefSectionSpec("phase", "Phase", 3, "taskstate phase show {id} P"),
    BriefSectionSpec("criteria", "Acceptance Criteria", 4, SHOW_SECTION, "criteria"),
    BriefSectionSpec("commands", "Validation", 4, SHOW_SECTION, "commands"),
    BriefSectionSpec("description", "Task Description", 5, SHOW_SECTION, "description"),
    BriefSectionSpec("scope", "Scope", 5, SHOW_SECTION, "scope"),
    BriefSectionSpec("standards", "Standards", 5, SHOW_SECTION, "standards"),
    BriefSectionSpec("paths", "Repository Paths", 5, SHOW_SECTION, "paths"),
    BriefSectionSpec("evidence", "Evidence", 6, "taskstate evidence show {id} EID", "evidence"),
    BriefSectionSpec("inputs", "Chain Inputs", 7, SHOW_SECTION, "inputs"),
    BriefSectionSpec("summary", "Archived Summary", 8, "taskstate session show {id} N"),
    BriefSectionSpec("sessions", "Earlier sessions", 9, "taskstate session show {id} N"),
)
# The priority of the sections of other kinds; all that are not named have `_DEFAULT_KEEP`.
_SECTION_KEEP = {
    "user intent": 1,
    "constraints": 2,
    "phase status": 3,
    "architecture decisions": 5,
    "codebase impact map": 6,
    "change log": 7,
}
_DEFAULT_KEEP = 4
_NEWEST_LAST = frozenset({"architecture decisions"})
# Sections of the state file that the table covers, and those that do not help to go on with the task.
_IN_OTHER_SECTIONS = frozenset({"static context", "chain inputs", "feature checklist", "progress log"})
_NOT_SHOWN = frozenset({"git history", "chain output", "notes"})
_NO_INPUTS = ("", "None.", "None")  # texts for "no inputs"
_ITEM = r"(?:[-*+]|\d{1,9}[.)])[ \t]"


def brief_sections(state: TaskState, blocks: ToolBlocks, folder: str, sessions: int) -> tuple[BriefSection, ...]:
    """Return the sections of a task's brief that are not empty, in the order in which they are shown.

    `blocks` are those of its front matter, `folder` is the state folder's path from the repository's root, `sessions`
    the number of newest sessions to include.
    """
    if not _IN_OTHER_SECTIONS & {section.key for section in kind(state.kind).sections}:
        return tuple(_other_sections(state))
    static = read_static(state)
    makers: dict[str, Callable[[], Iterable[Unit]]] = {
        "next": lambda: _next_units(state),
        "features": lambda: _feature_units(state),
        "findings": lambda: _finding_units(blocks),
        "handoff": lambda: _handoff_units(state, blocks, folder),
        "session": lambda: _session_units(state.sessions[-1]) if state.sessions else (),
        "phase": lambda: _phase_units(state),
        "inputs": lambda: _input_units(state),
        "summary": lambda: units_of(state.summary.section.body.of(state.document.text)) if state.summary else (),
        "sessions": lambda: _earlier_sessions(state, sessions - 1),
        "evidence": lambda: _evidence_units(blocks),
    }
    units = {name: tuple(make()) for name, make in makers.items()} | _static_units(state, static)
    headings = {"summary": state.summary.section.title} if state.summary else {}
    sections = (BriefSection(row, units[row.name], headings.get(row.name, "")) for row in SECTION_SPECS)
    return (*(part for part in sections if part.units), *_other_sections(state))


def units_of(text: str, number: int = 0) -> tuple[Unit, ...]:
    """Split a text between list items and paragraphs, never in a fence or an HTML block."""
    text = with_newlines(text, "\n").strip("\n")
    opaque = [block.span for block in read_blocks(text) if block.kind != "heading"]
    starts = [0]
    position, after_blank = 0, False
    for line in text.split("\n"):
        begins = bool(re.match(_ITEM, line)) or (after_blank and line[:1] not in {" ", "\t"})
        if position and line.strip(" \t") and begins and not any(span.start < position < span.end for span in opaque):
            starts.append(position)
        after_blank = not line.strip(" \t")
        position += len(line) + 1
    pieces = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    return tuple(
        Unit(_with_closed_fence(piece.strip("\n")), tight=not piece.endswith("\n\n"), number=number)
        for piece in _with_headings(pieces)
    )


def _with_headings(pieces: list[str]) -> list[str]:
    """Return the pieces with each heading or label (`**Name:**`) joined to the piece below it."""
    joined: list[str] = []
    pending = ""
    for piece in pieces:
        pending += piece
        line = piece.strip("\n")
        if not (line.startswith("#") or (line.startswith("**") and line.endswith(":**"))) or "\n" in line:
            joined.append(pending)
            pending = ""
    return [*joined, pending] if pending.strip() else joined


def _with_closed_fence(text: str) -> str:
    """Return a text with its last fence closed, so that the fence does not swallow the rest of the brief."""
    if "```" not in text and "~~~" not in text:
        return text
    fences = [block for block in read_blocks(text) if block.kind == "fence"]
    if not fences or fences[-1].closed:
        return text
    opening = fences[-1].span.of(text).lstrip(" ")
    return f"{text}\n{opening[: len(opening) - len(opening.lstrip(opening[0]))]}"


def _list_units(texts: Iterable[str]) -> tuple[Unit, ...]:
    return tuple(Unit("- " + text.replace("\n", "\n  "), tight=True) for text in texts)


def _next_units(state: TaskState) -> tuple[Unit, ...]:
    steps = [step for step in state.next_steps if step.strip()]
    if steps:
        return _list_units(steps)
    waiting = state.checklist.open if state.checklist else ()
    first = f"begin with the feature {waiting[0].id}" if waiting else "begin with the acceptance criteria"
    return _list_units([f"No session names one: {first}."])


def _feature_units(state: TaskState) -> tuple[Unit, ...]:
    """Return the open features; the short form of each is its id."""
    units = []
    for each in state.checklist.open if state.checklist else ():
        text = f"- {each.id}: {each.description}".replace("\n", " ").rstrip(": ")
        units.append(Unit(text, tight=True, short=f"- {each.id}"))
    return tuple(units)


def _finding_units(blocks: ToolBlocks) -> tuple[Unit, ...]:
    return _list_units(f"{role.name}: {finding}" for role in blocks.roles.values() for finding in role.findings)


def _handoff_units(state: TaskState, blocks: ToolBlocks, folder: str) -> tuple[Unit, ...]:
    path = blocks.handoffs.open
    if path is None:
        return ()
    return _list_units([f"`{folder}/{path}`: read it first, then `taskstate handoff accept {state.id}`"])


def _session_units(session: Session) -> tuple[Unit, ...]:
    return units_of(session.entry, session.number)


def _earlier_sessions(state: TaskState, count: int) -> Iterator[Unit]:
    """Yield the sessions before the newest one, from the newest to the oldest."""
    for index, each in enumerate(reversed(state.sessions[:-1])):
        if index < count:
            yield from _session_units(each)
        else:
            yield Unit(each.entry, number=each.number, aside=True)


def _phase_units(state: TaskState) -> Iterator[Unit]:
    """Yield the current objective and the attempts of each phase that has one."""
    for part in phases.phases_in(state):
        root = state.document.json(part.fences[0]) if part.fences else None
        value = None if root is None or isinstance(root, Fault) else root.value()
        if isinstance(value, dict) and value.get("current_objective") is not None:
            yield from _objective_units(part.section.title, value)


def _objective_units(title: str, value: Mapping[str, object]) -> Iterator[Unit]:
    current = value["current_objective"]
    for each in _mappings(value.get("objectives")):
        if each.get("id") == current:
            note = f" ({each['note']})" if each.get("note") else ""
            yield Unit(f"{title}: objective {current}, {each.get('description')}{note}")
    yield from _list_units(
        f"Tried: {each.get('approach')}: {each.get('result')}" for each in _mappings(value.get("approaches_tried"))
    )


def _static_units(state: TaskState, static: StaticPart) -> dict[str, tuple[Unit, ...]]:
    criteria = (f"{each.number}. [{'x' if each.checked else ' '}] {each.text}" for each in state.criteria)
    scope = [*(f"In: {each}" for each in static.scope_in), *(f"Out: {each}" for each in static.scope_out)]
    return {
        "criteria": tuple(Unit(each.replace("\n", "\n   "), tight=True) for each in criteria),
        "commands": _list_units(f"`{each}`" for each in static.commands),
        "description": (*(units_of(static.description) if static.description else ()), *_own_heading_units(state)),
        "scope": _list_units(scope),
        "standards": _list_units(_citation_text(each) for each in static.standards),
        "paths": _list_units(static.paths),
    }


def _own_heading_units(state: TaskState) -> Iterator[Unit]:
    """Yield the subsections of the static part that people added under headings of their own."""
    section = state.section(SECTION)
    spec = kind(state.kind).section(SECTION)
    for child in state.document.children(section, PART_LEVEL) if section and spec else ():
        if spec and spec.subsection(child.title) is None:
            yield from _filled_section_units(state, child)


def _citation_text(citation: Mapping[str, object]) -> str:
    """Return a citation as one line: file, section, lines and requirement."""
    span = f" {citation['line_span']}" if citation.get("line_span") else ""
    return f"{citation.get('file')}#{citation.get('section')}{span}: {citation.get('requirement')}"


def _evidence_units(blocks: ToolBlocks) -> tuple[Unit, ...]:
    return _list_units(
        f"{each.get('id')}: {each.get('path')}{' ' + str(each['lines']) if each.get('lines') else ''}"
        for each in blocks.evidence
    )


def _input_units(state: TaskState) -> Iterator[Unit]:
    """Yield the outputs of upstream tasks as block quotes, so that their headings add no sections to the brief."""
    document = state.document
    inputs = chain.inputs_of(document)
    section = state.section(chain.INPUTS)
    lead = section.own.of(document.text).strip() if section else ""
    if lead not in _NO_INPUTS and not kind(state.kind).is_placeholder(lead):
        yield from units_of(lead)
    for child in document.children(section, PART_LEVEL) if section else ():
        pulled_input = next((each for each in inputs if child.span.start < each.comment.start < child.span.end), None)
        if pulled_input is None:
            yield from _filled_section_units(state, child)
            continue
        quoted = chain_quotes.unquoted(pulled_input.quote.of(document.text))
        lines = ["\n".join(f"> {line}".rstrip() for line in unit.text.split("\n")) for unit in units_of(quoted)]
        heading = f"### {child.title} (revision {pulled_input.revision})"
        yield from (Unit(f"{heading}\n\n{line}" if not number else line) for number, line in enumerate(lines))


def _filled_section_units(state: TaskState, section: Section) -> tuple[Unit, ...]:
    """Return the units of a section with its heading, or none if it is empty or a placeholder."""
    body = section.body.of(state.document.text).strip()
    if not body or kind(state.kind).is_placeholder(body):
        return ()
    return units_of(trimmed(state.document.text, section.span).of(state.document.text))


def _other_sections(state: TaskState) -> Iterator[BriefSection]:
    """Yield a section of the brief for each section that the kind declares and the table does not cover."""
    for spec in kind(state.kind).sections:
        section = None if spec.key in _IN_OTHER_SECTIONS | _NOT_SHOWN else state.section(spec.name)
        units = _section_units(state, section, spec.key) if section else ()
        if units:
            keep = _SECTION_KEEP.get(spec.key, _DEFAULT_KEEP)
            yield BriefSection(BriefSectionSpec(spec.key, spec.name, keep, SHOW_SECTION), units)


def _section_units(state: TaskState, section: Section, key: str) -> tuple[Unit, ...]:
    children = state.document.children(section, PART_LEVEL)
    lead_end = children[0].span.start if children else section.body.end
    lead = state.document.text[section.body.start : lead_end].strip("\r\n")
    if not children:
        return () if not lead or kind(state.kind).is_placeholder(lead) else units_of(lead)
    ordered = reversed(children) if key in _NEWEST_LAST else children
    return (
        *(units_of(lead) if lead else ()),
        *(unit for child in ordered for unit in _filled_section_units(state, child)),
    )


def _mappings(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

"""What a brief is put together from: its parts, how long each one is kept, and what of a task stands in it.

Which parts there are, and which go first when the budget is short, is a table. A part consists of units, which are cut
whole: a list item, a paragraph, a code fence. Pure: who reads the template of the protocol passes it in.
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
    from taskstate.syntax.document import Document, Section

ALWAYS = 0  # what is kept even where it does not fit


class SectionSpec(NamedTuple):
    """A part that a brief may have: how long it is kept (the smallest longest), and the command that shows all of it.

    `field` is that of an export: a role that does without the field does without the part.
    """

    name: str
    title: str
    keep: int
    more: str
    field: str = ""


class Unit(NamedTuple):
    """A piece of a part that is held or cut as a whole; behind a `tight` one the next follows without a blank line.

    `number` is that of the session it belongs to. A `short` form stands in its place where the whole does not fit. What
    is put `aside` is not in the brief, and only told as left out.
    """

    text: str
    tight: bool = False
    number: int = 0
    short: str = ""
    aside: bool = False


class BriefSection(NamedTuple):
    """A part of a brief and the units that it has, the first of them those that are kept longest."""

    row: SectionSpec
    units: tuple[Unit, ...]
    heading: str = ""

    @property
    def title(self) -> str:
        """What the part is called: by its own heading, or as the table calls it."""
        return self.heading or self.row.title


SHOW_SECTION = 'taskstate show {id} --section "NAME"'
# In the order in which they are shown. Cut first is what is oldest: earlier sessions, then their summary, what came
# from other tasks, what the task is; last what is to be done next.
SECTION_SPECS = (
    SectionSpec("next", "Next step", ALWAYS, "taskstate show {id}"),
    SectionSpec("features", "Open features", ALWAYS, "taskstate show {id}"),
    SectionSpec("findings", "Blocking findings", 1, "taskstate role show {id}", "coordination"),
    SectionSpec("handoff", "Open handoff", 1, "taskstate handoff show {id}"),
    SectionSpec("session", "Newest session", 2, "taskstate session show {id} N"),
    SectionSpec("phase", "Phase", 3, "taskstate phase show {id} P"),
    SectionSpec("criteria", "Acceptance Criteria", 4, SHOW_SECTION, "criteria"),
    SectionSpec("commands", "Validation", 4, SHOW_SECTION, "commands"),
    SectionSpec("description", "Task Description", 5, SHOW_SECTION, "description"),
    SectionSpec("scope", "Scope", 5, SHOW_SECTION, "scope"),
    SectionSpec("standards", "Standards", 5, SHOW_SECTION, "standards"),
    SectionSpec("paths", "Repository Paths", 5, SHOW_SECTION, "paths"),
    SectionSpec("evidence", "Evidence", 6, "taskstate evidence show {id} EID", "evidence"),
    SectionSpec("inputs", "Chain Inputs", 7, SHOW_SECTION, "inputs"),
    SectionSpec("summary", "Archived Summary", 8, "taskstate session show {id} N"),
    SectionSpec("sessions", "Earlier sessions", 9, "taskstate session show {id} N"),
)
# How long the sections of other kinds are kept; one that is not named stands between the named ones.
_SECTION_KEEP = {
    "user intent": 1,
    "constraints": 2,
    "phase status": 3,
    "architecture decisions": 5,
    "codebase impact map": 6,
    "change log": 7,
}
_UNNAMED = 4
_NEWEST_LAST = frozenset({"architecture decisions"})
# Sections that other parts stand for, and those that say nothing to who goes on.
_TAKEN = frozenset({"static context", "chain inputs", "feature checklist", "progress log"})
_LEFT_ALONE = frozenset({"git history", "chain output", "notes"})
_NOTHING = ("", "None.", "None")  # what says that there are no inputs
_ITEM = r"(?:[-*+]|\d{1,9}[.)])[ \t]"


def brief_sections(state: TaskState, blocks: ToolBlocks, folder: str, sessions: int) -> tuple[BriefSection, ...]:
    """Return the parts of a task's brief that say something, in the order in which they are shown.

    `blocks` are those of its front matter, `folder` the state folder's path from the repository's root, `sessions` how
    many of the newest sessions are wanted.
    """
    if not _TAKEN & {section.key for section in kind(state.kind).sections}:
        return tuple(_sections(state))
    static = read_static(state)
    makers: dict[str, Callable[[], Iterable[Unit]]] = {
        "next": lambda: _next(state),
        "features": lambda: _features(state),
        "findings": lambda: _findings(blocks),
        "handoff": lambda: _handoff(state, blocks, folder),
        "session": lambda: _session(state.sessions[-1]) if state.sessions else (),
        "phase": lambda: _phases(state),
        "inputs": lambda: _inputs(state),
        "summary": lambda: _summary(state),
        "sessions": lambda: _earlier(state, sessions - 1),
        "evidence": lambda: _evidence(blocks),
    }
    told = {name: tuple(make()) for name, make in makers.items()} | _static(state, static)
    headings = {"summary": state.summary.section.title} if state.summary else {}
    found = (BriefSection(row, told[row.name], headings.get(row.name, "")) for row in SECTION_SPECS)
    return (*(part for part in found if part.units), *_sections(state))


def units_of(text: str, number: int = 0) -> tuple[Unit, ...]:
    """Return a text cut where one may cut it: between list items and paragraphs, never in a fence or an HTML block."""
    text = with_newlines(text, "\n").strip("\n")
    opaque = [block.span for block in read_blocks(text) if block.kind != "heading"]
    places = [0]
    at, blank = 0, False
    for line in text.split("\n"):
        begins = bool(re.match(_ITEM, line)) or (blank and line[:1] not in {" ", "\t"})
        if at and line.strip(" \t") and begins and not any(span.start < at < span.end for span in opaque):
            places.append(at)
        blank = not line.strip(" \t")
        at += len(line) + 1
    pieces = [text[start:end] for start, end in zip(places, [*places[1:], len(text)], strict=True)]
    return tuple(
        Unit(_closed(piece.strip("\n")), tight=not piece.endswith("\n\n"), number=number)
        for piece in _with_headings(pieces)
    )


def _with_headings(pieces: list[str]) -> list[str]:
    """Return the pieces with each heading, and each label, put before what it stands over."""
    joined: list[str] = []
    waiting = ""
    for piece in pieces:
        waiting += piece
        line = piece.strip("\n")
        if not (line.startswith("#") or (line.startswith("**") and line.endswith(":**"))) or "\n" in line:
            joined.append(waiting)
            waiting = ""
    return [*joined, waiting] if waiting.strip() else joined


def _closed(text: str) -> str:
    """Return a text with its last fence closed, so that it takes nothing that follows."""
    if "```" not in text and "~~~" not in text:
        return text
    fences = [block for block in read_blocks(text) if block.kind == "fence"]
    if not fences or fences[-1].closed:
        return text
    opening = fences[-1].span.of(text).lstrip(" ")
    return f"{text}\n{opening[: len(opening) - len(opening.lstrip(opening[0]))]}"


def _items(texts: Iterable[str]) -> tuple[Unit, ...]:
    return tuple(Unit("- " + text.replace("\n", "\n  "), tight=True) for text in texts)


def _next(state: TaskState) -> tuple[Unit, ...]:
    steps = [step for step in state.next_steps if step.strip()]
    if steps:
        return _items(steps)
    waiting = state.checklist.open if state.checklist else ()
    first = f"begin with the feature {waiting[0].id}" if waiting else "begin with the acceptance criteria"
    return _items([f"No session names one: {first}."])


def _features(state: TaskState) -> tuple[Unit, ...]:
    """Return the open features, each with its id alone for its short form."""
    found = []
    for each in state.checklist.open if state.checklist else ():
        whole = f"- {each.id}: {each.description}".replace("\n", " ").rstrip(": ")
        found.append(Unit(whole, tight=True, short=f"- {each.id}"))
    return tuple(found)


def _findings(blocks: ToolBlocks) -> tuple[Unit, ...]:
    return _items(f"{role.name}: {finding}" for role in blocks.roles.values() for finding in role.findings)


def _handoff(state: TaskState, blocks: ToolBlocks, folder: str) -> tuple[Unit, ...]:
    path = blocks.handoffs.open
    if path is None:
        return ()
    return _items([f"`{folder}/{path}`: read it first, then `taskstate handoff accept {state.id}`"])


def _session(session: Session) -> tuple[Unit, ...]:
    return units_of(session.entry, session.number)


def _earlier(state: TaskState, wanted: int) -> Iterator[Unit]:
    """Yield the sessions before the newest one, from the newest to the oldest."""
    for place, each in enumerate(reversed(state.sessions[:-1])):
        if place < wanted:
            yield from _session(each)
        else:
            yield Unit(each.entry, number=each.number, aside=True)


def _phases(state: TaskState) -> Iterator[Unit]:
    """Yield the objective of each phase that is under way, and what was tried in it."""
    for part in phases.phases_in(state):
        read = state.document.json(part.fences[0]) if part.fences else None
        value = None if read is None or isinstance(read, Fault) else read.value()
        if isinstance(value, dict) and value.get("current_objective") is not None:
            yield from _phase(part.section.title, value)


def _phase(title: str, value: Mapping[str, object]) -> Iterator[Unit]:
    current = value["current_objective"]
    for each in _maps(value.get("objectives")):
        if each.get("id") == current:
            note = f" ({each['note']})" if each.get("note") else ""
            yield Unit(f"{title}: objective {current}, {each.get('description')}{note}")
    yield from _items(
        f"Tried: {each.get('approach')}: {each.get('result')}" for each in _maps(value.get("approaches_tried"))
    )


def _static(state: TaskState, static: StaticPart) -> dict[str, tuple[Unit, ...]]:
    criteria = (f"{each.number}. [{'x' if each.checked else ' '}] {each.text}" for each in state.criteria)
    scope = [*(f"In: {each}" for each in static.scope_in), *(f"Out: {each}" for each in static.scope_out)]
    return {
        "criteria": tuple(Unit(each.replace("\n", "\n   "), tight=True) for each in criteria),
        "commands": _items(f"`{each}`" for each in static.commands),
        "description": (*(units_of(static.description) if static.description else ()), *_of_their_own(state)),
        "scope": _items(scope),
        "standards": _items(_citation(each) for each in static.standards),
        "paths": _items(static.paths),
    }


def _of_their_own(state: TaskState) -> Iterator[Unit]:
    """Yield what people have written about the task under headings of their own."""
    section = state.section(SECTION)
    spec = kind(state.kind).section(SECTION)
    for child in state.document.children(section, PART_LEVEL) if section and spec else ():
        if spec and spec.subsection(child.title) is None:
            yield from _filled(state, child)


def _citation(citation: Mapping[str, object]) -> str:
    """Return a citation as a reference: where it stands, and what it asks for in a few words."""
    span = f" {citation['line_span']}" if citation.get("line_span") else ""
    return f"{citation.get('file')}#{citation.get('section')}{span}: {citation.get('requirement')}"


def _evidence(blocks: ToolBlocks) -> tuple[Unit, ...]:
    return _items(
        f"{each.get('id')}: {each.get('path')}{' ' + str(each['lines']) if each.get('lines') else ''}"
        for each in blocks.evidence
    )


def _inputs(state: TaskState) -> Iterator[Unit]:
    """Yield what other tasks handed down, quoted as it stands, so that it is no part of this task's own structure."""
    document = state.document
    comments = {each.comment.start: each for each in chain.inputs_of(document)}
    section = state.section(chain.INPUTS)
    lead = section.own.of(document.text).strip() if section else ""
    if lead not in _NOTHING and not kind(state.kind).is_placeholder(lead):
        yield from units_of(lead)
    for child in document.children(section, PART_LEVEL) if section else ():
        pulled = next((each for start, each in comments.items() if child.span.start < start < child.span.end), None)
        if pulled is None:
            yield from _filled(state, child)
            continue
        quoted = chain_quotes.unquoted(pulled.quote.of(document.text))
        lines = ["\n".join(f"> {line}".rstrip() for line in unit.text.split("\n")) for unit in units_of(quoted)]
        heading = f"### {child.title} (revision {pulled.revision})"
        yield from (Unit(f"{heading}\n\n{line}" if not number else line) for number, line in enumerate(lines))


def _filled(state: TaskState, section: Section) -> tuple[Unit, ...]:
    """Return the units of a section with its heading, or none where it holds nothing but a placeholder."""
    body = section.body.of(state.document.text).strip()
    if not body or kind(state.kind).is_placeholder(body):
        return ()
    return units_of(trimmed(state.document.text, section.span).of(state.document.text))


def _summary(state: TaskState) -> tuple[Unit, ...]:
    return units_of(state.summary.section.body.of(state.document.text)) if state.summary else ()


def _sections(state: TaskState) -> Iterator[BriefSection]:
    """Yield a part for each section that the kind declares and the table does not know."""
    for spec in kind(state.kind).sections:
        section = None if spec.key in _TAKEN | _LEFT_ALONE else state.section(spec.name)
        units = _section(state, section, spec.key) if section else ()
        if units:
            yield BriefSection(
                SectionSpec(spec.key, spec.name, _SECTION_KEEP.get(spec.key, _UNNAMED), SHOW_SECTION), units
            )


def _section(state: TaskState, section: Section, key: str) -> tuple[Unit, ...]:
    document = state.document
    children = document.children(section, PART_LEVEL)
    lead = _body(document, section.body.start, children[0].span.start if children else section.body.end)
    if not children:
        return () if not lead or kind(state.kind).is_placeholder(lead) else units_of(lead)
    ordered = reversed(children) if key in _NEWEST_LAST else children
    return (*(units_of(lead) if lead else ()), *(unit for child in ordered for unit in _filled(state, child)))


def _body(document: Document, start: int, end: int) -> str:
    return document.text[start:end].strip("\r\n")


def _maps(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

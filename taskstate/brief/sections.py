"""Makes the sections of a brief from a task, and declares how long each is kept when the budget is short.

`SECTION_SPECS` is the table of sections. A section consists of units that are kept or cut as a whole: a list item, a
paragraph, a code fence. Pure.
"""

from __future__ import annotations

import re

from taskstate.brief.units import Unit, foreign, list_units, newest_first, units_of
from taskstate.model import chain, chain_quotes, phases
from taskstate.model.criteria import shown_criteria
from taskstate.model.document_kinds import kind_of, section_key
from taskstate.model.progress_log import labelled_fields
from taskstate.model.session_texts import DID, ENTRY_FORM, ISSUES, NEXT, OUTCOME, VERIFICATION
from taskstate.model.static_context import SECTION, read_static
from taskstate.model.task_state import PART_LEVEL, SECTION_LEVEL, json_fence
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import Span, trimmed, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from taskstate.model.progress_log import Session
    from taskstate.model.static_context import StaticPart
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.syntax.document import Section

ALWAYS = 0  # kept even where it does not fit
BACKGROUND = 5  # from here on: what helps to understand the task; what comes before says what to do


class BriefSectionSpec(NamedTuple):
    """A section that a brief may have; `keep` is its priority, where the lowest number is kept longest.

    `more` is the command that shows all of it, of the `name` or the session `number` that is left out. `field` names a
    field of the export: a role that does not get the field does not get the section.
    """

    name: str
    title: str
    keep: int
    more: str
    field: str = ""


class BriefSection(NamedTuple):
    """A section of a brief with its units, those kept longest first."""

    spec: BriefSectionSpec
    units: tuple[Unit, ...]
    heading: str = ""

    @property
    def title(self) -> str:
        """The title: the heading of the section in the state file, or the one of the table."""
        return self.heading or self.spec.title


SHOW_SECTION = "taskstate show {id} --section {name}"
_STATIC, _SUMMARY = (SHOW_SECTION.replace("{name}", f"'{name}'") for name in (SECTION, "Archived Summary"))
_SESSION = "taskstate session show {id} {number}"
# In the order in which they are shown. The archived summary is cut first, then the rest of the earlier sessions, the
# issues that the summary calls open, and how each earlier session begins; then what came from other tasks, then what
# the newest session did, then the description of the task.
SECTION_SPECS = (
    BriefSectionSpec("findings", "Open findings", 1, "taskstate role show {id}", "coordination"),
    BriefSectionSpec("attention", "Look first", ALWAYS, "taskstate status {id}"),
    BriefSectionSpec("handoff", "Open handoff", 1, "taskstate handoff show {id}"),
    BriefSectionSpec("next", "Next step", ALWAYS, "taskstate show {id}"),
    BriefSectionSpec("features", "Open features", ALWAYS, "taskstate show {id}"),
    BriefSectionSpec("session", "Newest session", 2, _SESSION),
    BriefSectionSpec("phase", "Phase", 3, "taskstate phase show {id}"),
    BriefSectionSpec("criteria", "Acceptance Criteria", 4, _STATIC, "criteria"),
    BriefSectionSpec("commands", "Validation", 4, _STATIC, "commands"),
    BriefSectionSpec("description", "Task Description", BACKGROUND, _STATIC, "description"),
    BriefSectionSpec("scope", "Scope", 4, _STATIC, "scope"),
    BriefSectionSpec("standards", "Standards", 4, _STATIC, "standards"),
    BriefSectionSpec("paths", "Repository Paths", 4, _STATIC, "paths"),
    BriefSectionSpec("evidence", "Evidence", 6, "taskstate evidence show {id}", "evidence"),
    BriefSectionSpec("inputs", "Chain Inputs", 7, SHOW_SECTION, "inputs"),
    BriefSectionSpec("summary", "Archived Summary", 11, _SUMMARY),
    BriefSectionSpec("sessions", "Earlier sessions", 10, _SESSION),
)
# The priority of the sections of other kinds; all that are not named have `_DEFAULT_KEEP`.
_SECTION_KEEP = {
    "user intent": 1,
    "constraints": 2,
    "phase status": 3,
    "architecture decisions": 5,
    "codebase impact map": 6,
    "change log": 7,
    "notes": 7,
}
_DEFAULT_KEEP = 4
_DID_KEEP = 6
_BEGINNING_KEEP, _OPEN_ISSUES_KEEP = 8, 9  # of each earlier session, and of the archived summary
_BEGINNING = 3  # units of a session: its heading, who it is by, and what was done first
_PAST = {VERIFICATION.field, OUTCOME.field}  # what a later session has outdone
_CHECKED = r"\d+ passed\b.*\Z"  # in a line, as a turn tells it: features and the baseline say the same
_OWN_KEEP = 7  # of sections and lines that no kind declares
_OPEN_ISSUES, _SUMMARY_LISTS = "issues encountered", ("key accomplishments", "issues resolved")
_NEWEST_LAST = frozenset({"architecture decisions"})
# Sections of the state file that the table covers, and those that tell nothing that helps to go on with the task.
_IN_OTHER_SECTIONS = frozenset({"static context", "chain inputs", "feature checklist", "progress log"})
_NOT_SHOWN = frozenset({"git history", "chain output"})
_NOTHING = ("", "None.", "None")  # texts for "no inputs" and "no issues"


def brief_sections(
    state: TaskState, blocks: ToolBlocks, *, folder: str, sessions: int, attention: tuple[str, ...] = ()
) -> tuple[BriefSection, ...]:
    """Return the sections of a task's brief that are not empty, in the order in which they are shown.

    `blocks` are those of its front matter, `folder` is the state folder's path from the repository's root, `sessions`
    the number of newest sessions to include, `attention` what to look at first.
    """
    other = (*_other_sections(state), *_undeclared_sections(state))
    if not _IN_OTHER_SECTIONS & {section.key for section in kind_of(state.document).sections}:
        first = next(BriefSection(row, list_units(attention)) for row in SECTION_SPECS if row.name == "attention")
        return (*((first,) if attention else ()), *other)
    static = read_static(state)
    makers: dict[str, Callable[[], Iterable[Unit]]] = {
        "next": lambda: _next_units(state),
        "features": lambda: _feature_units(state),
        "findings": lambda: _finding_units(blocks),
        "attention": lambda: list_units(attention),
        "handoff": lambda: _handoff_units(state, blocks, folder),
        "session": lambda: _session_units(state.sessions[-1], newest=True) if state.sessions else (),
        "phase": lambda: _phase_units(state),
        "inputs": lambda: _input_units(state),
        "summary": lambda: _summary_units(state),
        "sessions": lambda: _earlier_sessions(state, sessions - 1),
        "evidence": lambda: _evidence_units(blocks),
    }
    units = {name: tuple(make()) for name, make in makers.items()} | _static_units(state, static)
    headings = {"summary": state.summary.section.title} if state.summary else {}
    if state.sessions:
        headings["session"] = f"Newest: {state.sessions[-1].section.title}"
    sections = (BriefSection(row, units[row.name], headings.get(row.name, "")) for row in SECTION_SPECS)
    return (*(part for part in sections if part.units), *other)


def _next_units(state: TaskState) -> tuple[Unit, ...]:
    steps = [step for step in state.told_steps if step.strip()]
    if steps:
        return list_units(steps)
    waiting = state.open_features
    first = f"begin with the feature {waiting[0].id}" if waiting else "begin with the acceptance criteria"
    return list_units([f"No session names one: {first}."])


def _feature_units(state: TaskState) -> tuple[Unit, ...]:
    """Return the open features; the short form of each is its id."""
    units = []
    for each in state.open_features:
        text = f"- {each.id}: {each.description}".replace("\n", " ").rstrip(": ")
        units.append(Unit(text, tight=True, short=f"- {each.id}"))
    return tuple(units)


def _finding_units(blocks: ToolBlocks) -> tuple[Unit, ...]:
    """Return the findings that nobody has cleared: also answered ones, which wait for the role that raised them."""
    found = [(role.name, each) for role in blocks.roles.values() for each in role.findings]
    lines = [f"{name}: {each}" for name, each in found]
    waits = any(each.is_open for _, each in found)
    return list_units([*lines, "`finish` answers each: `--answer N=T`"] if waits else lines)


def _handoff_units(state: TaskState, blocks: ToolBlocks, folder: str) -> tuple[Unit, ...]:
    path = blocks.handoffs.open
    if path is None:
        return ()
    return list_units([f"`{folder}/{path}`: read it first, then `taskstate handoff accept {state.id}`"])


def _session_units(session: Session, *, newest: bool = False) -> tuple[Unit, ...]:
    """Return the units of a session, without issues where there are none; of an earlier one, what still tells.

    The newest session is a section with its heading, and its next steps are a section, too. What it did is kept less
    long than its state and its issues.
    """
    text = session.document.text
    fields = sorted(session.fields.items(), key=lambda field: field[1].label_span)
    starts = [
        session.section.body.start if newest else session.span.start,
        *(field.label_span.start for _, field in fields),
    ]
    ends = [*starts[1:], session.span.end]
    units = units_of(text[starts[0] : ends[0]], session.number)
    for (name, field), start, end in zip(fields, starts[1:], ends[1:], strict=True):
        is_whole = not text[field.span.end : end].strip()
        is_empty = name == ISSUES.field and set(session.issues) <= {*_NOTHING}
        is_shown = name == NEXT.field and newest and _is_list_of(field.span.of(text), session.next)
        is_past = name in _PAST and (not newest or bool(re.match(_CHECKED, field.span.of(text))))
        if not (is_whole and (is_empty or is_shown or is_past)):
            keep = _DID_KEEP if newest and name == DID.field else 0
            units += tuple(unit._replace(keep=keep) for unit in units_of(text[start:end], session.number))
    return units


def _is_list_of(text: str, items: tuple[str, ...]) -> bool:
    """Return whether a text holds nothing but these items."""
    plain = re.compile(r"[\s*+\-]")
    return plain.sub("", text) == plain.sub("", "".join(items))


def _summary_units(state: TaskState) -> Iterator[Unit]:
    """Yield the archived summary: what is open, was done, is resolved, each from the newest on; then all else."""
    if state.summary is None:
        return
    text, body = state.document.text, state.summary.section.body
    fields = labelled_fields(state.document, state.summary.section)
    found = [fields[name] for name in (_OPEN_ISSUES, *_SUMMARY_LISTS) if name in fields]
    for field in found:
        keep = _OPEN_ISSUES_KEEP if field is fields.get(_OPEN_ISSUES) else 0
        units = units_of(text[field.label_span.start : field.span.end])
        yield from (unit._replace(keep=keep) for unit in newest_first(units))
    lists = sorted(Span(each.label_span.start - body.start, each.span.end - body.start) for each in found)
    yield from units_of(apply(body.of(text), [Edit(*each, "") for each in lists]))


def _earlier_sessions(state: TaskState, count: int) -> Iterator[Unit]:
    """Yield the sessions before the newest one, from the newest to the oldest."""
    for index, each in enumerate(reversed(state.sessions[:-1])):
        if index < count:
            units = _session_units(each)
            yield from (unit._replace(keep=_BEGINNING_KEEP) for unit in units[:_BEGINNING])
            yield from units[_BEGINNING:]
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
    yield from list_units(
        f"Tried: {each.get('approach')}: {each.get('result')}" for each in _mappings(value.get("approaches_tried"))
    )


def _static_units(state: TaskState, static: StaticPart) -> dict[str, tuple[Unit, ...]]:
    criteria = shown_criteria(state.document)
    description = [*foreign(state, units_of(static.description))]
    first = (each._replace(keep=BACKGROUND - 1) for each in description[:1])  # without it the rest says little
    scope = [*(f"In: {each}" for each in static.scope_in), *(f"Out: {each}" for each in static.scope_out)]
    return {
        "criteria": tuple(Unit(each.replace("\n", "\n   "), tight=True) for each in criteria),
        "commands": list_units(f"`{each}`" for each in static.commands),
        "description": (*first, *description[1:], *_own_heading_units(state)),
        "scope": list_units(scope),
        "standards": list_units(_citation_text(each) for each in static.standards),
        "paths": list_units(each for each in static.paths if each not in static.scope_in),
    }


def _own_heading_units(state: TaskState) -> Iterator[Unit]:
    """Yield the subsections of the static part that people added under headings of their own."""
    section = state.section(SECTION)
    spec = kind_of(state.document).section(SECTION)
    for child in state.document.children(section, PART_LEVEL) if section and spec else ():
        if spec and spec.subsection(child.title) is None:
            yield from _filled_section_units(state, child)


def _citation_text(citation: Mapping[str, object]) -> str:
    """Return a citation as one line: file, section, lines and the first sentence of the requirement."""
    span = f" {citation['line_span']}" if citation.get("line_span") else ""
    requirement = str(citation.get("requirement") or "")
    sentence = re.split(r"(?<=[.!?])\s", requirement, maxsplit=1)[0]
    return f"{citation.get('file')}#{citation.get('section')}{span}: {sentence}"


def _evidence_units(blocks: ToolBlocks) -> tuple[Unit, ...]:
    return list_units(
        f"{each.get('id')}: {each.get('path')}{' ' + str(each['lines']) if each.get('lines') else ''}"
        for each in blocks.evidence
    )


def _input_units(state: TaskState) -> Iterator[Unit]:
    """Yield the outputs of upstream tasks as block quotes, so that their headings add no sections to the brief."""
    document = state.document
    inputs = chain.inputs_of(document)
    section = state.section(chain.INPUTS)
    lead = section.own.of(document.text).strip() if section else ""
    if lead not in _NOTHING and not kind_of(state.document).is_placeholder(lead):
        yield from units_of(lead)
    for child in document.children(section, PART_LEVEL) if section else ():
        pulled_input = next((each for each in inputs if child.span.start < each.comment.start < child.span.end), None)
        if pulled_input is None:
            yield from _filled_section_units(state, child)
            continue
        quoted = chain_quotes.unquoted(pulled_input.quote.of(document.text))
        yield from _quoted_units(f"### {child.title} (revision {pulled_input.revision})\n\n", quoted)


def _quoted_units(heading: str, text: str) -> Iterator[Unit]:
    """Yield the units of a text as pieces of one block quote: also a blank line between two of them is quoted."""
    units, before = units_of(text), heading
    for number, unit in enumerate(units, 1):
        lines = "\n".join(f"> {line}".rstrip() for line in unit.text.split("\n"))
        yield Unit(f"{before}{lines}", tight=number < len(units))
        before = "" if unit.tight else ">\n"


def _filled_section_units(state: TaskState, section: Section, *, heading: bool = True) -> tuple[Unit, ...]:
    """Return the units of a section, with its heading or without, or none if it is empty or a placeholder."""
    text = state.document.text
    body = section.body.of(text).strip("\r\n")
    if not body.strip() or kind_of(state.document).is_placeholder(body):
        return ()
    return units_of(trimmed(text, section.span).of(text) if heading else body)


def _other_sections(state: TaskState) -> Iterator[BriefSection]:
    """Yield a section of the brief for each section that the kind declares and the table does not cover."""
    for spec in kind_of(state.document).sections:
        section = None if spec.key in _IN_OTHER_SECTIONS | _NOT_SHOWN else state.section(spec.name)
        units = _section_units(state, section, spec.key) if section else ()
        if units:
            keep = _SECTION_KEEP.get(spec.key, _DEFAULT_KEEP)
            yield BriefSection(BriefSectionSpec(spec.key, spec.name, keep, SHOW_SECTION), units)


def _undeclared_sections(state: TaskState) -> Iterator[BriefSection]:
    """Yield a section for each part that people added: lines above a subsection, subsections, and whole sections."""
    document, spec = state.document, kind_of(state.document)
    for section in document.sections:
        key = section_key(section.title)
        if section.level < SECTION_LEVEL:
            units = _lead_units(state, section)
        elif section.level > SECTION_LEVEL or (spec.section(section.title) and key not in _IN_OTHER_SECTIONS):
            continue
        elif spec.section(section.title) is None:
            units = _filled_section_units(state, section, heading=False)
        elif key == "chain inputs":
            continue  # it is shown as a whole
        else:
            units = _lead_units(state, section)
            for child in document.children(section, PART_LEVEL):
                units += _filled_section_units(state, child) if _is_own(state, key, child) else ()
        if units:
            yield BriefSection(BriefSectionSpec(key, section.title, _OWN_KEEP, SHOW_SECTION), units)


def _is_own(state: TaskState, key: str, child: Section) -> bool:
    """Return whether people added a subsection of a declared section, and the table does not cover it."""
    spec = kind_of(state.document).section(key)
    return key != section_key(SECTION) and spec is not None and spec.subsection(child.title) is None


def _lead_units(state: TaskState, section: Section) -> tuple[Unit, ...]:
    """Return the lines between a heading and the next one, without the json fence of a declared section."""
    text, lead = state.document.text, section.own
    fence = json_fence(state.document, lead)
    spec = kind_of(state.document).section(section.title)
    if fence and spec and spec.fence:
        lines = text[lead.start : fence.span.start].rstrip() + "\n\n" + text[fence.span.end : lead.end].lstrip("\r\n")
    else:
        lines = lead.of(text)
    says_nothing = with_newlines(lines, "\n").strip() in {"", ENTRY_FORM} or kind_of(state.document).is_placeholder(
        lines
    )
    return () if says_nothing else units_of(lines.strip("\r\n"))


def _section_units(state: TaskState, section: Section, key: str) -> tuple[Unit, ...]:
    children = state.document.children(section, PART_LEVEL)
    lead_end = children[0].span.start if children else section.body.end
    lead = state.document.text[section.body.start : lead_end].strip("\r\n")
    if not children:
        return () if not lead or kind_of(state.document).is_placeholder(lead) else units_of(lead)
    ordered = reversed(children) if key in _NEWEST_LAST else children
    return (
        *(units_of(lead) if lead else ()),
        *(unit for child in ordered for unit in _filled_section_units(state, child)),
    )


def _mappings(value: object) -> list[dict[str, object]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

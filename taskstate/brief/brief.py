"""Makes the brief of a task: what an agent needs to start on it, cut to a budget of tokens.

All units of a task are sorted by priority, and a brief holds the longest beginning of that list which fits, so a larger
budget never gives less. What to look at first, the next step and the ids of the open features are always kept; a
brief that exceeds its budget with these alone says so.
"""

from __future__ import annotations

from itertools import accumulate, pairwise, takewhile

from taskstate.brief.attention import FINDINGS, SHARED, attention, shared_context
from taskstate.brief.sections import ALWAYS, BACKGROUND, BriefSection, brief_sections
from taskstate.handoff import protocol, token_count
from taskstate.messages import counted, one_line, quoted
from taskstate.model import roles
from taskstate.model.config import export_drop
from taskstate.model.derived_values import session_counts
from taskstate.model.permanent import PERMANENT
from taskstate.model.write_metadata import blocks_of
from taskstate.permanent.readers import standings
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

_HUNDREDTHS = 100
_BACKGROUND = 85  # percent of the usual budget, up to which background is taken in
_DETAILS = 1  # priority of the descriptions of open features; their ids are always kept
_HUGE, _LAST = 4_000, 100  # a unit of over 4,000 characters comes last, or it would keep all others out
_MAX_TITLE = 80  # characters of a heading in the list of what is left out
_FACTS = ("priority", "area", "epic", "prd", "repository", "agent")  # keys of the front matter that a brief repeats
_ELSEWHERE = frozenset({FINDINGS, SHARED})  # what a brief shows in its head, or as a list of its own
_FOR_EVERY_ROLE = frozenset({"description"})  # fields that some exports leave out: nobody judges what he was not told


class Cut(NamedTuple):
    """Something that a brief leaves out: a description, and the command that shows it."""

    what: str
    command: str


class Brief(NamedTuple):
    """A brief: its text, the estimated tokens of that, the budget, what was cut, and whether it fits."""

    text: str
    tokens: int
    budget: int
    cut: tuple[Cut, ...]
    fits: bool


class _CuttableUnit(NamedTuple):
    """A unit that may be cut: its priority (lowest kept longest), and the indices of its section and of itself."""

    keep: int
    section: int
    unit: int


class _Source(NamedTuple):
    """Everything that a brief could hold: its head, its sections, and what the role does not get."""

    head: tuple[str, ...]
    sections: tuple[BriefSection, ...]
    withheld: tuple[Cut, ...]
    task_id: str


def brief(
    workspace: Workspace, loaded: Loaded, *, role: str = "", budget: int | None = None, reader: str = ""
) -> Brief:
    """Return the brief of a task, for a role or in general.

    With a `budget` it holds as much as fits. By default that is the configured one, of which background only fills the
    most part: a reader needs no full page. And it has only as many sessions as archiving keeps, so that archiving does
    not change the brief.

    Raises:
        TaskstateError: there is no such role.
    """
    if role:
        roles.require_role(role, workspace.config.roles)
    if budget is None:
        source = _source(workspace, loaded, role, workspace.config.size.keep_sessions, reader)
        budget = workspace.config.brief.budget
        return _within(source, budget, budget * _BACKGROUND // 100)
    return _within(_source(workspace, loaded, role, len(loaded.state.sessions), reader), budget, budget)


def _within(source: _Source, budget: int, background: int) -> Brief:
    """Return the brief with as many units as fit the budget; those of the background only up to a smaller one."""
    pieces = _cuttable_units(source)
    running_costs = accumulate(_unit_costs(source, pieces), initial=_weight(_render(source, set(), ())))
    costs = [*takewhile(lambda cost: cost <= budget * _HUNDREDTHS, running_costs)]
    for count in range(len(costs) - 1, -1, -1):
        most = background if count and pieces[count - 1].keep >= BACKGROUND else budget
        if costs[count] > most * _HUNDREDTHS:
            continue  # the notes about what is left out come on top
        included = {(piece.section, piece.unit) for piece in pieces[:count]}
        cut = _left_out(source, included)
        if costs[count] + _weight("\n".join(_notes(cut))) <= most * _HUNDREDTHS:
            text = printable(_render(source, included, _notes(cut)))
            needed = token_count.estimate(text)
            if needed <= most:
                return Brief(text, needed, budget, cut, fits=True)
    return _least(source, budget)


def shape(loaded: Loaded, result: Brief, role: str) -> dict[str, object]:
    """Return a brief as JSON values."""
    state = loaded.state
    return {
        "id": state.id,
        "path": loaded.relative,
        "kind": state.kind,
        "title": printable(state.title),
        "status": state.status,
        "token": loaded.token,
        "role": role or None,
        "next_steps": [printable(step) for step in state.next_steps],
        "open_features": [{"id": each.id, "description": printable(each.description)} for each in state.open_features],
        "budget": result.budget,
        "tokens": result.tokens,
        "counter": token_count.ESTIMATE,
        "fits": result.fits,
        "cut": [each._asdict() for each in result.cut],
        "text": result.text,
    }


def _least(source: _Source, budget: int) -> Brief:
    """Return the brief of only what is always kept, which exceeds the budget."""
    cut = _left_out(source, set())
    warning = f"This is the shortest possible brief, longer than the {budget:,} tokens that were asked for."
    text = printable(_render(source, set(), (*_notes(cut), "", warning)))
    return Brief(text, token_count.estimate(text), budget, cut, fits=False)


def _source(workspace: Workspace, loaded: Loaded, role: str, sessions: int, reader: str) -> _Source:
    state = loaded.state
    blocks = blocks_of(state.document)
    hidden_fields = {*export_drop(workspace.config, role)} - _FOR_EVERY_ROLE if role else set()
    lines = tuple(each.line for each in attention(workspace, loaded, without=_ELSEWHERE))
    sections = brief_sections(state, blocks, folder=workspace.config.root, sessions=sessions, attention=lines)
    withheld = [section for section in sections if section.spec.field in hidden_fields]
    return _Source(
        head=(*_head(workspace, loaded, blocks, role), *_shared(workspace, loaded, reader)),
        sections=tuple(
            section for section in sections if section.spec.field not in hidden_fields or not section.spec.field
        ),
        withheld=tuple(Cut(f"not for this role: {each.title}", _command(each, state.id)) for each in withheld),
        task_id=state.id,
    )


def _head(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks, role: str) -> tuple[str, ...]:
    state, version = loaded.state, blocks.values.get("version")
    facts = (
        f"status {state.status or 'unknown'}",
        *(f"{key} {text}" for key in _FACTS if (text := " ".join((state.text(key) or "").split()))),
        *([f"version PT-v{version}"] if isinstance(version, int) else ()),
        *([_counts_text(state)] if state.kind != PERMANENT else ()),
        f"revision {loaded.token}",
        f"`{loaded.relative}`",
    )
    lines = [f"# Task {state.id}: {' '.join(state.title.split())}", "", ", ".join(facts)]
    if role or blocks.values.get("coordination"):
        standing = (f"{name} {blocks.role(name).values.get('status', 'unknown')}" for name in workspace.config.roles)
        lines += ["", f"{f'Your role: {role}. ' if role else ''}Roles: {', '.join(standing)}"]
    return (*lines, "", protocol.short(workspace, protocol.Subject(state.id, state.kind), role=role))


def _shared(workspace: Workspace, loaded: Loaded, reader: str) -> tuple[str, ...]:
    line = shared_context(loaded, standings(workspace), reader)
    return ("", f"Shared context of all tasks: {line}") if line else ()


def _counts_text(state: TaskState) -> str:
    counts = session_counts(state)
    archived = f" ({counts.archived} archived)" if counts.archived else ""
    features = f", {state.checklist.passing} of {len(state.checklist.counted)} features pass" if state.checklist else ""
    return f"{counted(counts.total, 'session')}{archived}{features}"


def _cuttable_units(source: _Source) -> list[_CuttableUnit]:
    """Return the units that may be cut, those kept longest first."""
    units = []
    for number, section in enumerate(source.sections):
        for index, unit in enumerate(section.units):
            if (section.spec.keep == ALWAYS and not unit.short) or unit.aside:
                continue
            keep = _DETAILS if section.spec.keep == ALWAYS else unit.keep or section.spec.keep
            units.append(_CuttableUnit(keep + (_LAST if len(unit.text) > _HUGE else 0), number, index))
    return sorted(units)


def _unit_costs(source: _Source, cuttable_units: list[_CuttableUnit]) -> Iterator[int]:
    """Yield the cost of each unit in hundredths of a token; the first of a section includes its heading."""
    with_heading = {number for number, section in enumerate(source.sections) if section.spec.keep == ALWAYS}
    for cuttable in cuttable_units:
        section = source.sections[cuttable.section]
        unit = section.units[cuttable.unit]
        heading = 0 if cuttable.section in with_heading else _weight(f"## {section.title}")
        with_heading.add(cuttable.section)
        yield heading + _weight(unit.text) - (_weight(unit.short) if unit.short else 0)


def _render(source: _Source, included: set[tuple[int, int]], notes: tuple[str, ...]) -> str:
    """Return the text of a brief with the units in `included` (indices of section and unit), and those always kept."""
    lines = [*source.head]
    for number, section in enumerate(source.sections):
        units = [
            unit if (number, index) in included or not unit.short else unit._replace(text=unit.short)
            for index, unit in enumerate(section.units)
            if (number, index) in included or section.spec.keep == ALWAYS
        ]
        if units:
            lines += ["", f"## {section.title}", ""]
            for unit, following in pairwise(units):
                is_tight = unit.tight and not following.text.startswith("#")
                lines.append(unit.text if is_tight else f"{unit.text}\n")
            lines.append(units[-1].text)
    return "\n".join([*lines, *notes]) + "\n"


def _left_out(source: _Source, included: set[tuple[int, int]]) -> tuple[Cut, ...]:
    """Return what is left out, one entry for each command that shows it, or the newest of several sessions."""
    by_command: dict[str, dict[str, int]] = {}
    for number, section in enumerate(source.sections):
        indices = [index for index, unit in enumerate(section.units) if section.spec.keep != ALWAYS or unit.short]
        missing = {index for index in indices if (number, index) not in included}
        if missing:
            texts = by_command.setdefault(_command(section, source.task_id), {})
            texts[_missing_text(section, indices, missing)] = max(section.units[index].number for index in missing)
    newest = {command: str(max(texts.values())) for command, texts in by_command.items()}
    cut = (Cut(", ".join(texts), each.replace("{number}", newest[each])) for each, texts in by_command.items())
    return (*cut, *source.withheld)


def _command(section: BriefSection, task_id: str) -> str:
    """Return the command that shows a section; for one of a session `{number}` stands in it."""
    name = section.title if len(section.title) <= _MAX_TITLE else "NAME"
    return section.spec.more.format(id=task_id, name=quoted(name), number="{number}")


def _missing_text(section: BriefSection, indices: list[int], missing: set[int]) -> str:
    """Describe what is missing of a section: the numbers of its sessions, or how many of its units."""
    if section.spec.keep == ALWAYS:
        return f"what {len(missing)} of {len(indices)} open features are about"
    numbers = sorted({section.units[index].number for index in missing} - {0})
    if numbers:
        shown = {section.units[index].number for index in indices if index not in missing}
        partly = ", ".join(str(each) for each in numbers if each in shown)
        if len(numbers) == 1:
            return f"session {numbers[0]}{' (in part)' if partly else ''}"
        return f"sessions {numbers[0]}-{numbers[-1]}{f' ({partly} in part)' if partly else ''}"
    title = one_line(section.title, _MAX_TITLE)  # a heading may take all the budget
    return title if len(missing) == len(indices) else f"{title} ({len(missing)} of {len(indices)})"


def _notes(cut: tuple[Cut, ...]) -> tuple[str, ...]:
    return ("", "## Left out", "", *(f"- {each.what}: `{each.command}`" for each in cut)) if cut else ()


def _weight(text: str) -> int:
    return token_count.weight("\n" + text)

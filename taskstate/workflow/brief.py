"""The brief: what an agent needs to start on a task, cut to a number of tokens, and what was cut.

All pieces of a task stand in one order, by how long they are kept; a brief holds the longest beginning of it that
fits. So a larger budget never holds less. What is always kept (the protocol, the next step, the ids of the open
features) stays even where it alone is more than the budget, and then the brief says so.
"""

from __future__ import annotations

from itertools import accumulate, takewhile
from typing import TYPE_CHECKING, NamedTuple

from taskstate.context.preconditions import broken_fences
from taskstate.handoff import protocol, token_count
from taskstate.model import roles
from taskstate.model.config import export_drop
from taskstate.model.derived_values import session_counts
from taskstate.model.static_context import seal_broken
from taskstate.model.write_metadata import blocks_of
from taskstate.workflow.brief_sections import ALWAYS, SHOW_SECTION, BriefSection, brief_sections

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import ToolBlocks
    from taskstate.workspace.workspace import Loaded, Workspace

BUDGET = 4_000  # tokens, where nobody says how many
_HUNDREDTHS = 100
_DETAILS = 1  # how long what the open features are about is kept, besides their ids
_HUGE, _LAST = 4_000, 100  # a unit of over 4,000 characters comes after all others
_SHA = 12


class Cut(NamedTuple):
    """What a brief leaves out: the parts, in words, and the command that shows them."""

    what: str
    command: str


class Brief(NamedTuple):
    """A brief: its text, how many tokens that has by the estimate, what was cut, and whether it fits its budget."""

    text: str
    tokens: int
    budget: int
    cut: tuple[Cut, ...]
    fits: bool


class _Piece(NamedTuple):
    """A unit that may be cut: how long it is kept, and where it stands."""

    keep: int
    part: int
    unit: int


class _Source(NamedTuple):
    """All that a brief could hold: what it begins with, its parts, and what is not for the role."""

    head: tuple[str, ...]
    parts: tuple[BriefSection, ...]
    withheld: Cut | None
    task_id: str


def brief(workspace: Workspace, loaded: Loaded, *, role: str = "", budget: int | None = None) -> Brief:
    """Return the brief of a task for a role, or for whoever goes on with it.

    Who names a budget gets as much as fits it. Otherwise it is 4,000 tokens, and of the sessions as many as archiving
    keeps, so that a brief is the same before and after.

    Raises:
        TaskstateError: there is no such role; the project's own template of the protocol is wrong.
    """
    if role:
        roles.require_role(role, workspace.config.roles)
    sessions = workspace.config.size.keep_sessions if budget is None else len(loaded.state.sessions)
    return _within(_source(workspace, loaded, role, sessions), BUDGET if budget is None else budget)


def _within(source: _Source, budget: int) -> Brief:
    """Return the brief that holds as much as fits a budget."""
    pieces = _pieces(source)
    priced = accumulate(_costs(source, pieces), initial=_weight(_render(source, set(), ())))
    costs = [*takewhile(lambda cost: cost <= budget * _HUNDREDTHS, priced)]
    for count in range(len(costs) - 1, -1, -1):
        held = {(each.part, each.unit) for each in pieces[:count]}
        cut = _cut(source, held)
        if costs[count] + _weight("\n".join(_notes(cut))) <= budget * _HUNDREDTHS:
            text = _render(source, held, _notes(cut))
            needed = token_count.estimate(text)
            if needed <= budget:
                return Brief(text, needed, budget, cut, fits=True)
    return _least(source, budget)


def shape(loaded: Loaded, told: Brief, role: str) -> dict[str, object]:
    """Return a brief as programs read it."""
    state = loaded.state
    waiting = state.checklist.open if state.checklist else ()
    return {
        "id": state.id,
        "path": loaded.relative,
        "kind": state.kind,
        "title": state.title,
        "status": state.status,
        "token": loaded.token,
        "role": role or None,
        "next_steps": list(state.next_steps),
        "open_features": [{"id": each.id, "description": each.description} for each in waiting],
        "budget": told.budget,
        "tokens": told.tokens,
        "counter": token_count.ESTIMATE,
        "fits": told.fits,
        "cut": [each._asdict() for each in told.cut],
        "text": told.text,
    }


def _least(source: _Source, budget: int) -> Brief:
    """Return what is always kept, which is more than the budget."""
    cut = _cut(source, set())
    over = f"This is the least that a brief holds, and more than the {budget:,} tokens that it was to have."
    text = _render(source, set(), (*_notes(cut), "", over))
    return Brief(text, token_count.estimate(text), budget, cut, fits=False)


def _source(workspace: Workspace, loaded: Loaded, role: str, sessions: int) -> _Source:
    state = loaded.state
    blocks = blocks_of(state.document)
    dropped = export_drop(workspace.config, role) if role else ()
    all_parts = brief_sections(state, blocks, workspace.config.root, sessions)
    withheld = ", ".join(part.title for part in all_parts if part.row.field in dropped)
    short = protocol.short_protocol(workspace, role=role, task=(state.id, state.kind))
    return _Source(
        head=(*_head(workspace, loaded, blocks, role), "", short),
        parts=tuple(part for part in all_parts if part.row.field not in dropped or not part.row.field),
        withheld=Cut(f"not for this role: {withheld}", SHOW_SECTION.format(id=state.id)) if withheld else None,
        task_id=state.id,
    )


def _head(workspace: Workspace, loaded: Loaded, blocks: ToolBlocks, role: str) -> tuple[str, ...]:
    state, version = loaded.state, blocks.values.get("version")
    facts = (
        f"status {state.status or 'unknown'}",
        *(f"{key} {told}" for key in ("priority", "area") if (told := " ".join((state.text(key) or "").split()))),
        *([f"version PT-v{version}"] if isinstance(version, int) else ()),
        _counted(state),
        f"revision {loaded.token}",
        f"`{loaded.relative}`",
    )
    lines = [f"# Task {state.id}: {' '.join(state.title.split())}", "", ", ".join(facts)]
    if role or blocks.values.get("coordination"):
        stand = (f"{name} {blocks.role(name).values.get('status', 'unknown')}" for name in workspace.config.roles)
        lines.append(f"{f'Your role: {role}. ' if role else ''}Roles: {', '.join(stand)}")
    return (*lines, *_warnings(state, blocks))


def _counted(state: TaskState) -> str:
    counts = session_counts(state)
    archived = f" ({counts.archived} archived)" if counts.archived else ""
    features = f", {state.checklist.passing} of {len(state.checklist.counted)} features pass" if state.checklist else ""
    return f"{counts.total} sessions{archived}{features}"


def _warnings(state: TaskState, blocks: ToolBlocks) -> Iterable[str]:
    drifted = roles.unresolved(blocks)
    if drifted:
        yield (
            f"**Drift:** the tree is not what {' and '.join(drifted)} left. Look first: "
            f"`taskstate snapshot verify {state.id} --role {drifted[0]}`"
        )
    if seal_broken(state, blocks):
        yield f"**Changed since it was sealed:** what the task is. Look first: `taskstate context check {state.id}`"
    for broken in broken_fences(state):
        yield f"**Cannot be read:** {broken.message} (`taskstate lint`)"
    for problem in state.problems:
        yield f"**Cannot be read:** {problem.message} (`taskstate lint`)"


def _pieces(source: _Source) -> list[_Piece]:
    """Return what may be cut, in the order in which it is kept."""
    found = []
    for number, part in enumerate(source.parts):
        for place, unit in enumerate(part.units):
            if (part.row.keep == ALWAYS and not unit.short) or unit.aside:
                continue
            keep = _DETAILS if part.row.keep == ALWAYS else part.row.keep
            found.append(_Piece(keep + (_LAST if len(unit.text) > _HUGE else 0), number, place))
    return sorted(found)


def _costs(source: _Source, pieces: list[_Piece]) -> Iterator[int]:
    """Yield what each piece costs, in hundredths of a token; the first one of a part brings its heading."""
    seen = {number for number, part in enumerate(source.parts) if part.row.keep == ALWAYS}
    for piece in pieces:
        part = source.parts[piece.part]
        unit = part.units[piece.unit]
        heading = 0 if piece.part in seen else _weight(_heading(part))
        seen.add(piece.part)
        yield heading + _weight(unit.text) - (_weight(unit.short) if unit.short else 0)


def _render(source: _Source, held: set[tuple[int, int]], notes: tuple[str, ...]) -> str:
    """Return the text of a brief with the units that it holds, besides those that are always kept."""
    lines = [*source.head]
    for number, part in enumerate(source.parts):
        units = [
            unit if (number, place) in held or not unit.short else unit._replace(text=unit.short)
            for place, unit in enumerate(part.units)
            if (number, place) in held or part.row.keep == ALWAYS
        ]
        if units:
            lines += ["", _heading(part), ""]
            lines += [f"{unit.text}{'' if unit.tight else chr(10)}" for unit in units]
            lines[-1] = units[-1].text
    return "\n".join([*lines, *notes]) + "\n"


def _heading(part: BriefSection) -> str:
    return f"## {part.title}"


def _cut(source: _Source, held: set[tuple[int, int]]) -> tuple[Cut, ...]:
    """Return what is left out, the parts that one command shows together."""
    told: dict[str, list[str]] = {}
    for number, part in enumerate(source.parts):
        places = [place for place, unit in enumerate(part.units) if part.row.keep != ALWAYS or unit.short]
        missing = [place for place in places if (number, place) not in held]
        if missing:
            told.setdefault(part.row.more.format(id=source.task_id), []).append(_named(part, places, missing))
    cut = tuple(Cut(", ".join(names), command) for command, names in told.items())
    return (*cut, *([source.withheld] if source.withheld else ()))


def _named(part: BriefSection, places: list[int], missing: list[int]) -> str:
    """Return what is missing of a part, in words: the sessions, or how many of its units."""
    if part.row.keep == ALWAYS:
        return f"what {len(missing)} of {len(places)} open features are about"
    numbers = sorted({part.units[place].number for place in missing} - {0})
    if numbers:
        held = {part.units[place].number for place in places if place not in missing}
        partly = ", ".join(str(each) for each in numbers if each in held)
        if len(numbers) == 1:
            return f"session {numbers[0]}{' (in part)' if partly else ''}"
        return f"sessions {numbers[0]}-{numbers[-1]}{f' ({partly} in part)' if partly else ''}"
    return part.title if len(missing) == len(places) else f"{part.title} ({len(missing)} of {len(places)})"


def _notes(cut: tuple[Cut, ...]) -> tuple[str, ...]:
    return ("", "## Left out", "", *(f"- {each.what}: `{each.command}`" for each in cut)) if cut else ()


def _weight(text: str) -> int:
    return token_count.weight("\n" + text)

"""Reads the phases of a Feature Checklist, and decides which of a phase's objectives to work on.

Pure: shared by the commands that change phases and the rules that check them.
"""

from __future__ import annotations

import json

from taskstate.model.canonical_json import sha256
from taskstate.model.document_kinds import kind_of
from taskstate.model.statuses import BLOCKED, IN_PROGRESS, NOT_STARTED
from taskstate.model.task_state import PART_LEVEL, is_json_fence
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.model.document_kinds import SectionSpec
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document, Section
    from taskstate.syntax.markdown_blocks import Block

SCHEMA = "phase"
SECTION = "Feature Checklist"
_DIGEST = 16  # hex digits


class PhasePart(NamedTuple):
    """A phase in a document: its section, its name in the heading (`3` in `### Phase 3: …`), fences, and the title."""

    section: Section
    name: str
    fences: tuple[Block, ...]
    title: str = ""


def phases_in_section(document: Document, spec: SectionSpec, section: Section) -> Iterator[PhasePart]:
    """Yield the phases of one section whose headings its kind declares."""
    declared = [each for each in spec.subsections if each.fence and each.fence.schema == SCHEMA]
    for child in document.children(section, level=PART_LEVEL) if declared else ():
        groups = next((match for each in declared if (match := each.match(child.title)) is not None), None)
        if groups is not None:
            fences = tuple(each for each in document.blocks_in(child.own, "fence") if is_json_fence(each))
            title = groups.get("name", "").strip()
            title = f"{title[:-2]}#" if title.endswith("\\#") else title  # as a command writes it: see `with_phase`
            yield PhasePart(child, groups.get("phase", ""), fences, title)


def phases_in(state: TaskState) -> tuple[PhasePart, ...]:
    """Return the phases of a task, in the order of its file."""
    sections = ((spec, state.section(spec.name)) for spec in kind_of(state.document).sections)
    return tuple(
        part for spec, section in sections if section for part in phases_in_section(state.document, spec, section)
    )


def phase_id(text: str) -> int | str:
    """Return a phase's name in its heading as its fence has it: an integer where it is written as one."""
    return int(text) if text.isascii() and text.isdecimal() and str(int(text)) == text else text


def objective_to_work_on(objectives: Sequence[Mapping[str, Any]], current: object) -> object:
    """Return the id of the objective to work on: the current one while it is in progress, else the first in progress.

    Where none is in progress, the first that is not started, then the first that is blocked; None where all are done.
    """
    in_progress = [each["id"] for each in objectives if each.get("status") == IN_PROGRESS]
    if current is not None and current in in_progress:
        return current
    waiting = [each["id"] for status in (NOT_STARTED, BLOCKED) for each in objectives if each.get("status") == status]
    return next(iter((*in_progress, *waiting)), None)


def next_objective_id(objectives: Iterable[Mapping[str, Any]]) -> int:
    """Return the id of a new objective: one above the highest number among the ids."""
    numbers = [int(text) for each in objectives if (text := str(each.get("id"))).isascii() and text.isdecimal()]
    return max(numbers, default=0) + 1


def objectives_digest(phases: Iterable[Mapping[str, Any]]) -> str:
    """Return the beginning of a hash over all objectives, by which a later change to any of them is noticed."""
    content = [[str(phase.get("phase")), phase.get("objectives")] for phase in phases]
    return sha256(json.dumps(content, sort_keys=True))[:_DIGEST]

"""Lets the sessions that a side added name a finding by the number that the merge gives it.

Events keep the number under which they were acknowledged: an event is known by its very words.
"""

from __future__ import annotations

from taskstate.model.session_references import with_findings
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING
from taskstate.units.findings import moved_numbers
from taskstate.units.three_way import Versions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.task_state import TaskState


def findings_apart(versions: Versions[TaskState]) -> Versions[TaskState]:
    """Return the three versions whose sessions name each finding by its number after the merge.

    A number is never used again, so none that moves is named in what both sides had before.
    """
    moves = moved_numbers(versions.each(lambda side: front_matter_values(side.document).get("coordination")))
    return Versions(*(_named(side, moved) if moved else side for side, moved in zip(versions, moves, strict=True)))


def _named(state: TaskState, moved: Mapping[int, int]) -> TaskState:
    log, text = state.section("Progress Log"), state.document.text
    if log is None:
        return state
    edit = Edit(*log.body, with_findings(log.body.of(text), moved))
    return read_state(state.document.with_text(apply(text, [edit])))

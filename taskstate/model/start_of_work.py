"""Says when a task counts as begun, whichever command begins it. Pure."""

from __future__ import annotations

from taskstate.model.document_kinds import kind_of
from taskstate.model.statuses import CREATED, IN_PROGRESS
from taskstate.model.write_metadata import set_front_matter
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.edits import Edit

# What is to be written before work begins, and the command for it.
_STARTING = {
    "Task Description": '`taskstate edit {} --description "TEXT"`',
    "Acceptance Criteria": '`taskstate criterion add {} "TEXT"`',
}


class StartOfWork(NamedTuple):
    """What the beginning of work changes in a file: notes, and the edits to `in_progress`; else nothing."""

    notes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()


def start_of_work(state: TaskState) -> StartOfWork:
    """Return the step to `in_progress` of a created task, once its description and criteria are written."""
    if state.status != CREATED:
        return StartOfWork()
    missing = unfilled(state)
    if missing:
        how = " and ".join(how_to_fill(state))
        return StartOfWork((f"the status stays `created` until something is written under {missing}: {how}",))
    return StartOfWork(("the task is now in_progress",), tuple(set_front_matter(state.document, "status", IN_PROGRESS)))


def unfilled(state: TaskState) -> str:
    """Return in words the parts without which no work begins and that are missing, empty, or still a placeholder."""
    return " and ".join(name for name in _STARTING if is_unfilled(state, name))


def how_to_fill(state: TaskState) -> tuple[str, ...]:
    """Return the commands that write the parts without which no work begins."""
    return tuple(command.format(state.id) for name, command in _STARTING.items() if is_unfilled(state, name))


def is_unfilled(state: TaskState, name: str) -> bool:
    """Return whether a part of the static context is missing, empty, or still its placeholder."""
    section = state.subsection("Static Context", name)
    text = section.body.of(state.document.text).strip() if section else ""
    return not text or kind_of(state.document).is_placeholder(text)

"""Decides whether a task has grown too long, and words which parts it could be and what one can do. Pure."""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.model.derived_values import exceeded, session_counts
from taskstate.model.statuses import CLOSED
from taskstate.model.write_metadata import blocks_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from taskstate.model.config import Size
    from taskstate.model.task_state import TaskState
    from taskstate.tasks.decomposition_plan import Subtask

GROWTH = 10  # sessions: a hint that comes every time is not read
DISMISSED = "size-dismissed"  # event


def is_too_long(state: TaskState, size: Size, *, sessions: int | None = None) -> bool:
    """Return whether an open task has too many sessions, or too large a file without any to archive.

    Not where it was dismissed, and has not grown since. `sessions` is how many it has, if not those of now.
    """
    if state.status in CLOSED:
        return False
    total = session_counts(state).total if sessions is None else sessions
    over = exceeded(state.size, kb=size.max_kb, tokens=size.max_tokens)
    is_stuck = bool(over) and len(state.sessions) <= size.keep_sessions
    return (total > size.max_sessions or is_stuck) and total >= told_again_at(state)


def told_again_at(state: TaskState) -> int:
    """Return with how many sessions a dismissed task is told of again; 0 where none was dismissed."""
    events = (each.entry for each in blocks_of(state.document).audit.events if each.event == DISMISSED)
    at = [each["sessions"] for each in events if isinstance(each, dict) and isinstance(each.get("sessions"), int)]
    return at[-1] + GROWTH if at else 0


def advice(state: TaskState, taken: Collection[str] = ()) -> tuple[str, ...]:
    """Return whether a task can be divided, the parts that it could be, by name, and the choices: a line each."""
    from taskstate.tasks.decomposition_plan import ENOUGH, subtasks_of

    named, later = [each.id for each in state.open_features], session_counts(state).total + GROWTH
    choices = (
        f"continue: `taskstate start {state.id}`",
        f"dismiss until session {later}: `taskstate decompose {state.id} --dismiss`",
    )
    if len(named) < ENOUGH:
        few = f"too few features are open to decompose it: {', '.join(named)}" if named else "no feature is open"
        return few, f"complete: `taskstate complete {state.id}`", *choices
    parts = map(_described, subtasks_of(state, taken=taken))
    return "it could be these tasks", *parts, f"decompose: `taskstate decompose {state.id} --apply`", *choices


def _described(part: Subtask) -> str:
    return f"{part.id} {part.name} ({counted(len(part.features), 'feature')}, about {part.sessions} sessions)"

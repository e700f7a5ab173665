"""Says when a task has grown too long, and which commands make it shorter; every command that adds a session asks."""

from __future__ import annotations

from taskstate.model.derived_values import exceeded, how_to_shorten, largest_parts, session_counts
from taskstate.model.statuses import CLOSED
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.config import Size
    from taskstate.model.task_state import TaskState

_SESSIONS_BETWEEN_HINTS = 10


def warning(state: TaskState, size: Size) -> tuple[str, ...]:
    """Return warnings for a task with too many sessions or too large a file, with the commands to run; or none.

    Of too many sessions the first one over the limit warns, and then every tenth: a hint that comes every time is not
    read. `list` and the linter say it whenever they are asked.
    """
    over = exceeded(state.size, kb=size.max_kb, tokens=size.max_tokens)
    too_many = _too_many_sessions(state, size.max_sessions)
    lines = [too_many] if too_many else []
    lines += [f"The file of task {state.id} is {over}."] if over else []
    archivable = bool(over) and len(state.sessions) > size.keep_sessions
    if archivable:
        lines.append(f"To archive older sessions: taskstate archive {state.id}")
    elif over:
        lines.append(f"The largest: {largest_parts(state)}; {how_to_shorten(state, state.id)}.")
    if state.status in CLOSED or not (too_many or (over and not archivable)):
        return tuple(lines)
    from taskstate.tasks.decomposition_plan import open_features

    if open_features(state):
        return (*lines, f"To divide it into subtasks: taskstate decompose {state.id}")
    return (*lines, "No feature is open: complete it, and put what is left into a task of its own.")


def _too_many_sessions(state: TaskState, most: int) -> str:
    """Return the line on a task that has taken more than `most` sessions; empty where it is not due."""
    total = session_counts(state).total
    is_due = total > most and (total - most - 1) % _SESSIONS_BETWEEN_HINTS == 0 and state.status not in CLOSED
    return f"Task {state.id} has taken {total} sessions; over {most} are too many." if is_due else ""

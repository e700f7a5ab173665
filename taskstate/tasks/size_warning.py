"""Says that a task has grown too long, for each command that shows or adds sessions, until it is dismissed."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import counted
from taskstate.model.derived_values import exceeded, how_to_shorten, largest_parts, session_counts, shown_kb
from taskstate.tasks.task_size import DISMISSED, GROWTH, advice, is_too_long, told_again_at
from taskstate.typed import TYPE_CHECKING
from taskstate.writing.change import Change

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


def warning(workspace: Workspace, state: TaskState) -> tuple[str, ...]:
    """Return warnings for a task with too large a file or too many sessions, with the commands to run; or none."""
    size = workspace.config.size
    over = exceeded(state.size, kb=size.max_kb, tokens=size.max_tokens)
    lines = [f"The file of task {state.id} is {over}."] if over else []
    if over and len(state.sessions) > size.keep_sessions:
        lines.append(f"To archive older sessions: taskstate archive {state.id}")
    elif over:
        lines.append(f"The largest: {largest_parts(state)}; {how_to_shorten(state, state.id)}.")
    return (*lines, *suggestion(workspace, state))


def suggestion(workspace: Workspace, state: TaskState, *, added: int = 0) -> tuple[str, ...]:
    """Return that a task is too long, its parts by name, and the choices; nothing where it is not, or was dismissed.

    With `added` only where that many new sessions made it so, or ten more than it was: else it was said before.
    """
    size, total = workspace.config.size, session_counts(state).total
    if not is_too_long(state, size):
        return ()
    tens = [max(number - size.max_sessions + GROWTH - 1, 0) // GROWTH for number in (total - added, total)]
    if added and tens[0] == tens[1] and is_too_long(state, size, sessions=total - added):
        return ()
    from taskstate.workspace.free_ids import ids_here

    many = f" (over {size.max_sessions} are too many)" if total > size.max_sessions else ""
    head = f"task {state.id} is too long: {counted(total, 'session')}{many}, {shown_kb(state.size)}"
    return (head, *advice(state, ids_here(workspace)))


def dismiss(workspace: Workspace, task_id: str, request: Request) -> Outcome:
    """Record that nothing is to be said of a task that is too long until it has grown.

    Raises:
        TaskstateError: code "unchanged": it is not too long, or was dismissed already.
    """
    from taskstate.writing.event_log import add_event
    from taskstate.writing.writer import change

    def job(loaded: Loaded) -> Change:
        state = loaded.state
        total, again = session_counts(state).total, told_again_at(state)
        if not is_too_long(state, workspace.config.size):
            message = f"there is nothing to dismiss in task {state.id}, which has {counted(total, 'session')}"
            help_ = f"it is dismissed until session {again}" if again > total else "it is not too long, or closed"
            raise TaskstateError(message, help=help_, code="unchanged")
        event = request.metadata.event(DISMISSED, sessions=total)
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text, before=before, notes=(f"dismissed until session {total + GROWTH}",))

    return change(workspace, task_id, job, request)

"""Drops a task: it is given up, which is recorded, and from then on nothing of it is missed when its files go.

Its status, the event and the removal of its delta data are one write. `complete.reopen` takes the task up again.
"""

from __future__ import annotations

from taskstate.handoff.create import with_handoffs
from taskstate.messages import first_of
from taskstate.model import names, roles
from taskstate.model.statuses import CLOSED, DROPPED
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.snapshots import purge
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import open_turns, task_index
from taskstate.writing.change import Change
from taskstate.writing.event_log import add_event
from taskstate.writing.preconditions import require_not_complete, require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_SHOWN = 5  # tasks named in a note


def drop(workspace: Workspace, task_id: str, request: Request, *, note: str) -> Outcome:
    """Give a task up, and record who did and why; one that is dropped already is left as it is.

    Its artifacts are deleted afterwards. The document of an open handoff stays, but nobody is expected to accept it.

    Raises:
        TaskstateError: code "complete": it is complete; code "drift" or "drift-unresolved": a snapshot may be the
            only copy of a role's work; or the note is empty, or the file cannot be changed.
    """
    note = escaping.clean(note, what="--note")
    purge.require_as_left(workspace, task_id, request)

    def job(loaded: Loaded) -> Change:
        state = loaded.state
        require_work(state, "work to give up", f"`taskstate permanent close {state.id}` closes it")
        require_not_complete(state, ", and other tasks may use its output: it cannot be dropped")
        if state.status == DROPPED and blocks_of(state.document).is_dropped:  # the status alone may be by hand
            return Change(text=loaded.document.text, notes=("dropped already",))
        roles.require_no_drift(blocks_of(loaded.document), state.id)
        ended = open_turns.ended_note(loaded.document, request.metadata.actor)
        text = dropped_text(loaded.document.text)
        event = request.metadata.event(DROPPED, note=note)
        text, before = add_event(workspace, purge.purged_text(workspace, text), event)
        return Change(text=text, before=before, notes=(*ended, *_notes(workspace, state)))

    outcome = change(workspace, task_id, job, request._replace(even_dropped=True))
    if request.dry_run:
        return outcome
    open_turns.clear(workspace, outcome.state.id)
    return purge.without_artifacts(workspace, outcome)


def dropped_text(text: str) -> str:
    """Return the text of a task with status dropped, and without an open turn and an open handoff."""
    text = apply(text, set_front_matter(parse(text), "status", DROPPED))
    text = open_turns.without_turn(text)
    return with_handoffs(text, {"open": None}) if blocks_of(parse(text)).handoffs.open else text


def _notes(workspace: Workspace, state: TaskState) -> Iterator[str]:
    """Yield a note on an open handoff, and one on the open tasks that wait for this one."""
    open_path = blocks_of(state.document).handoffs.open
    if open_path:
        yield f"the handoff {open_path} was open, and stays as a document"
    waiting = [
        task.id
        for task in task_index.all_tasks(workspace)
        if state.id.casefold() in task.upstream.casefold().split() and task.status not in CLOSED
    ]
    if waiting:
        shown = first_of(sorted(waiting, key=names.id_key), _SHOWN)
        verb = "depends" if len(waiting) == 1 else "depend"
        yield f"{shown} {verb} on it, and cannot become ready: remove it from `depends_on` there"

"""Accepts a handoff: finds the open document, lists what has changed since it was written, and archives it."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.handoff.create import with_handoffs
from taskstate.handoff.document import ACCEPTED, OPEN, with_values
from taskstate.handoff.document_files import HandoffFile, archive_path, handoff_files, list_documents, open_document
from taskstate.handoff.invalid import require_valid
from taskstate.handoff.verified_facts import differences, newer_sessions
from taskstate.model.phases import phases_in
from taskstate.model.session_texts import HANDED_OVER, OUTCOME, TOOK_OVER, by_of
from taskstate.model.write_metadata import blocks_of, timestamp
from taskstate.storage import files, journal
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change, Outcome
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable

    from taskstate.handoff.invalid import Validator
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request


class OpenHandoff(NamedTuple):
    """A handoff document, and notes on what has changed since it was written."""

    file: HandoffFile
    notes: tuple[str, ...]


class AcceptedHandoff(NamedTuple):
    """An accepted handoff, its new path from the repository's root, and the outcome of the change."""

    file: HandoffFile
    path: str
    outcome: Outcome


def find_handoff(workspace: Workspace, task_id: str, *, errors_in: Validator) -> tuple[Loaded, HandoffFile]:
    """Find a task's open handoff, or the newest one where none is open; `errors_in` checks it against the rules.

    Raises:
        TaskstateError: code "not-found": there is none, or the one that the state file names is missing; code
            "unreadable", "not-utf8" or "no-handoff": it cannot be read, or is not a handoff document; code
            "handoff-invalid": a document that is not valid lies among the open ones.
    """
    loaded = workspace.load(workspace.locate(task_id))
    open_path = blocks_of(loaded.document).handoffs.open
    named = open_document(workspace, open_path, loaded.state.id) if open_path else None
    documents = list_documents(workspace, loaded.state.id)
    require_valid(workspace, loaded.state.id, documents, errors_in)
    open_documents = [each for each in documents.read if each.status == OPEN]
    if named or open_documents or documents.read:
        return loaded, named or (open_documents or documents.read[-1:])[0]
    if documents.unreadable:
        raise TaskstateError(documents.unreadable[0][1], help="run `taskstate lint` to see why", code="unreadable")
    message = f"task {loaded.state.id} has no handoff"
    help_ = f"`taskstate handoff new {loaded.state.id} --draft` writes one, or shows what it needs"
    raise TaskstateError(message, help=help_, code="not-found")


def show(workspace: Workspace, task_id: str, *, errors_in: Validator) -> OpenHandoff:
    """Return a task's open handoff, else the newest one, with notes on what has changed since.

    Raises:
        TaskstateError: as `find_handoff`.
    """
    loaded, file = find_handoff(workspace, task_id, errors_in=errors_in)
    return OpenHandoff(file, _notes(workspace, loaded.state, file))


def unhanded_work(workspace: Workspace, loaded: Loaded) -> str:
    """Return a note on work that was recorded after the open handoff was written; empty where there is none."""
    documents = handoff_files(workspace, loaded.state.id)
    newest = next((each for each in reversed(documents) if each.status == OPEN), None)
    return newer_sessions(newest, loaded.state, documents) if newest else ""


def _notes(workspace: Workspace, state: TaskState, file: HandoffFile) -> tuple[str, ...]:
    """Return notes on what has changed since; of an accepted document only who accepted it, as work has gone on."""
    if file.status == ACCEPTED:
        return (f"accepted by {file.text('accepted_by') or 'somebody'} at {file.text('accepted_at')}",)
    revision = file.values.get("state_revision")
    newer = newer_sessions(file, state, handoff_files(workspace, state.id))
    since = differences(workspace, file.verified, state, revision=revision if isinstance(revision, int) else None)
    return (*since, newer) if newer else since


def accept(
    workspace: Workspace, task_id: str, agent: str, request: Request, *, errors_in: Validator
) -> AcceptedHandoff:
    """Mark a task's open handoff as accepted and move it to the archive folder, in one step with the state file.

    Raises:
        TaskstateError: code "not-found": none is open, or its document is gone; code "unreadable", "not-utf8" or
            "no-handoff": the document cannot be read, or is not one of the task; code "handoff-invalid": it, or
            another one that is not older, breaks the rules.
    """
    outcome = change(workspace, task_id, accepting(workspace, agent, request, errors_in=errors_in), request)
    return AcceptedHandoff(outcome.result, f"{workspace.config.root}/{outcome.result.path}", outcome)


def accepting(
    workspace: Workspace, agent: str, request: Request, *, errors_in: Validator, path: str = ""
) -> Callable[[Loaded], Change[HandoffFile]]:
    """Return the step that accepts the open handoff of a state file, or the document at `path`, as `accept` does."""
    values: dict[str, object] = {
        "status": ACCEPTED,
        "accepted_by": agent,
        "accepted_at": timestamp(request.metadata.now),
    }

    def job(loaded: Loaded) -> Change[HandoffFile]:
        file = _acceptable(workspace, loaded, errors_in, path)
        notes = _notes(workspace, loaded.state, file) if file.status == OPEN else ()
        root, target = workspace.config.root, archive_path(file.path)
        by_hand: dict[str, object] = {"verified": {"sessions": loaded.state.last_session}} if file.is_by_hand else {}
        number = blocks_of(loaded.document).handoffs.number
        text = with_handoffs(loaded.document.text, {"open": None} | ({"count": number + 1} if by_hand else {}))
        if file.path == target and file.status == ACCEPTED:  # accepted on the other branch of a merge
            return Change(text=text, notes=_notes(workspace, loaded.state, file), result=file)
        data = with_values(file.document, values | by_hand).encode()
        accepted = HandoffFile(target, data, parse(data.decode()))
        if file.path == target:
            replaced = journal.Replace(f"{root}/{target}", files.digest(file.data), data)
            return Change(text=text, before=(replaced,), notes=notes, result=accepted)
        created = journal.Create(f"{root}/{target}", data)
        deleted = journal.Delete(f"{root}/{file.path}", files.digest(file.data))
        return Change(text=text, before=(created,), after=(deleted,), notes=notes, result=accepted)

    return job


def _acceptable(workspace: Workspace, loaded: Loaded, errors_in: Validator, path: str) -> HandoffFile:
    """Return the handoff at a path, else the one that the state file names as open, else the task's oldest open one."""
    state = loaded.state
    open_path = "" if path else blocks_of(loaded.document).handoffs.open
    named = open_document(workspace, open_path, state.id) if open_path else None
    documents = list_documents(workspace, state.id)
    require_valid(workspace, state.id, documents, errors_in)
    oldest = named or next((each for each in documents.read if each.status == OPEN and path in {"", each.path}), None)
    if oldest is None:
        message = f"task {state.id} has no open handoff"
        raise TaskstateError(message, help=f"`taskstate handoff list {state.id}` shows all of them", code="not-found")
    return oldest


def accepted_note(workspace: Workspace, state: TaskState) -> str:
    """Return a line for the next session on the handoff accepted last, if the open turn follows on it.

    It is empty if a session has mentioned it. After a merge of two branches that both handed over, the documents that
    were open at the same time are named too.
    """
    handoffs = blocks_of(state.document).handoffs
    if not handoffs.number or handoffs.open:
        return ""
    accepted = [each for each in handoff_files(workspace, state.id) if each.status == ACCEPTED]
    newest = max(accepted, key=lambda each: (each.text("accepted_at"), each.text("created_at")), default=None)
    if newest is None or not _is_for_turn(newest, state):
        return ""
    accepted_together = [each for each in accepted if each is newest or _overlap(each, newest)]
    names = [_named(each, state) for each in accepted_together if not _is_mentioned(each, state)]
    return f"{TOOK_OVER} {' and '.join(names)}" if names else ""


def _named(file: HandoffFile, state: TaskState) -> str:
    """Return how a session names a document: by its phase, if the task has any, and by its time."""
    return f"phase {file.text('phase')}, {_time(file)}" if phases_in(state) else f"the handoff of {_time(file)}"


def _time(file: HandoffFile) -> str:
    return file.text("created_at").replace("T", " ").removesuffix("Z")


def _is_for_turn(file: HandoffFile, state: TaskState) -> bool:
    """Return whether the open turn follows on a document that was accepted; without one, whatever comes next does.

    After a merge, the turn of another agent may be older than the document, or be of another role than the one that
    handed over.
    """
    turn = blocks_of(state.document).delta.turn
    if turn is None or file.text("accepted_by") in {turn.agent, turn.actor}:
        return True
    by_time = (
        (each.time or "~", HANDED_OVER in each.values(OUTCOME), by_of(each.agent).role) for each in state.sessions
    )
    role = max((each for each in by_time if each[0] <= _time(file)), default=("",))[-1]  # which handed over
    is_another = role and turn.role not in {None, role} and state.last_session > (file.verified.sessions or 0)
    return not is_another and (turn.started_at or "") >= file.text("created_at")


def _overlap(one: HandoffFile, other: HandoffFile) -> bool:
    """Return whether two documents were open at the same time, which happens only on two branches."""
    return one.text("created_at") < other.text("accepted_at") and other.text("created_at") < one.text("accepted_at")


def _is_mentioned(file: HandoffFile, state: TaskState) -> bool:
    """Return whether a session written after a document mentions it; archived sessions count as if they did."""
    sessions_then = file.verified.sessions or 0
    names = (file.path.rpartition("/")[2], _time(file))  # older sessions give the path
    later = (session for session in state.sessions if session.number > sessions_then)
    return state.archived > sessions_then or any(name in session.entry for session in later for name in names if name)


def fields_of(file: HandoffFile) -> dict[str, object]:
    """Return the fields of a document as JSON values."""
    handoff = file.reading.handoff
    return {
        "handoff_path": file.path,
        "status": file.status,
        "phase": file.text("phase"),
        "created_at": file.text("created_at"),
        "from_agent": file.text("from_agent"),
        "accepted_by": file.values.get("accepted_by"),
        "accepted_at": file.values.get("accepted_at"),
        "action": handoff.action,
        "current_state": {
            "file": handoff.file,
            "to_be_created": file.reading.file_is_new,
            "location": handoff.location,
            "goal": handoff.goal,
        },
        "decisions": list(handoff.decisions),
        "avoid": list(handoff.avoid),
        "context": list(handoff.context),
        "references": list(handoff.references),
        "do_not_reread": list(handoff.do_not_reread),
        "verified": dict(file.verified.values),
    }

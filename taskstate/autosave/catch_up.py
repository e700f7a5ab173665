"""Records what sessions of clients did and did not tell, when the next turn on their task begins: with consent alone.

One session of the log for each of theirs, the oldest first; never for the session that asks or one that is at work, and
nothing twice: its outcome names the stretch of the client's session that it tells. A stretch ends when somebody tells
of it, or the session works on another task.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from taskstate.autosave import consent, drafts, notes, tree_marks
from taskstate.autosave.present import is_alive, present
from taskstate.errors import GitFailed, TaskstateError
from taskstate.model.session_texts import AUTOSAVED, by_text
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files
from taskstate.tasks import sessions
from taskstate.tasks.new_session import NewSession
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from taskstate.autosave.drafts import KeptDraft
    from taskstate.autosave.notes import SessionNote, TreeMark
    from taskstate.model.task_state import TaskState
    from taskstate.transcripts.reading import Reading
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


class Untold(NamedTuple):
    """A session of a client that nobody told of, the draft of what it did, None for nothing, and what was read."""

    note: SessionNote
    draft: KeptDraft | None
    reading: Reading


def untold(workspace: Workspace, task_id: str, now: str, *, but: str = "", newest: bool = False) -> Iterator[Untold]:
    """Yield the sessions of a task that are over and nobody told of, with their drafts, the oldest first.

    The session `but` is left out, as is the present one. With `newest` the last one comes first.

    Raises:
        TaskstateError: the state file cannot be read.
    """
    ours = [each for each in _over(workspace, but) if each.task.casefold() == task_id.casefold() and not each.is_told]
    for note in reversed(ours) if newest else ours:
        yield Untold(note, *drafts.make(workspace, note, drafts.ENDING if note.ended else drafts.LATE, now))


def _over(workspace: Workspace, but: str) -> Iterator[SessionNote]:
    here = present(workspace)
    for note in notes.all_notes(workspace.private):
        if note != here and note.session != but and not is_alive(note):
            yield note


def close(workspace: Workspace, but: str = "") -> None:
    """Note how the tree is for each session that is over and whose end nobody saw: what it left is what is found now.

    Raises:
        TaskstateError: a note cannot be written.
    """
    ends = [each for each in _over(workspace, but) if each.after is None and not each.is_told and each.task]
    mark = _mark(workspace) if ends else None
    for note in ends if mark else ():
        notes.update(workspace.private, note.client, note.session, lambda now: now._replace(after=now.after or mark))


def record(workspace: Workspace, task_id: str, request: Request) -> tuple[str, ...]:
    """Record each session of a task that nobody told of, and return a line for each."""
    now, lines = timestamp(request.metadata.now), list[str]()
    with suppress(TaskstateError):  # another start has the notes: what a session left is as it is now
        close(workspace)
    for each in untold(workspace, task_id, now):
        draft = each.draft
        try:
            if draft and draft.has_work:
                lines.append(_recorded(workspace, task_id, draft, request))
            _settle(workspace, each.note, now, offset=each.reading.offset, identity=each.reading.identity)
        except TaskstateError as error:  # the turn begins all the same, and the next start tries again
            lines.append(f"not recorded: what {draft.source if draft else each.note.client} did: {error.message}")
    drafts.prune(workspace.private, now)
    return tuple(lines)


def _recorded(workspace: Workspace, task_id: str, draft: KeptDraft, request: Request) -> str:
    texts = draft.draft.session(with_words=consent.level(workspace.root) == consent.WORDS)
    entry = NewSession(**texts, agent=by_text(draft.source, AUTOSAVED), outcome=(drafts.outcome_of(draft.part),))
    done = sessions.add(workspace, task_id, entry, request._replace(expect="", known=None), since=sessions.ONCE)
    number = next(each.number for each in sessions.sessions_of(workspace, done.loaded) if _is_of(each, draft))
    said = f": `taskstate autosave show {draft.id}` has its words" if draft.draft.words else ""
    return f"session {number} is autosaved, from {draft.source}, which recorded nothing itself{said}"


def _is_of(session: sessions.SessionView, draft: KeptDraft) -> bool:
    return drafts.outcome_of(draft.part) in session.texts["outcome"]


def begin(workspace: Workspace, state: TaskState, now: str) -> None:
    """Note that the present session begins a turn on a task; what it did before on another one is none of that.

    The turn has begun already: a note that cannot be written costs a draft, and is no error.
    """
    note = present(workspace)
    if note and note.task.casefold() != state.id.casefold():
        with suppress(TaskstateError):
            go_over(workspace, note, state.id, state.last_own_session, now)


def go_over(workspace: Workspace, note: SessionNote, task_id: str, last: int, now: str) -> SessionNote:
    """Return the note of a session that works on another task from now on; a draft says what it did on the one before.

    Raises:
        TaskstateError: it cannot be kept.
    """
    if note.task and not note.is_told:
        drafts.make(workspace, note, drafts.LATE, now)  # for whoever wants it
    return _settle(workspace, note, now, task=task_id, is_told=False, last=last)


def told_itself(workspace: Workspace, state: TaskState, now: str) -> None:
    """Note that the present session has recorded what it did on a task: all so far is told.

    That is in the file already: a note that cannot be written is no error.
    """
    note = present(workspace)
    if note and note.task.casefold() == state.id.casefold():
        with suppress(TaskstateError):
            _settle(workspace, note, now, last=state.last_own_session)


def told_by_hand(workspace: Workspace, note: SessionNote, now: str) -> None:
    """Note that a session has recorded itself, where an edit of its has added a session to the file of its task.

    Raises:
        TaskstateError: the file cannot be read.
    """
    state = workspace.load(workspace.locate(note.task)).state
    if state.last_own_session > note.last:
        _settle(workspace, note, now, last=state.last_own_session)


def taken(workspace: Workspace, draft: KeptDraft, now: str) -> None:
    """Note that somebody has recorded, or does not want, what a draft tells."""
    for note in notes.all_notes(workspace.private):
        if drafts.part_of(note) == draft.part:
            _settle(workspace, note, now)


def _settle(workspace: Workspace, note: SessionNote, now: str, **change: Any) -> SessionNote:  # noqa: ANN401 - fields
    """Let another stretch of a session begin: what it did so far is told, or none of the task's."""
    if "offset" not in change:
        length = files.size(Path(note.transcript)) if note.transcript else 0
        change["offset"] = length or 0
    before = note.after or _mark(workspace)
    fields = {"is_told": True, "began": now, "before": before, "after": None, "stretch": note.stretch + 1, **change}
    return notes.update(workspace.private, note.client, note.session, lambda newest: newest._replace(**fields))


def _mark(workspace: Workspace) -> TreeMark | None:
    with suppress(GitFailed):
        return tree_marks.mark_now(workspace)
    return None

"""Where a person allowed it: notes a session at each of its hooks, and tells its agent once how full its context is.

A hook reads and keeps, and no more: it writes no state file. A sub-agent has no note of its own and is told nothing.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from taskstate.agents.event import Notice
from taskstate.autosave import fill, notes
from taskstate.errors import GitFailed, TaskstateError
from taskstate.secrets.mask import masked
from taskstate.setup import clients
from taskstate.storage import callers, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from taskstate.agents.event import Event
    from taskstate.autosave.notes import SessionNote, TreeMark
    from taskstate.workspace.open_turns import OpenTurn

_ENDS = frozenset((clients.INTERRUPT, clients.SESSION_END))
_TELLING = frozenset((clients.AFTER_EDIT, clients.BEFORE_COMMIT, clients.PROMPT, clients.STOP))
_LAST_WORDS = 2048  # bytes
_GROWTH = 8192  # bytes by which a transcript has to grow until it is looked at again
_MINUTE = len("2026-01-31T12:00")


def attend(name: str, event: Event, said: str) -> str:
    """Note the session of a hook; return what its agent is told besides what is `said`, empty for nothing.

    Raises:
        TaskstateError: the note cannot be written, or a draft not be made.
    """
    call, private = event.call, event.workspace.private
    has_end = clients.SESSION_END in clients.CLIENTS[event.client].hooks
    if not (has_end and call.session) or call.agent_id:
        return ""
    known = notes.find(private, event.client, call.session)
    turn = max(
        (each for each in open_turns.here(event.workspace) if each.is_of(event.actor)),
        key=lambda each: each.started_at,
        default=None,
    )
    before = _beginning(name, event, known or notes.SessionNote(event.client, call.session), turn)
    found = _found(name, event, before, turn)
    can_tell = "seen" in found.fields and _has_room(name, event.client, said)
    is_told = False

    def noted(note: SessionNote) -> SessionNote:
        nonlocal is_told
        note = _noted(name, event, note, found)
        is_due = note.compactions not in note.warned and fill.is_due(note, event.workspace.config.autosave)
        is_told = can_tell and is_due
        return note._replace(warned=(*note.warned, note.compactions)) if is_told else note

    after = noted(before)
    if after != known:
        after = notes.update(private, event.client, call.session, noted)
    _kept(name, event, after)
    return fill.sentence(after, event.workspace.config.autosave) if is_told else ""


class _Found(NamedTuple):
    """What a hook finds: the open turn, how the tree is, other fields of the note, and those of one without a task."""

    turn: OpenTurn | None
    mark: TreeMark | None
    fields: Mapping[str, Any]
    at_hand: Mapping[str, Any]


def _found(name: str, event: Event, note: SessionNote, turn: OpenTurn | None) -> _Found:
    is_start = name == clients.SESSION_START
    # A session that is resumed runs in another process.
    process = callers.client_process() if is_start or not note.process else note.process
    measured = _measured(event, note) if turn and name in _TELLING else {}
    at_hand = _at_hand(event) if is_start and not (turn or note.task) else {}
    return _Found(turn, _mark(name, event, note), {"process": process, **measured}, at_hand)


def _beginning(name: str, event: Event, note: SessionNote, turn: OpenTurn | None) -> SessionNote:
    """Return the note of a session as a hook finds it, gone over to another task where such a turn is open.

    What a killed session left is what the next one finds when it starts.
    """
    is_another = turn is not None and note.task and turn.task.casefold() != note.task.casefold()
    if is_another or name == clients.SESSION_START:
        from taskstate.autosave import catch_up

        catch_up.close(event.workspace, but=event.call.session)
        if turn and is_another:
            return catch_up.go_over(event.workspace, note, turn.task, turn.session, event.now)
    return note


def _kept(name: str, event: Event, note: SessionNote) -> None:
    """Keep a draft at a compaction and at an end; where a session was written by hand, all so far is told."""
    if name == clients.AFTER_EDIT and any(
        each.path.endswith(f"task-{note.task}-state.md") for each in event.call.edits
    ):
        from taskstate.autosave import catch_up

        catch_up.told_by_hand(event.workspace, note, event.now)
    if name in {clients.BEFORE_COMPACTION, *_ENDS}:
        from taskstate.autosave import drafts

        drafts.make(event.workspace, note, drafts.ENDING if name in _ENDS else drafts.COMPACTION, event.now)


def _mark(name: str, event: Event, note: SessionNote) -> TreeMark | None:
    """Return how the tree is now where that has to be noted: at the end, and where a session meets its task."""
    if name in _ENDS or note.before is None or _is_resumed(name, note):
        from taskstate.autosave.tree_marks import mark_now

        with suppress(GitFailed):  # the rest of the note counts all the same
            return mark_now(event.workspace)
    return None


def _at_hand(event: Event) -> dict[str, Any]:
    """Return the task on which a session works that begins no turn, as fields of a note: the one that it is told."""
    from taskstate.agents.task_at_hand import task_at_hand

    with suppress(TaskstateError):
        found = task_at_hand(event.workspace, event.named_task)
        return {"task": found.loaded.state.id, "last": found.loaded.state.last_session} if found else {}
    return {}


def _is_resumed(name: str, note: SessionNote) -> bool:
    """Return whether a session that was told of goes on: others may have worked in the tree meanwhile."""
    return name == clients.SESSION_START and note.is_told


def _noted(name: str, event: Event, note: SessionNote, found: _Found) -> SessionNote:
    """Return a note with what a hook found, and with what its call says."""
    note = _called(name, event, note._replace(before=None, began="") if _is_resumed(name, note) else note)
    note = note._replace(after=found.mark) if name in _ENDS else _at_work(note, found.turn, found.mark)
    return note._replace(**found.fields, **({} if note.task else found.at_hand))


def _called(name: str, event: Event, note: SessionNote) -> SessionNote:
    """Return a note with what a call says, whatever the event."""
    call = event.call
    words = masked(call.last_words, event.workspace.config.secrets.allow).encode("utf-8", "replace")
    has_compacted = name == clients.COMPACTION or (name == clients.SESSION_START and call.source == "compact")
    # The exact moment counts at an end alone: else each hook would write.
    is_fresh = note.at[:_MINUTE] == event.now[:_MINUTE] and name not in _ENDS
    return note._replace(
        at=note.at if is_fresh else event.now,
        began=note.began or event.now,
        transcript=call.transcript or note.transcript,
        model=call.model or note.model,
        last_words=words[-_LAST_WORDS:].decode("utf-8", "ignore") or note.last_words,
        compactions=note.compactions + has_compacted,
        is_told=False,
        ended=(note.ended or call.source or name) if name in _ENDS else "",
    )


def _at_work(note: SessionNote, turn: OpenTurn | None, mark: TreeMark | None) -> SessionNote:
    """Return a note of a session that goes on, whatever it ended with before."""
    if turn and not note.task:
        note = note._replace(task=turn.task, last=turn.session)
    return note._replace(before=note.before or mark, after=None)


def _measured(event: Event, note: SessionNote) -> dict[str, Any]:
    """Return how full the context is, as fields of a note; none where the transcript is about as long as it was."""
    path = event.call.transcript or note.transcript
    found = folders.find(Path(path)) if path else None
    if found is None or 0 <= found.st_size - note.seen < _GROWTH:
        return {}
    from taskstate.transcripts.reading import Transcript, usage

    usage_ = usage(Transcript(note.client, note.session, path, str(event.workspace.root))).usage
    fields = {"used": usage_.used, "window": usage_.window} if usage_ else {}
    return {"seen": found.st_size, **fields}


def _has_room(name: str, client: str, said: str) -> bool:
    """Return whether an agent can be told something more in the answer: beside what is said, or in its place."""
    if name == clients.STOP:  # it would be held up for that alone
        return bool(said) and not isinstance(said, Notice)
    return name != clients.BEFORE_COMMIT or (not said and bool(clients.CLIENTS[client].hooks[name].adds))

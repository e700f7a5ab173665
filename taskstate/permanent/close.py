"""Closes the permanent task: its full text goes into the archive file, and a summary of one page under its Notes.

The document itself stays as it was, with status complete: nobody has to look for what was decided, and reopening it
brings it back to life.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import one_line
from taskstate.model import permanent
from taskstate.model.archive_format import DOCUMENT, document_item
from taskstate.model.entries import entries
from taskstate.model.permanent import CONSTRAINTS, PHASE_STATUS, SUPERSEDED, USER_INTENT, shown_version
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.model.write_metadata import front_matter_values, set_front_matter, timestamp, with_event
from taskstate.permanent.find import require
from taskstate.permanent.update import require_open, require_writer
from taskstate.permanent.versions import require_sound_log
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING
from taskstate.writing.change import Change
from taskstate.writing.event_log import append_to_archive
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

EVENT = "closed"
_MOST, _WORDS = 8, 120  # entries of a section in the summary, and characters of each: it is to fit on a page


def close(workspace: Workspace, task_id: str, request: Request, *, note: str = "") -> Outcome[int]:
    """Close the permanent task; the result is its last version.

    Raises:
        TaskstateError: code "no-permanent", "writer", "task-closed" (it is closed already), "unreadable", or "edited":
            it was edited by hand, and that has no version yet.
    """
    found = require(workspace, task_id)
    require_writer(workspace, request)
    note = escaping.one_line(note, what="--note") if note else ""

    def job(loaded: Loaded) -> Change[int]:
        require_open(loaded)
        require_sound_log(loaded)
        _require_versioned(loaded.state)
        return _closed(workspace, loaded, request, note)

    outcome = change(workspace, found.id, job, request)
    return outcome._replace(notes=(*found.notes, *outcome.notes))


def _require_versioned(state: TaskState) -> None:
    by_hand = permanent.edited_sections(state)
    if by_hand:
        message = f"{', '.join(by_hand)} of task {state.id} was edited by hand, and that has no version yet"
        raise TaskstateError(message, help="`taskstate permanent update` gives it one", code="edited")


def _closed(workspace: Workspace, loaded: Loaded, request: Request, note: str) -> Change[int]:
    """Return the change; a task that was never filled is dropped, since there is nothing that it completed."""
    state, at, actor = loaded.state, timestamp(request.metadata.now), request.metadata.actor
    version = permanent.version_of(state)
    is_filled = bool(permanent.content_of(state, USER_INTENT).strip())
    text = _with_summary(state, at, note) if is_filled else loaded.document.text
    text = apply(text, set_front_matter(loaded.document.with_text(text), "status", COMPLETE if is_filled else DROPPED))
    text = apply(
        text, set_front_matter(loaded.document.with_text(text), "archive_path", workspace.archive_path(state.id))
    )
    text = with_event(text, request.metadata.event(EVENT, note=note or shown_version(version)))
    item = document_item(f"{shown_version(version)}, closed {at} by {' '.join(actor.split())}", loaded.document.text)
    archived = append_to_archive(workspace, state, (DOCUMENT, item))
    what = f"its full text is in {workspace.config.root}/{workspace.archive_path(state.id)}"
    return Change(text=text, before=(archived,), notes=(what,), result=version)


# The summary


def _with_summary(state: TaskState, at: str, note: str) -> str:
    """Return the text with the summary at the end of its Notes; one of the same version is there already."""
    document, section = state.document, state.section("Notes")
    heading = f"### Summary of {shown_version(permanent.version_of(state))}"
    if section and heading in section.body.of(document.text):
        return document.text
    nl = document.newline
    added = nl.join([*(() if section else ("## Notes", "")), heading, "", *_summary(state, at, note)]) + nl
    end = len(section.span.of(document.text).rstrip()) + section.span.start if section else len(document.text.rstrip())
    return apply(document.text, [Edit(end, end, f"{nl}{nl}{added.rstrip()}")])


def _summary(state: TaskState, at: str, note: str) -> Iterator[str]:
    """Yield the lines of the summary."""
    log, acks = permanent.change_log(state), permanent.confirmed(front_matter_values(state.document))
    yield f"- **Closed:** {at}{f', {note}' if note else ''}"
    if log:
        yield f"- **Versions:** {shown_version(log[0].number)}; the oldest one listed is of {log[-1].at}"
    yield f"- **Confirmed:** {', '.join(f'{name} {shown_version(each)}' for name, each in acks.items()) or 'by nobody'}"
    for name in (USER_INTENT, PHASE_STATUS, CONSTRAINTS):
        yield from _listed(name, [each.words for each in entries(permanent.content_of(state, name))])
    decided = [each for each in permanent.decisions(state) if each.status != SUPERSEDED]
    yield from _listed("Decisions", [f"AD-{each.number}: {each.title} ({each.status or 'open'})" for each in decided])


def _listed(name: str, texts: list[str]) -> Iterator[str]:
    if not texts:
        return
    yield f"- **{name}:**"
    yield from (f"  - {one_line(each, _WORDS)}" for each in texts[:_MOST])
    if len(texts) > _MOST:
        yield f"  - and {len(texts) - _MOST} more"

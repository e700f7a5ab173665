"""Adds events to a state file's audit, and moves the oldest ones into the task's archive file."""

from __future__ import annotations

from taskstate.model import write_metadata
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, with_event
from taskstate.storage import files, journal
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING
from taskstate.units.items import event_line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace

EVENTS_KEPT = 20
_ARCHIVE_HEADING = "Events"


def add_event(workspace: Workspace, text: str, event: Mapping[str, object]) -> tuple[str, journal.Plan]:
    """Return a state file's text with one more event, and the operation that moves the oldest ones to the archive."""
    return with_oldest_moved(workspace, parse(with_event(text, event), workspace.kinds))


def with_oldest_moved(
    workspace: Workspace, document: Document, *older: tuple[str, Sequence[str]]
) -> tuple[str, journal.Plan]:
    """Return a state file's text with the newest events alone, and the operation that moves the others to the archive.

    `older` are other lists that go there, each with its title. A change that adds several events calls it once, at the
    end: a plan touches the archive file once.
    """
    events = [each.entry for each in write_metadata.blocks_of(document).audit.events]
    oldest = [f"- {event_line(each)}" for each in events[:-EVENTS_KEPT]]
    lists = [each for each in (*older, (_ARCHIVE_HEADING, oldest)) if each[1]]
    if not lists:
        return document.text, ()
    shorter = write_metadata.with_events(document.text, events[-EVENTS_KEPT:]) if oldest else document.text
    state = read_state(document.with_text(shorter))
    shorter = apply(shorter, set_front_matter(state.document, "archive_path", workspace.archive_path(state.id)))
    return shorter, (append_to_archive(workspace, state, *lists),)


def append_to_archive(workspace: Workspace, state: TaskState, *lists: tuple[str, Sequence[str]]) -> journal.Operation:
    """Return the operation that appends lists, each with its title, to a task's archive file, or creates that file."""
    path, nl = workspace.state_root / workspace.archive_path(state.id), state.document.newline
    name, size = workspace.relative(path), files.size(path)
    head = "" if size else f"# Task #{state.id} Archive - Full Session History{nl}"
    parts = (f"{nl}## {title}{nl}{nl}{''.join(item + nl for item in items)}" for title, items in lists)
    data = f"{head}{''.join(parts)}".encode()
    return journal.Create(name, data) if size is None else journal.Append(name, size, data)

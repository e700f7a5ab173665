"""Rolls what a state file keeps only the newest of into its archive: a list there, between the batches of sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from taskstate.model import write_metadata
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import set_front_matter, with_event
from taskstate.storage import files, journal
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Workspace

EVENTS_KEPT = 20
_ARCHIVE_HEADING = "Events"


def add_event(workspace: Workspace, text: str, event: Mapping[str, object]) -> tuple[str, journal.Plan]:
    """Return a state file's text with one more event, and the change that takes the oldest ones to the archive."""
    longer = with_event(text, event)
    events = [each.entry for each in write_metadata.blocks_of(parse(longer)).audit.events]
    older = events[:-EVENTS_KEPT]
    if not older:
        return longer, ()
    shorter = write_metadata.with_events(longer, events[-EVENTS_KEPT:])
    state = read_state(parse(shorter))
    shorter = apply(shorter, set_front_matter(state.document, "archive_path", workspace.archive_path(state.id)))
    return shorter, (append_to_archive(workspace, state, _ARCHIVE_HEADING, [f"- {_line(each)}" for each in older]),)


def _line(event: object) -> str:
    """Return an event as JSON on one line, in which nothing can become structure of the document."""
    return json.dumps(event, sort_keys=True).replace("<", "\\u003c")


def append_to_archive(workspace: Workspace, state: TaskState, title: str, items: Sequence[str]) -> journal.Operation:
    """Return the change that adds list items to the archive file of a task, under a heading of their own."""
    path, nl = workspace.state_root / workspace.archive_path(state.id), state.document.newline
    name, size = workspace.relative(path), files.size(path)
    head = "" if size else f"# Task #{state.id} Archive - Full Session History{nl}"
    data = f"{head}{nl}## {title}{nl}{nl}{''.join(item + nl for item in items)}".encode()
    return journal.Create(name, data) if size is None else journal.Append(name, size, data)

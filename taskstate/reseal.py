"""Accepts what somebody changed by hand in a block of the front matter that only the tool writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.model.write_metadata import timestamp
from taskstate.syntax import escaping
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import remember
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


def reseal(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome:
    """Seal a task's state file anew, and remember in it who accepted that, when and why."""
    said = escaping.one_line(note, what="the note")
    at = timestamp(request.stamp.now)
    event = {"at": at, "actor": request.stamp.actor, "event": "resealed", "note": said}

    def job(loaded: Loaded) -> Change:
        text, before = remember(workspace, loaded.document.text, event)
        return Change(text=text, before=before, notes=("sealed anew; the note is among its events",))

    return change(workspace, task_id, job, request._replace(reseal=True))

"""Keeps claims as events of the task, lets somebody else confirm them, and says where one is missing."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import permanent
from taskstate.model.archive_format import rolled_items
from taskstate.model.impact_map import stored_in
from taskstate.model.loose_values import json_of
from taskstate.model.permanent import ARCHITECTURE, shown_version
from taskstate.model.write_metadata import blocks_of, by_agent
from taskstate.permanent import find
from taskstate.permanent.recover import RECOVERED
from taskstate.storage import files
from taskstate.syntax import escaping
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.change import Change
from taskstate.writing.event_log import EVENTS_KEPT, add_event
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from taskstate.model.permanent import LoggedVersion
    from taskstate.model.task_state import TaskState
    from taskstate.permanent.impact.check import Answer
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

CLAIMED, CONFIRMED = "impact-claimed", "impact-confirmed"
_MOST = 20  # items of a list that an event keeps


class Given(NamedTuple):
    """A claim that was recorded: its place among the task's events, its version, its actor, and if it is complete."""

    place: int
    version: int
    actor: str
    complete: bool
    entry: Mapping[str, Any]


def record(workspace: Workspace, answer: Answer, request: Request, note: str = "") -> Outcome:
    """Keep a claim with its answer and the version that it was checked against, as an event of the task; once."""
    note = escaping.one_line(note, what="--note") if note else ""

    def job(loaded: Loaded) -> Change:
        event = by_agent(loaded.document, _claim_event(answer, note, request))
        last = [each.entry for each in blocks_of(loaded.document).audit.events][-1:]
        if last and isinstance(last[0], dict) and {**last[0], "at": event["at"]} == event:
            return Change(text=loaded.document.text, notes=("the same claim is recorded already",))
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text=text, before=before)

    return change(workspace, answer.task, job, request)


def _claim_event(answer: Answer, note: str, request: Request) -> dict[str, object]:
    lists = {
        "files": [*answer.files],
        "modules": [*answer.modules],
        "missing_files": [*answer.missing_files],
        "missing_modules": [each.module for each in answer.missing_modules],
        "ripple_paths": [each.ripple.id for each in answer.ripples],
        "downstream": [*answer.downstream],
        "interfaces": [each.id for each in answer.interfaces],
        "tasks": [each.task for each in answer.neighbours],
    }
    long = {f"{key}_count": len(each) for key, each in lists.items() if len(each) > _MOST}
    why = {"note": note} if note else {}
    said = {key: getattr(answer, key) for key in ("permanent", "version", "complete")}
    short = {key: each[:_MOST] for key, each in lists.items() if each}
    return request.metadata.event(CLAIMED, **why, **said, **short, **long)


def confirm(workspace: Workspace, task_id: str, note: str, request: Request) -> Outcome[Given]:
    """Record that somebody else than the one who claimed has confirmed a task's newest claim.

    Raises:
        TaskstateError: code "no-claim": there is none, or it is confirmed; code "same-actor"; code "incomplete": it
            lacks something, and there is no note; code "outdated": the architecture, or the agent's context, changed.
    """
    note = escaping.one_line(note, what="--note") if note else ""
    found = find.require(workspace)
    shared = workspace.load(workspace.locate(found.id)).state

    def job(loaded: Loaded) -> Change[Given]:
        given = _confirmable(workspace, loaded.state, shared, request.metadata.actor, note)
        why = {"note": note} if note else {}
        claim = {"claimed_by": given.actor, "claimed_at": given.entry.get("at"), "version": given.version}
        event = request.metadata.event(CONFIRMED, **why, **claim)
        text, before = add_event(workspace, loaded.document.text, event)
        return Change(text=text, before=before, result=given)

    return change(workspace, task_id, job, request)


def _confirmable(workspace: Workspace, state: TaskState, shared: TaskState, actor: str, note: str) -> Given:
    """Return the newest claim of a task if this actor may confirm it now."""
    events = _events(workspace, state)
    given, confirmed = _newest(events), _confirmed(events)
    again = f"`taskstate impact check {state.id} --files F,F --record`"
    if given is None:
        raise TaskstateError(f"task {state.id} has claimed nothing", help=f"{again} does", code="no-claim")
    if confirmed and confirmed.place == given.place:
        message = f"the newest claim of task {state.id} is confirmed already"
        raise TaskstateError(message, help=f"{again} makes a new one", code="no-claim")
    if _person(given.actor) == _person(actor):
        message = f"{actor} made this claim, and somebody else confirms it"
        help_ = f"`taskstate impact confirm {state.id} --actor NAME` by whoever has looked at it"
        raise TaskstateError(message, help=help_, code="same-actor")
    outdated = _outdated(events, given, state, shared)
    if outdated:
        message = f"the newest claim of task {state.id} is outdated: {outdated}"
        raise TaskstateError(message, help=f"claim again: {again}", code="outdated")
    if not given.complete and not note:
        lacks = [*given.entry.get("missing_files", ()), *given.entry.get("missing_modules", ())]
        message = f"the newest claim of task {state.id} is incomplete: it lacks {', '.join(map(str, lacks))}"
        help_ = f'claim again, or say why it is right: `taskstate impact confirm {state.id} --note "WHY"`'
        raise TaskstateError(message, help=help_, code="incomplete")
    return given


def _person(name: str) -> str:
    return " ".join(name.split()).casefold()


def missing_analysis(workspace: Workspace, task_state: TaskState, permanent_state: TaskState) -> str:
    """Return in one line, with the command that helps, that a task lacks a confirmed claim; empty where it does not.

    One is wanted once the architecture changed after the task was created, and once its agent lost its context, as long
    as there is an Impact Map.
    """
    if not _has_map(permanent_state):
        return ""
    events = _events(workspace, task_state)
    reason = _outdated(events, _confirmed(events), task_state, permanent_state)
    if not reason:
        return ""
    newest, task_id = _newest(events), task_state.id
    waits = newest is not None and not _outdated(events, newest, task_state, permanent_state)
    confirming = f"`taskstate impact confirm {task_id}` by another actor"
    cure = confirming if waits else f"`taskstate impact check {task_id} --files F,F --record`, then {confirming}"
    return f"the impact analysis of task {task_id} is missing, since {reason}: {cure}"


def first_analysis(workspace: Workspace, task_state: TaskState, permanent_state: TaskState) -> str:
    """Return in one line, with the command, that a task has claimed nothing yet; empty where it has, or has no map."""
    if not _has_map(permanent_state) or _newest(_events(workspace, task_state)):
        return ""
    task_id = task_state.id
    return f"no impact analysis yet: once you know your files, `taskstate impact check {task_id} --files F,F --record`"


def _has_map(permanent_state: TaskState) -> bool:
    stored = stored_in(permanent_state)
    return stored is not None and not (stored.text is None and stored.sha256 is None)


def _outdated(events: Sequence[Mapping[str, Any]], given: Given | None, state: TaskState, shared: TaskState) -> str:
    """Return in words what happened after a claim that makes another one necessary; None is no claim at all."""
    lost = max((place for place, each in enumerate(events) if each.get("event") == RECOVERED), default=-1)
    if lost > (given.place if given else -1):
        return "its agent lost its context"
    newest = _architecture_change(state, shared)
    if newest and newest.number > (given.version if given else 0):
        return f"{shown_version(newest.number)} changed the architecture"
    return ""


def _architecture_change(state: TaskState, shared: TaskState) -> LoggedVersion | None:
    """Return the newest version after a task was created that asks for planning anew, or None."""
    created = state.text("created_at") or ""
    log = permanent.change_log(shared)
    # The first version changes nothing that anybody could have planned with. Times are whole seconds: within one, the
    # change may have come first or last, and asking once too often is better than once too little.
    return next((each for each in log if each.weight == ARCHITECTURE and each.at >= created and each.number > 1), None)


# The events


def _events(workspace: Workspace, state: TaskState) -> tuple[Mapping[str, Any], ...]:
    """Return a task's events, the oldest first, with those that were moved to the archive."""
    entries = [each.entry for each in blocks_of(state.document).audit.events]
    older = _archived(workspace, state) if len(entries) >= EVENTS_KEPT else []
    return tuple(each for each in (*older, *entries) if isinstance(each, dict))


def _archived(workspace: Workspace, state: TaskState) -> list[object]:
    path = workspace.state_root / workspace.archive_path(state.id)
    if files.size(path) is None:
        return []
    return [json_of(line) for line in rolled_items(workspace.read(path).decode("utf-8", "replace"), "Events")]


def _newest(events: Sequence[Mapping[str, Any]], before: int | None = None) -> Given | None:
    """Return the newest claim among the events, or among those before a place."""
    place = next((at for at in reversed(range(len(events))[:before]) if events[at].get("event") == CLAIMED), None)
    if place is None:
        return None
    entry = events[place]
    version = entry.get("version")
    number = version if isinstance(version, int) else 0
    return Given(place, number, str(entry.get("actor", "")), entry.get("complete") is True, entry)


def _confirmed(events: Sequence[Mapping[str, Any]]) -> Given | None:
    """Return the claim that was confirmed last, or None."""
    place = next((at for at in reversed(range(len(events))) if events[at].get("event") == CONFIRMED), None)
    return None if place is None else _newest(events, place)

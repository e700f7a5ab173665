"""Makes features of one task of what would be tasks: a list of one session is usually the checklist of one task."""

from __future__ import annotations

import json

from taskstate.errors import TaskstateError
from taskstate.model.statuses import CREATED
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.syntax.json_edit import update_json
from taskstate.tasks.checklist import new_feature
from taskstate.typed import TYPE_CHECKING
from taskstate.writing.change import Change
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from taskstate.importing.planning.tasks import Task
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_KEYS = ("priority", "epic", "created_at", "closed_at")  # of a record, for which a feature has no place


def add(workspace: Workspace, task_id: str, tasks: Sequence[Task], request: Request) -> Outcome:
    """Add a feature for each record and each feature of it that is not there; none passes, whatever the source says.

    Raises:
        TaskstateError: there is no such task, or its checklist cannot be read.
    """

    def job(loaded: Loaded) -> Change:
        here = {each.id for each in loaded.state.checklist.features} if loaded.state.checklist else set()
        new = [each for task in tasks for each in _features(task) if each["id"] not in here]
        return Change(with_features(loaded, new).document.text)

    return change(workspace, task_id, job, request)


def others(workspace: Workspace, task_id: str, tasks: Sequence[Task]) -> list[str]:
    """Return the ids of features that are here already and say something else, which they go on saying."""
    checklist = workspace.load(workspace.locate(task_id)).state.checklist
    here = {each.id: each.description for each in checklist.features} if checklist else {}
    wanted = ((each["id"], each["description"]) for task in tasks for each in _features(task))
    return [own for own, text in wanted if here.get(own, text) != text]


def _features(task: Task) -> Iterator[dict[str, Any]]:
    """Yield the feature that a record becomes, with all that it says, and those that it has itself below its id."""
    yield _feature(task.id, task.title, _texts(task))
    for each in task.features:
        own = each.id if each.id.startswith(f"{task.id}.") else f"{task.id}.{each.id}"
        yield _feature(own, each.text, (each.notes, "done in the source" if each.done else ""))


def _feature(feature_id: str, title: str, texts: Iterable[str]) -> dict[str, Any]:
    notes = "\n".join(filter(None, texts))
    return new_feature(feature_id, escaping.one_line(title, what="a title")) | ({"notes": notes} if notes else {})


def _texts(task: Task) -> Iterator[str]:
    """Yield what a record says besides its title; what it waits for in the words that `decompose` reads."""
    record = task.record
    yield from (f"after {each}" for each in task.depends_on)
    yield from (record.description, record.summary)
    status = record.status or (task.status if task.status != CREATED else "")
    yield f"{status} in the source" if status else ""
    yield from (f"{key}: {getattr(record, key)}" for key in _KEYS if getattr(record, key))
    for part in record.criteria:
        yield f"- [{'x' if part.done else ' '}] {part.text}"
        yield part.notes
    for _, session in task.sessions:
        yield from (session.time, session.state, *session.did, *session.issues, *session.next)
    for key, value in task.fields.items():
        yield f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
    for note in task.notes:
        yield from (f"{note.title}:", note.text)


def with_features(loaded: Loaded, new: Sequence[Mapping[str, object]]) -> Loaded:
    """Return a file with more features in its checklist.

    Raises:
        TaskstateError: code "unreadable".
    """
    checklist, document = loaded.state.checklist, loaded.document
    features = checklist.root.get("features") if checklist else None
    if not new:
        return loaded
    if checklist is None or features is None:
        message = f"the checklist of task {loaded.state.id} cannot be read"
        raise TaskstateError(message, help="run `taskstate lint`", code="unreadable")
    all_ = {"features": [*features.value(), *new]}
    edits = update_json(document.text, checklist.root, all_, newline=document.newline)
    return loaded.with_text(apply(document.text, edits))

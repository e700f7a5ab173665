"""Compares what a source says now with what was imported from it before: a known task gets more, and is never edited.

New features and comments are added to it, as long as it is open here; what else differs is told.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from operator import attrgetter

from taskstate.errors import TaskstateError
from taskstate.exporting.items import files_of, paths_by_task
from taskstate.importing.conserve import lacking, lines_of
from taskstate.importing.into import with_features
from taskstate.importing.planning.tasks import Known, sha_of
from taskstate.importing.records import COMMENTS, Told
from taskstate.importing.text import FOLDER, embedded, feature_of
from taskstate.importing.write import forced
from taskstate.messages import counted
from taskstate.model.statuses import CLOSED, CREATED
from taskstate.model.task_state import section_of
from taskstate.storage import files
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Node
from taskstate.syntax.spans import with_newlines
from taskstate.syntax.yaml_edit import set_key
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import task_index
from taskstate.writing.change import Change
from taskstate.writing.writer import operations_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Iterator, Sequence

    from taskstate.importing.planning.tasks import Rules, Task
    from taskstate.importing.records import Part, Record
    from taskstate.importing.text import Style
    from taskstate.model.task_state import Feature, TaskState
    from taskstate.storage.transaction import Plan
    from taskstate.workspace.task_index import IndexedTask
    from taskstate.workspace.workspace import Loaded, Workspace

_COMMENT = re.compile(r"\n\n(?=\*\*[^\n*]*\d{4}[^\n*]*:\*\*\n)")  # before the line with author and time
_ORIGIN = "origin"
# By what a feature of the source is one that is here: an id alone comes last, since it may be a place in a list.
_SAME = (
    (attrgetter("id", "text"), attrgetter("id", "description")),
    (attrgetter("text"), attrgetter("description")),
    (attrgetter("id"), attrgetter("id")),
)


class Changed(NamedTuple):
    """A task that is here and of which the source says something else since.

    `added` names what it gets by the `plan`, `differs` what is only told; both are words, and may be empty.
    """

    task: Task
    added: str = ""
    differs: str = ""
    plan: Plan = ()
    warnings: tuple[str, ...] = ()


def known(task: IndexedTask) -> Known:
    """Return what is known of a task that is here."""
    if not task.origin:
        return Known(task.id)
    system, source_id, sha, _ = json.loads(task.origin)
    return Known(task.id, system, source_id, sha)


def here(workspace: Workspace, rules: Rules, records: Sequence[Record]) -> tuple[Known, ...]:
    """Return what is known of the tasks that are here; what was exported from one is known by its mark or its files.

    With a prefix such records become tasks of their own.
    """
    found = list[Known]()
    records = [each for each in records if (each.files or each.exported) and not rules.prefix]
    wanted = {(each.id if each.files else each.exported).casefold(): each for each in records}
    paths = paths_by_task(workspace) if any(each.files for each in records) else {}
    for each in map(known, task_index.all_tasks(workspace)):
        record = wanted.get(each.id.casefold())
        if record is None or each.system == rules.system:
            found.append(each)
        elif record.files:
            now = record._replace(said=files_of(workspace, each.id, paths[each.id.casefold()]))
            found.append(Known(each.id, rules.system, each.id, sha_of(now)))
        else:
            found.append(Known(each.id, rules.system, record.id, sha_of(record) if record.is_as_exported else ""))
    return tuple(found)


def changed(tasks: Sequence[Task], style: Style) -> tuple[Changed, ...]:
    """Return the tasks that came in before and of which the source says something else now, or which get a subtask."""
    new = {each.id for each in tasks if not each.is_known}
    known = (each for each in tasks if each.is_known)
    return tuple(_changed(each, style) for each in known if each.was != each.sha or not new.isdisjoint(each.subtasks))


def _changed(task: Task, style: Style) -> Changed:
    workspace = style.workspace
    loaded = workspace.load(workspace.locate(task.id))
    if task.record.files:  # a task that came whole is never merged
        return Changed(task, differs=", ".join(_differing(task, loaded.state)) or "its files")
    attached, old = "", loaded.document.text
    with suppress(TaskstateError):  # most have none
        attached = files.read(workspace.state_root / FOLDER / f"{task.id}.md").decode("utf-8", "replace")
    features, comments = _new(task, loaded.state, lines_of(old, attached))
    try:
        more = [feature_of(each, task, style) for each in _with_own_ids(features, loaded.state)]
        text = _with_comments(with_features(loaded, more), comments)
        text, warnings = forced(workspace, loaded.relative, text, style.request, old)
        after = loaded.with_text(text)
        differs = _differs(task, after.state, lines_of(text, attached))
        if not (differs or task.record.absent or loaded.state.status in CLOSED):
            text = _with_sha(after, task)
        added = [counted(len(each), what) for each, what in ((features, "feature"), (comments, "comment")) if each]
        plan = operations_of(workspace, loaded, Change(text), style.request) if text != old else ()
        return Changed(task, ", ".join(added), differs, plan, warnings)
    except TaskstateError:  # one that may not be changed is told like any other
        return Changed(task, differs=_differs(task, loaded.state, lines_of(old, attached)))


def _new(task: Task, state: TaskState, lines: Counter[str]) -> tuple[list[Part], list[str]]:
    """Return the features and comments that a task does not have; none of one that is closed here."""
    if state.status in CLOSED:
        return [], []
    said = [each for note in task.notes if note.title == COMMENTS for each in _COMMENT.split(note.text)]
    return _paired(task, state)[1], [each for each in said if lacking(each, (), lines)]


def _paired(task: Task, state: TaskState) -> tuple[list[tuple[Part, Feature]], list[Part]]:
    """Return the features of the source with those here that they are, by id or text, and the new ones."""
    here = [*state.checklist.features] if state.checklist else []
    pairs: list[tuple[Part, Feature]] = []
    new = [*task.features]
    for ours, theirs in _SAME:
        for each in tuple(new):
            other = next((other for other in here if theirs(other) == ours(each)), None)
            if other:
                pairs.append((each, other))
                new.remove(each)
                here.remove(other)
    return pairs, new


def _with_own_ids(new: Sequence[Part], state: TaskState) -> list[Part]:
    """Return features with ids that the task does not have yet."""
    taken = {each.id for each in state.checklist.features} if state.checklist else set()
    found: list[Part] = []
    for each in new:
        wanted = (each.id, *(f"{each.id}-{number}" for number in range(2, len(taken) + 3)))
        own = next(other for other in wanted if other not in taken)
        taken.add(own)
        found.append(each._replace(id=own))
    return found


def _with_comments(loaded: Loaded, new: Sequence[str]) -> str:
    """Return the text of a file with comments below those that it has, or at the end of its notes."""
    document = loaded.document
    notes = section_of(document, "Notes")
    if not new or notes is None:
        return document.text
    own = next((each for each in document.children(notes) if each.title == COMMENTS), None)
    at = len(document.text[: (own or notes).span.end].rstrip())
    block = "\n\n".join(("", *([] if own else [f"#### {COMMENTS}"]), embedded("\n\n".join(new), least=5)))
    return apply(document.text, [Edit(at, at, with_newlines(block, document.newline))])


def _with_sha(loaded: Loaded, task: Task) -> str:
    """Return the text of a file that remembers what the source says now."""
    document = loaded.document
    origin = document.front_matter.node.get(_ORIGIN) if document.front_matter.node else None
    edits = set_key(document.text, origin, "sha", task.sha) if isinstance(origin, Node) else ()
    return apply(document.text, edits)


def _differs(task: Task, state: TaskState, lines: Counter[str]) -> str:
    """Return in words what the source says and the task here does not; empty where that is only a time."""
    record = task.record
    found = ", ".join(_differing(task, state))
    gone = found or lacking(record.said, (*record.became, record.updated_at), lines)
    return found or ("what stands under Notes or in the description" if gone else "")


def _differing(task: Task, state: TaskState) -> Iterator[str]:
    record = task.record
    if task.title != state.title:
        yield f"title: {task.title}"
    if task.status != state.status and (task.status != CREATED or state.status in CLOSED):  # work has begun here
        yield f"status: {task.status}"
    priority = task.values.get("priority", "")
    if priority != (state.text("priority") or "") and (priority or not record.absent):
        yield f"priority: {priority or 'none'}"
    yield from () if record.files else _related(task, state)
    pairs, new = _paired(task, state)
    if new:
        yield f"new features: {', '.join(each.id for each in new)}"
    done = [other.id for each, other in pairs if each.done and not other.passes]
    if done:
        yield f"done there: {', '.join(done)}"


def _related(task: Task, state: TaskState) -> Iterator[str]:
    """Yield the relations that the source gives a task and that are others here."""
    pairs = {
        "depends_on": (task.depends_on, state.depends_on),
        "parent": ((task.parent,), (state.text("parent") or "",)),
        "subtasks": (task.subtasks, state.subtasks),
    }
    for key, (there, own) in pairs.items():
        said = ", ".join(there)
        if {*there} != {*own} and (said or not task.record.absent):
            yield f"{key}: {said or 'none'}"


def gone(tasks: Sequence[Task], here: Sequence[Known], rules: Rules, left: Collection[str]) -> Iterator[Told]:
    """Yield a line on tasks that came from the system and that the source does not have any more."""
    if rules.only:
        return
    present = {each.record.id for each in tasks}
    lost = [
        each.id
        for each in here
        if each.system == rules.system and each.source_id not in present and each.source_id not in left
    ]
    if lost and present:
        yield Told(
            "not-in-source", f"{len(lost)} tasks of {rules.system} are not in this source: {', '.join(lost[:20])}"
        )

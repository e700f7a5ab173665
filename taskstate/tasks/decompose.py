"""Divides a task that has grown too long: suggests subtasks, or creates them all and moves the features in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.messages import first_of
from taskstate.model import chain, chain_quotes, document_kinds, names
from taskstate.model.canonical_json import sha256
from taskstate.model.statuses import COMPLETE
from taskstate.model.task_state import KB, read_state
from taskstate.model.write_metadata import set_front_matter, with_write_metadata
from taskstate.storage import backups, files, journal
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.json_edit import update_json
from taskstate.syntax.spans import size_in_bytes
from taskstate.tasks.checklist import FEATURE_KEYS
from taskstate.tasks.create import NewTask, render
from taskstate.tasks.decomposition_plan import Pace, Subtask, open_features, pace_of, subtasks_of
from taskstate.workspace import preconditions
from taskstate.workspace.change import Change
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from typing import Any

    from taskstate.model.task_state import Feature, TaskState
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

_SHA = 16  # hex digits of an output's hash that a Chain Input names
_NAMED = 3  # features that a subtask's title names
_MOST_DESCRIPTION = 2 * KB  # of the parent's that every subtask repeats


class Suggestion(NamedTuple):
    """How a task could be divided: its id, path and token, the pace that the estimates follow, and the subtasks."""

    id: str
    path: str
    token: str
    pace: Pace
    subtasks: tuple[Subtask, ...]


def suggest(workspace: Workspace, task_id: str) -> Suggestion:
    """Return how a task could be divided, and change nothing.

    Raises:
        TaskstateError: it cannot be read fully, is complete, or has no open feature.
    """
    loaded = workspace.load(workspace.locate(task_id))
    preconditions.require_whole(loaded)
    return _suggestion(workspace, loaded)


def decompose(workspace: Workspace, task_id: str, request: Request) -> tuple[Suggestion, Outcome]:
    """Create the subtasks that are suggested for a task, and have its features move there, in one step.

    Raises:
        TaskstateError: as `suggest`; or a text cannot be taken over. Nothing is changed then.
    """

    def job(loaded: Loaded) -> Change[Suggestion]:
        suggestion = _suggestion(workspace, loaded)
        created = tuple(_created(workspace, loaded, suggestion, request))
        notes = tuple(
            f"task {each.id}: {', '.join(each.features)}; about {each.sessions} sessions"
            for each in suggestion.subtasks
        )
        return Change(text=_moved(loaded, suggestion), before=created, notes=notes, result=suggestion)

    outcome = change(workspace, task_id, job, request)
    for each in () if request.dry_run else outcome.result.subtasks:
        backups.forget(workspace.journal, _path(workspace, each))  # of an earlier file of that name
    return outcome.result, outcome


def _suggestion(workspace: Workspace, loaded: Loaded) -> Suggestion:
    state = loaded.state
    _require_divisible(loaded)
    present = {*(path.name for path in workspace.own_files()), *files.names(workspace.tasks)}  # also what is excluded
    own = (names.own_file(name) for name in present)
    subtasks = subtasks_of(state, taken={file.id for file in own if file and file.id})
    for each in subtasks:
        if not names.is_id(each.id):
            what = f"the id {each.id} is too long for a subtask"
            raise TaskstateError(what, help="give the task a shorter id: `taskstate doctor renumber`", code="bad-id")
    return Suggestion(state.id, loaded.relative, loaded.token, pace_of(state), subtasks)


def _require_divisible(loaded: Loaded) -> None:
    """Refuse a task that cannot be read fully, is none that is worked on, or has nothing to move.

    Raises:
        TaskstateError: code "unreadable", "kind", "complete", "duplicate-id" or "nothing-open".
    """
    state = loaded.state
    if state.problems:
        problem = state.problems[0]
        line = state.document.position(problem.span.start).line + 1
        what = f"{loaded.relative}, line {line}: {problem.message}"
        raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")
    if state.kind != "task":
        what = f"{state.id} is a {state.kind} task, which has no features to move"
        raise TaskstateError(what, help="decompose a task with a Feature Checklist", code="kind")
    if state.status == COMPLETE:
        what = f"task {state.id} is complete: there is nothing left to divide"
        raise TaskstateError(what, help="set its status back to in_progress first, if it is not", code="complete")
    _require_features(state)


def _require_features(state: TaskState) -> None:
    checklist = state.checklist
    entries = checklist.root.get("features") if checklist else None
    if checklist is None or entries is None or len(entries.items) != len(checklist.features):
        what = f"the Feature Checklist of task {state.id} cannot be read"
        raise TaskstateError(what, help="run `taskstate lint` and mend what it finds", code="unreadable")
    ids = [each.id for each in checklist.features]
    twice = next((each for each in ids if ids.count(each) > 1), None)
    if twice is not None:
        what = f"task {state.id} has {ids.count(twice)} features {twice}"
        raise TaskstateError(what, help="give each its own id first", code="duplicate-id")
    if not open_features(state):
        gone = ", ".join(dict.fromkeys(each.moved_to for each in checklist.features if each.moved_to))
        what = f"task {state.id} has no open feature to move" + (f"; others went to {gone}" if gone else "")
        raise TaskstateError(what, help="add what is left to do: `taskstate feature add`", code="nothing-open")


def _path(workspace: Workspace, subtask: Subtask) -> str:
    return workspace.relative(workspace.tasks / f"task-{subtask.id}-state.md")


# The subtasks


def _created(workspace: Workspace, loaded: Loaded, suggestion: Suggestion, request: Request) -> list[journal.Operation]:
    features = {each.id: each for each in open_features(loaded.state)}
    upstream = _produced(loaded)
    created: list[journal.Operation] = []
    for subtask in suggestion.subtasks:
        relative = _path(workspace, subtask)
        task = _task(loaded, subtask, tuple(features[each] for each in subtask.features))
        text = render(workspace, task, request, (upstream,))
        text = with_write_metadata(format_text(text, relative), request.stamp, revision=1)
        _prove(text, subtask, task)
        created.append(journal.Create(relative, text.encode()))
    return created


def _task(loaded: Loaded, subtask: Subtask, features: tuple[Feature, ...]) -> NewTask:
    state = loaded.state
    return NewTask(
        id=subtask.id,
        title=f"{' '.join(state.title.split())}: {first_of([each.id for each in features], _NAMED)}",
        description=_description(loaded, len(features)),
        criteria=tuple(f"{each.id}: {each.description}" for each in features),
        depends_on=subtask.depends_on,
        priority=state.text("priority") or "",
        area=state.text("area") or "",
        parent=state.id,
        carried=tuple(_carried(each) for each in features),
    )


def _carried(feature: Feature) -> dict[str, Any]:
    """Return a feature as it stands in the parent's checklist: what was found out about it goes with it."""
    return {key: value for key, value in feature.node.value().items() if key != "moved_to"}


def _description(loaded: Loaded, count: int) -> str:
    """Return what the subtask is about: whose part it is, and what the whole is for."""
    state = loaded.state
    noun = "feature" if count == 1 else "features"
    lead = f"A part of task {state.id}, {' '.join(state.title.split())}: the {count} {noun} of the checklist below."
    whole = (state.description or "").strip()
    if not whole or document_kinds.kind_of(state.kind).is_placeholder(whole):
        return lead
    if size_in_bytes(whole) > _MOST_DESCRIPTION:
        return f"{lead} What the whole is for stands in `{loaded.relative}`."
    return f"{lead} The whole is for this:\n\n{whole}"


def _produced(loaded: Loaded) -> chain_quotes.Upstream:
    """Return what the parent hands down while it is not complete: its output so far, and the features that pass."""
    state, document = loaded.state, loaded.document
    upstream = chain.read_upstream(document, loaded.relative)
    passing = [each for each in state.checklist.counted if each.passes] if state.checklist else []
    said = [chain.output_of(document)]
    if passing:
        listed = [escaping.item(f"{each.id}: {each.description}", what=f"feature {each.id}") for each in passing]
        said.append("\n".join(["### Features That Pass", "", *listed]))
    output = "\n\n".join(filter(None, said))
    sha = sha256(output)[:_SHA] if output else ""
    return upstream._replace(output=output, output_sha=sha, revision=state.revision + 1)


def _prove(text: str, subtask: Subtask, task: NewTask) -> None:
    """Refuse a subtask that does not hold its features as they were: a fault of ours must not reach the disk.

    Raises:
        TaskstateError: code "unsafe".
    """
    state = read_state(parse(text))
    found = [_carried(each) for each in state.checklist.features] if state.checklist else []
    if state.problems or state.id != subtask.id or found != list(task.carried):
        raise TaskstateError(
            f"task {subtask.id} cannot be created safely: its features would not read the same there",
            help="see whether the project's own template holds all parts of the one that is shipped",
            code="unsafe",
        )


# The parent


def _moved(loaded: Loaded, suggestion: Suggestion) -> str:
    """Return the parent's text with its subtasks named, and each feature saying where it went."""
    document, target = loaded.document, {each: part.id for part in suggestion.subtasks for each in part.features}
    told = document.front_matter.node and document.front_matter.node.get("subtasks")
    named = [item.text for item in told.items if item.text] if told else []
    ids = sorted({*named, *(each.id for each in suggestion.subtasks)}, key=names.id_key)
    edits = list(set_front_matter(document, "subtasks", ids))
    for each in open_features(loaded.state):
        moved = {"moved_to": target[each.id]}
        edits += update_json(document.text, each.node, moved, order=FEATURE_KEYS, newline=document.newline)
    text = apply(document.text, edits)
    after = read_state(parse(text)).checklist
    if after is None or [(each.id, each.moved_to) for each in after.features] != [
        (each.id, target.get(each.id, each.moved_to))
        for each in (loaded.state.checklist.features if loaded.state.checklist else ())
    ]:
        raise TaskstateError(
            f"{loaded.relative} cannot be changed safely: its features would not read the same afterwards",
            help="run `taskstate lint` on it first",
            code="unsafe",
        )
    return text

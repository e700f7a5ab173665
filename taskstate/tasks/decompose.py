"""Splits a task that has grown too long: suggests subtasks, or creates them and moves its features in one write."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

from taskstate.context.readable_parts import unreadable_error
from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.messages import first_of
from taskstate.model import chain, chain_quotes, document_kinds, names
from taskstate.model.canonical_json import sha256
from taskstate.model.static_context import read_static
from taskstate.model.task_state import KB, read_state
from taskstate.model.write_metadata import set_front_matter, with_write_metadata
from taskstate.storage import journal
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.json_edit import update_objects
from taskstate.syntax.spans import printable, size_in_bytes
from taskstate.tasks.carried_words import carried
from taskstate.tasks.checklist import FEATURE_KEYS
from taskstate.tasks.create import NewTask, render
from taskstate.tasks.decomposition_plan import Pace, Subtask, pace_of, subtasks_of
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.free_ids import ids_here
from taskstate.writing import preconditions
from taskstate.writing.change import Change
from taskstate.writing.writer import change, require_uncommitted

if TYPE_CHECKING:
    from typing import Any

    from taskstate.model.task_state import Feature, TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_CITED = ("file", "section")  # keys without which a citation is none
_SHA = 16  # hex digits of an output's hash that a Chain Input names
_SHOWN = 5  # sessions that have more to say
_MAX_DESCRIPTION = 2 * KB  # of the parent's description, which every subtask repeats, and of what its log says


class Suggestion(NamedTuple):
    """How a task could be split: its id, path and revision token, the pace behind the estimates, and the subtasks."""

    id: str
    path: str
    token: str
    pace: Pace
    subtasks: tuple[Subtask, ...]


def suggest(workspace: Workspace, task_id: str) -> Suggestion:
    """Return how a task could be split, without changing anything.

    Raises:
        TaskstateError: it cannot be read fully, is complete, or has no open feature.
    """
    loaded = workspace.load(workspace.locate(task_id))
    preconditions.require_whole(loaded)
    return _suggestion(workspace, loaded)


def decompose(workspace: Workspace, task_id: str, request: Request) -> Outcome[Suggestion]:
    """Create the suggested subtasks of a task and move its open features there, in one write.

    Raises:
        TaskstateError: as `suggest`; or a text cannot be embedded. Nothing is changed then.
    """

    def job(loaded: Loaded) -> Change[Suggestion]:
        suggestion = _suggestion(workspace, loaded)
        created = tuple(_created(workspace, loaded, suggestion, request))
        notes = tuple(
            f"task {each.id}, {each.name}: {', '.join(each.features)}; about {each.sessions} sessions"
            for each in suggestion.subtasks
        )
        return Change(text=_moved(loaded, suggestion), before=created, notes=notes, result=suggestion)

    return change(workspace, task_id, job, request)


def _suggestion(workspace: Workspace, loaded: Loaded) -> Suggestion:
    state = loaded.state
    _require_divisible(loaded)
    subtasks = subtasks_of(state, taken=ids_here(workspace))
    for each in subtasks:
        if not names.is_id(each.id):
            message = f"the id {each.id} is too long for a subtask"
            help_ = f"give the task a shorter id: `taskstate doctor renumber {state.id} NEW`"
            raise TaskstateError(message, help=help_, code="bad-id")
    return Suggestion(state.id, loaded.relative, loaded.token, pace_of(state), subtasks)


def _require_divisible(loaded: Loaded) -> None:
    """Refuse a task that cannot be read fully, is not an ordinary open task, or has no feature to move.

    Raises:
        TaskstateError: code "dropped", "unreadable", "kind", "complete", "duplicate-id" or "nothing-open".
    """
    state = loaded.state
    preconditions.require_not_dropped(state)
    if state.problems:
        raise unreadable_error(loaded, state.problems[0].span, state.problems[0].message)
    if state.kind != "task":
        message = f"{state.id} is a {state.kind} task, which has no features to move"
        raise TaskstateError(message, help="decompose a task with a Feature Checklist", code="kind")
    preconditions.require_not_complete(state, ": there is nothing left to divide")
    _require_features(state)


def _require_features(state: TaskState) -> None:
    checklist = state.checklist
    entries = checklist.root.get("features") if checklist else None
    if checklist is None or entries is None or len(entries.items) != len(checklist.features):
        message = f"the Feature Checklist of task {state.id} cannot be read"
        raise TaskstateError(message, help="run `taskstate lint` and fix what it finds", code="unreadable")
    counts = Counter(each.id for each in checklist.features)
    repeated = next((each for each, count in counts.items() if count > 1), None)
    if repeated is not None:
        message = f"task {state.id} has {counts[repeated]} features {repeated}"
        raise TaskstateError(message, help="give each its own id first", code="duplicate-id")
    if not state.open_features:
        targets = ", ".join(dict.fromkeys(each.moved_to for each in checklist.features if each.moved_to))
        message = f"task {state.id} has no open feature to move" + (f"; others went to {targets}" if targets else "")
        help_ = f"add what is left to do: `taskstate feature add {state.id} FID TEXT`"
        raise TaskstateError(message, help=help_, code="nothing-open")


def _path(workspace: Workspace, subtask: Subtask) -> str:
    return workspace.relative(workspace.tasks / f"task-{subtask.id}-state.md")


# The subtasks


def _created(workspace: Workspace, loaded: Loaded, suggestion: Suggestion, request: Request) -> list[journal.Operation]:
    features = {each.id: each for each in loaded.state.open_features}
    upstream = _chain_output(loaded)
    created: list[journal.Operation] = []
    context = carried(loaded.state, suggestion.subtasks)
    for subtask, (statements, criteria) in zip(suggestion.subtasks, context, strict=True):
        relative = _path(workspace, subtask)
        require_uncommitted(workspace, relative)
        task = _task(loaded, subtask, tuple(features[each] for each in subtask.features), statements)
        task = task._replace(criteria=(*task.criteria, *criteria))
        text = render(workspace, task, request, (upstream,))
        text = with_write_metadata(format_text(text, relative, workspace.kinds), request.metadata, revision=1)

        _require_unchanged_features(text, subtask, task)
        created.append(journal.Create(relative, text.encode()))
    return created


def _task(loaded: Loaded, subtask: Subtask, features: tuple[Feature, ...], said: list[tuple[str, int]]) -> NewTask:
    state, static = loaded.state, read_static(loaded.state)
    return NewTask(
        id=subtask.id,
        title=f"{' '.join(state.title.split())}: {subtask.name}",
        description=_description(loaded, len(features), said),
        criteria=tuple(f"{each.id}: {each.description}" for each in features),
        scope_in=static.scope_in,
        scope_out=static.scope_out,
        standards=tuple(each for each in static.standards if all(isinstance(each.get(key), str) for key in _CITED)),
        commands=static.commands,
        paths=static.paths,
        depends_on=subtask.depends_on,
        priority=state.text("priority") or "",
        area=state.text("area") or "",
        parent=state.id,
        carried=tuple(_carried(each) for each in features),
    )


def _carried(feature: Feature) -> dict[str, Any]:
    """Return a feature as stored in the parent's checklist: its evidence and notes move with it."""
    return {key: value for key, value in feature.node.value().items() if key != "moved_to"}


def _description(loaded: Loaded, count: int, statements: list[tuple[str, int]]) -> str:
    """Return the description of a subtask: its task, what was said of it there, and what the whole is for."""
    state = loaded.state
    noun = "feature" if count == 1 else "features"
    title = " ".join(state.title.split())
    paragraphs = [f"A part of task {state.id}, {title}: the {count} {noun} of the checklist below."]
    if state.last_session:
        paragraphs.append(f"What was done and said in its sessions: `taskstate session list {state.id}`.")
    if statements:
        paragraphs += [f"Task {state.id} said after session {state.last_session}:", _listed(state, statements)]
    whole = (state.description or "").strip()
    if not whole or document_kinds.kind_of(state.document).is_placeholder(whole):
        return "\n\n".join(paragraphs)
    if size_in_bytes(whole) > _MAX_DESCRIPTION:
        return "\n\n".join((*paragraphs, f"The purpose of the whole is in `{loaded.relative}`."))
    return "\n\n".join((*paragraphs, "The whole is for this:", whole))


def _listed(state: TaskState, statements: list[tuple[str, int]]) -> str:
    """Return statements as a list; of those that are too many the first, with the commands that show the others."""
    items = [escaping.item(" ".join(printable(each).split())) for each, _ in statements]
    sizes = accumulate(map(size_in_bytes, items))
    fitting = [item for item, size in zip(items, sizes, strict=True) if size <= _MAX_DESCRIPTION]
    left = [number for _, number in statements[len(fitting) :]]
    shown = first_of([f"`taskstate session show {state.id} {each}`" for each in dict.fromkeys(left)], _SHOWN)
    return "\n".join(fitting + ([f"- {len(left)} more: {shown}"] if left else []))


def _chain_output(loaded: Loaded) -> chain_quotes.Upstream:
    """Return the output of the parent before it is complete: its output so far, and the features that pass."""
    state, document = loaded.state, loaded.document
    upstream = chain.read_upstream(document, loaded.relative)
    passing = [each for each in state.checklist.counted if each.passes] if state.checklist else []
    parts = [chain.output_of(document)]
    if passing:
        items = [escaping.item(f"{each.id}: {each.description}", what=f"feature {each.id}") for each in passing]
        parts.append("\n".join(["### Features That Pass", "", *items]))
    output = "\n\n".join(filter(None, parts))
    sha = sha256(output)[:_SHA] if output else ""
    return upstream._replace(output=output, output_sha=sha, revision=state.revision + 1)


def _require_unchanged_features(text: str, subtask: Subtask, task: NewTask) -> None:
    """Refuse a subtask that does not contain its features unchanged: a defect of ours must not reach the disk.

    Raises:
        TaskstateError: code "unsafe".
    """
    state = read_state(parse(text))
    features = [_carried(each) for each in state.checklist.features] if state.checklist else []
    if state.problems or state.id != subtask.id or features != list(task.carried):
        message = f"task {subtask.id} cannot be created safely: its features would not read the same there"
        help_ = "see whether the project's own template holds all parts of the one that is shipped"
        raise TaskstateError(message, help=help_, code="unsafe")


# The parent


def _moved(loaded: Loaded, suggestion: Suggestion) -> str:
    """Return the parent's text, which names its subtasks and where each feature was moved to."""
    document = loaded.document
    target = {each: subtask.id for subtask in suggestion.subtasks for each in subtask.features}
    ids = sorted({*loaded.state.subtasks, *(each.id for each in suggestion.subtasks)}, key=names.id_key)
    edits = list(set_front_matter(document, "subtasks", ids))
    checklist = loaded.state.checklist
    if checklist:
        moved = [(each.node, {"moved_to": target[each.id]}) for each in loaded.state.open_features]
        edits += update_objects(document.text, checklist.root, moved, order=FEATURE_KEYS, newline=document.newline)
    text = apply(document.text, edits)
    before, after = loaded.state.checklist, read_state(loaded.document.with_text(text)).checklist
    moved_to = [(each.id, target.get(each.id, each.moved_to)) for each in (before.features if before else ())]
    if after is None or [(each.id, each.moved_to) for each in after.features] != moved_to:
        message = f"{loaded.relative} cannot be changed safely: its features would not read the same afterwards"
        raise TaskstateError(message, help="run `taskstate lint` on it first", code="unsafe")
    return text

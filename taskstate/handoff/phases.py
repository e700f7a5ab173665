"""Reads, adds, changes and exports the phases of a task: their objectives, attempts and progress.

Objectives are never reworded and attempts never removed. Values are edited in place, so that the layout that people
gave a JSON fence stays.
"""

from __future__ import annotations

from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model.loose_values import json_of, map_of
from taskstate.model.names import own_file, phase_in
from taskstate.model.phases import SCHEMA, SECTION, next_objective_id, objective_to_work_on, phase_id, phases_in
from taskstate.model.statuses import DONE, IN_PROGRESS, NOT_STARTED
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import json_text, update_json
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import end_of_content
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation import schema
from taskstate.workspace import artifacts
from taskstate.writing.change import Change, Outcome
from taskstate.writing.preconditions import require_revision, require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from typing import Any

    from taskstate.model.phases import PhasePart
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.nodes import Node
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

_NAME = r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"
_MAX_NAME = 64
_PROGRESS = "progress"  # the type of the exported files, see `model.names`


class Phase(NamedTuple):
    """A readable phase: its place in the document, its parsed fence, and the value, which matches its schema."""

    part: PhasePart
    root: Node
    value: dict[str, Any]


class ObjectiveUpdate(NamedTuple):
    """A change of an objective: its new status and note; None keeps the old note."""

    status: str
    note: str | None = None


def read_phases(state: TaskState) -> tuple[Phase, ...]:
    """Return the phases of a task in document order.

    Raises:
        TaskstateError: code "unreadable": a phase has no JSON fence, or an invalid one.
    """
    return tuple(_read_phase(state, part) for part in phases_in(state))


def find_phase(state: TaskState, name: str) -> Phase:
    """Find a phase of a task by name, in upper or lower case.

    Raises:
        TaskstateError: code "not-found"; code "unreadable"; code "duplicate-id": several have the name.
    """
    require_work(state, "phases of work")
    parts = phases_in(state)
    matches = [part for part in parts if part.name.casefold() == name.casefold()]
    if len(matches) > 1:
        message = f"task {state.id} has {len(matches)} phases {matches[0].name}"
        raise _ambiguous_error(message, "give one of them another number")
    if matches:
        return _read_phase(state, matches[0])
    parse_phase_name(name)  # no phase can have such a name: none is to be added
    nearest = closest(name, [part.name for part in parts], cutoff=0.0)
    suggestion = f"did you mean {nearest}? `taskstate phase show {state.id}` lists them" if nearest else ""
    message = f"task {state.id} has no phase {name}"
    help_ = suggestion or f'`taskstate phase add {state.id} {name} --name "…"` makes it'
    raise TaskstateError(message, help=help_, code="not-found")


def _ambiguous_error(subject: str, help_: str) -> TaskstateError:
    return TaskstateError(f"{subject}, so it is not clear which one is meant", help=help_, code="duplicate-id")


def _read_phase(state: TaskState, part: PhasePart) -> Phase:
    root = state.document.json(part.fences[0]) if part.fences else None
    if root is None or isinstance(root, Fault):
        reason = root.message if root else "it has no json fence"
    else:
        value = root.value()
        faults = schema.faults(value, SCHEMA)
        if not faults:
            return Phase(part, root, value)
        reason = faults[0].message
    message = f"phase {part.name} of task {state.id} cannot be read: {reason}"
    raise TaskstateError(message, help="run `taskstate lint`", code="unreadable")


def add_phase(
    workspace: Workspace, task_id: str, phase: tuple[str, str], objectives: tuple[str, ...], request: Request
) -> Outcome:
    """Add a phase at the end of a task's Feature Checklist; `phase` is its id and its name.

    Raises:
        TaskstateError: code "bad-id", "exists" or "section-missing", or a text cannot be taken over.
    """
    value = new_phase(phase, objectives, timestamp(request.metadata.now))

    def job(loaded: Loaded) -> Change:
        return Change(text=with_phase(loaded.state, value))

    return change(workspace, task_id, job, request)


def parse_phase_name(text: str) -> str:
    """Validate `text` as the id of a phase, and return it stripped.

    Raises:
        TaskstateError: code "bad-id".
    """
    import re

    name = text.strip()
    if len(name) > _MAX_NAME or not re.fullmatch(_NAME, name):
        message = f"{text[:_MAX_NAME]!r} is not an id of a phase"
        help_ = "it is a number, or letters and digits joined by single . _ or -, such as 3 or 2a"
        raise TaskstateError(message, help=help_, code="bad-id")
    return name


def _objective_text(text: str) -> str:
    return " ".join(escaping.one_line(text, what="an objective").split())


def new_phase(phase: tuple[str, str], objectives: tuple[str, ...], now: str) -> dict[str, Any]:
    """Return the value of a new phase that has not been started.

    Raises:
        TaskstateError: code "bad-id", or a text cannot be taken over.
    """
    descriptions = [_objective_text(text) for text in objectives]
    duplicate = next((text for text in descriptions if descriptions.count(text) > 1), None)
    if duplicate:
        raise TaskstateError(f"the objective {duplicate!r} is given twice", help="give each once", code="usage")
    entries = [
        {"id": number, "description": text, "status": NOT_STARTED} for number, text in enumerate(descriptions, start=1)
    ]
    return {
        "phase": phase_id(parse_phase_name(phase[0])),
        "phase_name": " ".join(escaping.one_line(phase[1], what="the phase's name").split()),
        "started_at": None,
        "last_updated": now,
        "objectives": entries,
        "current_objective": objective_to_work_on(entries, None),
        "approaches_tried": [],
        "handoff_count": 0,
    }


def with_phase(state: TaskState, value: dict[str, Any]) -> str:
    """Return a state file's text with one more phase, at the end of its Feature Checklist.

    Raises:
        TaskstateError: code "exists", "section-missing" or "unsafe".
    """
    require_work(state, "phases of work")
    document, section, name = state.document, state.section(SECTION), str(value["phase"])
    if section is None:
        message = f"task {state.id} has no section {SECTION}"
        raise TaskstateError(message, help=f"add `## 3. {SECTION}`", code="section-missing")
    before = phases_in(state)
    if any(part.name.casefold() == name.casefold() for part in before):
        message = f"task {state.id} has a phase {name} already"
        raise TaskstateError(message, help=f'`taskstate phase extend {state.id} {name} "…"` adds to it', code="exists")
    nl = document.newline
    heading = f"### Phase {name}: {value['phase_name']}"
    heading = heading[:-1] + "\\#" if heading.endswith("#") else heading  # Markdown drops closing `#` of a heading
    text = nl.join([heading, "", "```json", json_text(value, newline=nl), "```"])
    end = end_of_content(document.text, section.span)
    line_end = "" if end < len(document.text) else nl
    extended = apply(document.text, (Edit(end, end, nl * 2 + text + line_end),))
    after = phases_in(read_state(state.document.with_text(extended)))
    if [part.name for part in after] != [*(part.name for part in before), name] or len(after[-1].fences) != 1:
        message = f"task {state.id}: a phase cannot be added, since something in the {SECTION} never closes"
        help_ = "run `taskstate lint` and fix the fence or comment that it names"
        raise TaskstateError(message, help=help_, code="unsafe")
    return extended


def set_objective(
    workspace: Workspace, task_id: str, target: tuple[str, str], update: ObjectiveUpdate, request: Request
) -> Outcome:
    """Set the status and note of an objective; `target` is the name of the phase and the objective's id.

    Raises:
        TaskstateError: code "not-found": there is no such phase or objective; code "duplicate-id": there are several.
    """
    note = {} if update.note is None else {"note": escaping.clean(update.note, what="--note")}

    def job(loaded: Loaded) -> Change:
        phase = find_phase(loaded.state, target[0])
        index = _index(loaded.state, phase, target[1])
        objectives = [dict(each) for each in phase.value["objectives"]]
        updated = objectives[index] | {"status": update.status} | note
        if updated == objectives[index]:
            return Change(text=loaded.document.text)
        objectives[index] = updated
        current = updated["id"] if update.status == IN_PROGRESS else phase.value["current_objective"]
        current = objective_to_work_on(objectives, current)
        changes: dict[str, Any] = {"objectives": objectives, "current_objective": current}
        if phase.value["started_at"] is None and update.status in {IN_PROGRESS, DONE}:
            changes["started_at"] = timestamp(request.metadata.now)
        return Change(text=with_changes(loaded, phase, changes, timestamp(request.metadata.now)))

    return change(workspace, task_id, job, request)


def _index(state: TaskState, phase: Phase, objective: str) -> int:
    ids = [str(each["id"]) for each in phase.value["objectives"]]
    if ids.count(objective) > 1:
        message = f"phase {phase.part.name} of task {state.id} has {ids.count(objective)} objectives {objective}"
        raise _ambiguous_error(message, "give one of them another id")
    if objective in ids:
        return ids.index(objective)
    choices = f"it has {', '.join(ids)}" if ids else "it has none"
    message = f"phase {phase.part.name} of task {state.id} has no objective {objective}: {choices}"
    help_ = f'`taskstate phase extend {state.id} {phase.part.name} "…"` adds one'
    raise TaskstateError(message, help=help_, code="not-found")


def extend(workspace: Workspace, task_id: str, name: str, text: str, request: Request) -> Outcome:
    """Add an objective to a phase, unless it has one in these words."""
    description = _objective_text(text)

    def job(loaded: Loaded) -> Change:
        phase = find_phase(loaded.state, name)
        objectives = phase.value["objectives"]
        existing = next((each for each in objectives if each["description"] == description), None)
        if existing:
            raise TaskstateError(
                f"phase {phase.part.name} of task {loaded.state.id} has this objective already, as {existing['id']}",
                help="word the new one so that both can be told apart",
                code="exists",
            )
        objective = {"id": next_objective_id(objectives), "description": description, "status": NOT_STARTED}
        extended = [*objectives, objective]
        current = objective_to_work_on(extended, phase.value["current_objective"])
        changes = {"objectives": extended, "current_objective": current}
        return Change(text=with_changes(loaded, phase, changes, timestamp(request.metadata.now)))

    return change(workspace, task_id, job, request)


def record_attempt(
    workspace: Workspace, task_id: str, name: str, attempt: tuple[str, str], request: Request
) -> Outcome:
    """Record an attempt in a phase, as approach and result; the same pair is recorded only once."""
    approach = escaping.clean(attempt[0], what="--approach").strip()
    result = escaping.clean(attempt[1], what="--result").strip()

    def job(loaded: Loaded) -> Change:
        phase = find_phase(loaded.state, name)
        attempts = phase.value["approaches_tried"]
        if any((each["approach"], each["result"]) == (approach, result) for each in attempts):
            return Change(text=loaded.document.text)
        changes = {"approaches_tried": [*attempts, {"approach": approach, "result": result}]}
        return Change(text=with_changes(loaded, phase, changes, timestamp(request.metadata.now)))

    return change(workspace, task_id, job, request)


def with_changes(loaded: Loaded, phase: Phase, changes: dict[str, Any], now: str) -> str:
    """Return a state file's text with these keys of a phase and its `last_updated` changed in place."""
    order = tuple(schema.load(SCHEMA)["properties"])
    values = changes | {"last_updated": now}
    document = loaded.document
    return apply(document.text, update_json(document.text, phase.root, values, order=order, newline=document.newline))


class ExportedPhase(NamedTuple):
    """A phase that was exported to a file: the text, its value, and the outcome of writing it."""

    text: str
    value: dict[str, Any]
    outcome: Outcome


def export(workspace: Workspace, task_id: str, name: str, output: Path | None, request: Request) -> ExportedPhase:
    """Write a phase to a progress file: to `output`, or among the task's artifacts.

    An existing file is replaced only where it is a progress file of the same phase.

    Raises:
        TaskstateError: code "not-found"; code "file-name": by its name lint would not take the file for one of this
            phase; code "exists": another file is there; code "path-escapes": it lies outside, or in git's own folder.
    """
    loaded = workspace.load(workspace.locate(task_id))
    require_revision(loaded, request.expect)
    phase = find_phase(loaded.state, name)
    text = json_text(phase.value) + "\n"
    file_name = f"phase-{phase.part.name}-progress.json"
    artifact = artifacts.relative_path(loaded.state.id, file_name)
    if output is None:
        path, shown = artifacts.absolute_path(workspace, artifact), f"{workspace.config.root}/{artifact}"
    else:
        path, shown = _output_path(workspace, output, loaded.state.id, phase), output.as_posix()
    present = None if files.size(path) is None else files.read(path)
    is_same = present == text.encode()
    if not is_same and not request.dry_run:
        if output is None:
            artifacts.write(workspace, loaded.state.id, file_name, text.encode())
        elif present is None:
            files.create(path, text.encode())
        else:
            files.replace(path, text.encode())
    return ExportedPhase(text, phase.value, Outcome(path=shown, revision=loaded.token, changed=not is_same))


def _output_path(workspace: Workspace, output: Path, task_id: str, phase: Phase) -> Path:
    """Return the full path of `output`, if the progress file of a phase may be written there.

    Raises:
        TaskstateError: as `export`.
    """
    path = files.inside(workspace.root, workspace.relative(_absolute_path(output, workspace.root)))
    own, name = own_file(path.as_posix()), phase.part.name
    is_progress_file = own is not None and own.type == _PROGRESS and not workspace.excludes(path)
    if own is None or not is_progress_file or phase_in(path.name) != name or own.id not in {None, task_id}:
        message = f"{files.shown(output)} is not a name of a file with the progress of phase {name} of task {task_id}"
        help_ = f"call it phase-{name}-progress.json, so that lint knows what it is"
        raise TaskstateError(message, help=help_, code="file-name")
    if files.size(path) is not None and not _is_same_phase(files.read(path), phase.value):
        message = f"{files.shown(output)} exists already, and does not hold the progress of this phase"
        raise TaskstateError(message, help="move it out of the way, or name another folder", code="exists")
    return path


def _absolute_path(path: Path, root: Path) -> Path:
    """Return an absolute path, below `root` also where only its resolved links lead there."""
    import os

    unresolved = Path(os.path.abspath(path))  # links stay, so that a writer can still refuse one
    if unresolved.is_relative_to(root):
        return unresolved
    real, real_root = unresolved.parent.resolve(), root.resolve()
    return root / real.relative_to(real_root) / unresolved.name if real.is_relative_to(real_root) else unresolved


def _is_same_phase(data: bytes, value: dict[str, Any]) -> bool:
    """Return whether a file holds the progress of a phase, in any state."""
    present = map_of(json_of(data))
    keys = ("phase", "phase_name")
    return not schema.faults(present, SCHEMA) and all(present[key] == value[key] for key in keys)

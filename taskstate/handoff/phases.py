"""Keeps the phases of a task: their objectives, what was tried, and where the work stands.

Objectives are never reworded and what was tried is never taken back; values change in place, so that whatever layout
somebody gave a fence stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model.names import own_file, phase_in
from taskstate.model.phases import SCHEMA, SECTION, current_after, next_id, phase_id, phases_in
from taskstate.model.statuses import DONE, IN_PROGRESS, NOT_STARTED
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import timestamp
from taskstate.storage import files
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import json_text, update_json
from taskstate.syntax.nodes import Fault
from taskstate.syntax.spans import end_of_content
from taskstate.validation import schema
from taskstate.workspace import artifacts
from taskstate.workspace.change import Change, Outcome
from taskstate.workspace.preconditions import require_revision
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from taskstate.model.phases import PhasePart
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.nodes import Node
    from taskstate.workspace.change import Request
    from taskstate.workspace.workspace import Loaded, Workspace

_NAME = r"[A-Za-z0-9]+(?:[._-][A-Za-z0-9]+)*"
_MAX_NAME = 64
_PROGRESS = "progress"  # the type of file that an export writes


class Phase(NamedTuple):
    """A phase that can be read: where it stands, and what its fence says, which meets its schema."""

    part: PhasePart
    root: Node
    value: dict[str, Any]


class ObjectiveUpdate(NamedTuple):
    """What an objective is told: its status, and a note, or None where the old one stays."""

    status: str
    note: str | None = None


def read_phases(state: TaskState) -> tuple[Phase, ...]:
    """Return the phases of a task.

    Raises:
        TaskstateError: code "unreadable": the fence of one is missing, no JSON, or breaks its schema.
    """
    return tuple(_read(state, part) for part in phases_in(state))


def find_phase(state: TaskState, name: str) -> Phase:
    """Return one phase of a task.

    Raises:
        TaskstateError: code "not-found"; code "unreadable"; code "duplicate-id": several bear the name.
    """
    parts = phases_in(state)
    found = [part for part in parts if part.name.casefold() == name.casefold()]
    if len(found) > 1:
        raise _ambiguous(f"task {state.id} has {len(found)} phases {found[0].name}", "give one of them another number")
    if found:
        return _read(state, found[0])
    near = closest(name, [part.name for part in parts], cutoff=0.0)
    many = f"did you mean {near}? `taskstate phase show {state.id}` lists them" if near else ""
    raise TaskstateError(
        f"task {state.id} has no phase {name}",
        help=many or f'`taskstate phase add {state.id} {name} --name "…"` makes it',
        code="not-found",
    )


def _ambiguous(what: str, help_: str) -> TaskstateError:
    return TaskstateError(f"{what}, so nobody can tell which one is meant", help=help_, code="duplicate-id")


def _read(state: TaskState, part: PhasePart) -> Phase:
    root = state.document.json(part.fences[0]) if part.fences else None
    if root is None or isinstance(root, Fault):
        why = root.message if root else "it has no json fence"
    else:
        value = root.value()
        faults = schema.faults(value, SCHEMA)
        if not faults:
            return Phase(part, root, value)
        why = faults[0].message
    what = f"phase {part.name} of task {state.id} cannot be read: {why}"
    raise TaskstateError(what, help="run `taskstate lint`", code="unreadable")


def add_phase(
    workspace: Workspace, task_id: str, phase: tuple[str, str], objectives: tuple[str, ...], request: Request
) -> Outcome:
    """Add a phase, as its id and its name, at the end of a task's Feature Checklist.

    Raises:
        TaskstateError: code "bad-id", "exists" or "section-missing", or a text cannot be taken over.
    """
    value = new_phase(phase, objectives, timestamp(request.stamp.now))

    def job(loaded: Loaded) -> Change:
        return Change(text=with_phase(loaded.state, value))

    return change(workspace, task_id, job, request)


def parse_phase_name(text: str) -> str:
    """Return `text` as the id of a phase.

    Raises:
        TaskstateError: code "bad-id".
    """
    import re

    name = text.strip()
    if len(name) > _MAX_NAME or not re.fullmatch(_NAME, name):
        raise TaskstateError(
            f"{text[:_MAX_NAME]!r} is no id of a phase",
            help="it is a number, or letters and digits joined by single . _ or -, such as 3 or 2a",
            code="bad-id",
        )
    return name


def _objective_text(text: str) -> str:
    return " ".join(escaping.one_line(text, what="an objective").split())


def new_phase(phase: tuple[str, str], objectives: tuple[str, ...], now: str) -> dict[str, Any]:
    """Return the value of a phase that nobody has begun.

    Raises:
        TaskstateError: code "bad-id", or a text cannot be taken over.
    """
    wanted = [_objective_text(text) for text in objectives]
    repeated = next((text for text in wanted if wanted.count(text) > 1), None)
    if repeated:
        raise TaskstateError(f"the objective {repeated!r} is given twice", help="give each once", code="usage")
    listed = [{"id": number, "description": text, "status": NOT_STARTED} for number, text in enumerate(wanted, start=1)]
    return {
        "phase": phase_id(parse_phase_name(phase[0])),
        "phase_name": " ".join(escaping.one_line(phase[1], what="the phase's name").split()),
        "started_at": None,
        "last_updated": now,
        "objectives": listed,
        "current_objective": current_after(listed, None),
        "approaches_tried": [],
        "handoff_count": 0,
    }


def with_phase(state: TaskState, value: dict[str, Any]) -> str:
    """Return a state file's text with one more phase, at the end of its Feature Checklist.

    Raises:
        TaskstateError: code "exists", "section-missing" or "unsafe".
    """
    document, section, name = state.document, state.section(SECTION), str(value["phase"])
    if section is None:
        what = f"task {state.id} has no section {SECTION}"
        raise TaskstateError(what, help=f"add `## 3. {SECTION}`", code="section-missing")
    before = phases_in(state)
    if any(part.name.casefold() == name.casefold() for part in before):
        what = f"task {state.id} has a phase {name} already"
        raise TaskstateError(what, help=f'`taskstate phase extend {state.id} {name} "…"` adds to it', code="exists")
    nl = document.newline
    heading = f"### Phase {name}: {value['phase_name']}"
    heading = heading[:-1] + "\\#" if heading.endswith("#") else heading  # a heading drops the marks that close it
    text = nl.join([heading, "", "```json", json_text(value, newline=nl), "```"])
    place = end_of_content(document.text, section.span)
    end = "" if place < len(document.text) else nl
    longer = apply(document.text, (Edit(place, place, nl * 2 + text + end),))
    after = phases_in(read_state(parse(longer)))
    if [part.name for part in after] != [*(part.name for part in before), name] or len(after[-1].fences) != 1:
        raise TaskstateError(
            f"task {state.id}: a phase cannot be added, since something in the {SECTION} never closes",
            help="run `taskstate lint` and mend the fence or comment that it names",
            code="unsafe",
        )
    return longer


def set_objective(
    workspace: Workspace, task_id: str, place: tuple[str, str], told: ObjectiveUpdate, request: Request
) -> Outcome:
    """Record where an objective stands; `place` is the phase and the objective's id.

    Raises:
        TaskstateError: code "not-found": there is no such phase or objective; code "duplicate-id": there are several.
    """
    note = {} if told.note is None else {"note": escaping.clean(told.note, what="--note")}

    def job(loaded: Loaded) -> Change:
        phase = find_phase(loaded.state, place[0])
        at = _index(loaded.state, phase, place[1])
        objectives = [dict(each) for each in phase.value["objectives"]]
        wanted = objectives[at] | {"status": told.status} | note
        if wanted == objectives[at]:
            return Change(text=loaded.document.text)
        objectives[at] = wanted
        chosen = wanted["id"] if told.status == IN_PROGRESS else phase.value["current_objective"]
        changes: dict[str, Any] = {
            "objectives": objectives,
            "current_objective": current_after(objectives, chosen),
        }
        if phase.value["started_at"] is None and told.status in {IN_PROGRESS, DONE}:
            changes["started_at"] = timestamp(request.stamp.now)
        return Change(text=with_changes(loaded, phase, changes, timestamp(request.stamp.now)))

    return change(workspace, task_id, job, request)


def _index(state: TaskState, phase: Phase, objective: str) -> int:
    ids = [str(each["id"]) for each in phase.value["objectives"]]
    if ids.count(objective) > 1:
        what = f"phase {phase.part.name} of task {state.id} has {ids.count(objective)} objectives {objective}"
        raise _ambiguous(what, "give one of them another id")
    if objective in ids:
        return ids.index(objective)
    known = f"it has {', '.join(ids)}" if ids else "it has none"
    raise TaskstateError(
        f"phase {phase.part.name} of task {state.id} has no objective {objective}: {known}",
        help=f'`taskstate phase extend {state.id} {phase.part.name} "…"` adds one',
        code="not-found",
    )


def extend(workspace: Workspace, task_id: str, name: str, text: str, request: Request) -> Outcome:
    """Add one more objective to a phase."""
    description = _objective_text(text)

    def job(loaded: Loaded) -> Change:
        phase = find_phase(loaded.state, name)
        objectives = phase.value["objectives"]
        same = next((each for each in objectives if each["description"] == description), None)
        if same:
            raise TaskstateError(
                f"phase {phase.part.name} of task {loaded.state.id} has this objective already, as {same['id']}",
                help="word the new one so that both can be told apart",
                code="exists",
            )
        new = {"id": next_id(objectives), "description": description, "status": NOT_STARTED}
        longer = [*objectives, new]
        current = current_after(longer, phase.value["current_objective"])
        changes = {"objectives": longer, "current_objective": current}
        return Change(text=with_changes(loaded, phase, changes, timestamp(request.stamp.now)))

    return change(workspace, task_id, job, request)


def record_attempt(
    workspace: Workspace, task_id: str, name: str, attempt: tuple[str, str], request: Request
) -> Outcome:
    """Record what was tried in a phase, as the approach and its result; the same is not recorded twice."""
    approach = escaping.clean(attempt[0], what="--approach").strip()
    result = escaping.clean(attempt[1], what="--result").strip()

    def job(loaded: Loaded) -> Change:
        phase = find_phase(loaded.state, name)
        known = phase.value["approaches_tried"]
        if any((each["approach"], each["result"]) == (approach, result) for each in known):
            return Change(text=loaded.document.text)
        changes = {"approaches_tried": [*known, {"approach": approach, "result": result}]}
        return Change(text=with_changes(loaded, phase, changes, timestamp(request.stamp.now)))

    return change(workspace, task_id, job, request)


def with_changes(loaded: Loaded, phase: Phase, changes: dict[str, Any], now: str) -> str:
    """Return a state file's text with these keys of a phase changed, in place, and the time of that."""
    order = tuple(schema.load(SCHEMA)["properties"])
    wanted = changes | {"last_updated": now}
    document = loaded.document
    return apply(document.text, update_json(document.text, phase.root, wanted, order=order, newline=document.newline))


class ExportedPhase(NamedTuple):
    """A phase in a file of its own: the text, and the outcome of writing it."""

    text: str
    value: dict[str, Any]
    outcome: Outcome


def export(workspace: Workspace, task_id: str, name: str, output: Path | None, request: Request) -> ExportedPhase:
    """Write a phase as a progress file: to `output`, or among the task's artifacts, since it is derived.

    An existing file is replaced only where it is a progress file of the same phase.

    Raises:
        TaskstateError: code "not-found"; code "file-name": lint would not know a file of that name for one of this
            phase; code "exists": another file is there; code "path-escapes": it lies outside, or in git's own folder.
    """
    loaded = workspace.load(workspace.locate(task_id))
    require_revision(loaded, request.expect)
    phase = find_phase(loaded.state, name)
    text = json_text(phase.value) + "\n"
    file_name = f"phase-{phase.part.name}-progress.json"
    where = artifacts.name_of(loaded.state.id, file_name)
    path = artifacts.path_of(workspace, where) if output is None else _place(workspace, output, loaded.state.id, phase)
    before = None if files.size(path) is None else files.read(path)
    same = before == text.encode()
    if not same and not request.dry_run:
        if output is None:
            artifacts.write(workspace, loaded.state.id, file_name, text.encode())
        elif before is None:
            files.create(path, text.encode())
        else:
            files.replace(path, text.encode())
    shown = f"{workspace.config.root}/{where}" if output is None else output.as_posix()
    return ExportedPhase(text, phase.value, Outcome(path=shown, revision=loaded.token, changed=not same))


def _place(workspace: Workspace, output: Path, task_id: str, phase: Phase) -> Path:
    """Return where the progress file of a phase may be written.

    Raises:
        TaskstateError: as `export`.
    """
    path = files.inside(workspace.root, workspace.relative(_absolute(output, workspace.root)))
    own, name = own_file(path.as_posix()), phase.part.name
    is_known = own is not None and own.type == _PROGRESS and not workspace.excludes(path)
    if own is None or not is_known or phase_in(path.name) != name or own.id not in {None, task_id}:
        raise TaskstateError(
            f"{files.shown(output)} is no name of a file with the progress of phase {name} of task {task_id}",
            help=f"call it phase-{name}-progress.json, so that lint knows what it is",
            code="file-name",
        )
    if files.size(path) is not None and not _is_same_phase(files.read(path), phase.value):
        raise TaskstateError(
            f"{files.shown(output)} exists already, and is no progress of this phase",
            help="move it out of the way, or name another folder",
            code="exists",
        )
    return path


def _absolute(path: Path, root: Path) -> Path:
    """Return a path from the file system's root; below the repository's root wherever links lead there."""
    import os

    plain = Path(os.path.abspath(path))  # links stay, so that a writer can still refuse one
    if plain.is_relative_to(root):
        return plain
    real, real_root = plain.parent.resolve(), root.resolve()
    return root / real.relative_to(real_root) / plain.name if real.is_relative_to(real_root) else plain


def _is_same_phase(data: bytes, value: dict[str, Any]) -> bool:
    """Return whether a file holds the progress of a phase, at whatever time."""
    import json

    try:
        there = json.loads(data)
    except ValueError:
        return False
    keys = ("phase", "phase_name")
    return not schema.faults(there, SCHEMA) and all(there[key] == value[key] for key in keys)

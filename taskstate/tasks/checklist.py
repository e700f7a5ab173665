"""Changes single values of the Feature Checklist and the acceptance criteria, in place."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.evidence.command_evidence import log_stem
from taskstate.messages import closest
from taskstate.model import names
from taskstate.model.names import parse_feature_id
from taskstate.model.statuses import COMPLETE, DROPPED
from taskstate.model.write_metadata import timestamp
from taskstate.syntax import escaping
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.json_edit import append_json_item, update_objects
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts
from taskstate.writing.change import Change
from taskstate.writing.preconditions import require_not_dropped, require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from taskstate.model.criteria import Criterion
    from taskstate.model.task_state import Checklist, Feature, TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

FEATURE_KEYS = ("id", "description", "passes", "tested_at", "evidence", "notes", "moved_to")


_PHASE_STATUS = '`taskstate permanent update --section "Phase Status" --from FILE` says how far things are'


def add_feature(workspace: Workspace, task_id: str, feature_id: str, description: str, request: Request) -> Outcome:
    """Add a feature, which does not pass yet, to a task's checklist.

    Raises:
        TaskstateError: code "task-closed": the task is complete or dropped; code "exists" or "unreadable".
    """
    feature_id = parse_feature_id(feature_id)
    description = escaping.one_line(description, what="the feature's description")

    def job(loaded: Loaded) -> Change:
        _require_open(loaded.state)
        checklist = _checklist(loaded.state)
        if any(feature.id == feature_id for feature in checklist.features):
            raise TaskstateError(
                f"task {loaded.state.id} has a feature {feature_id} already", help="choose another id", code="exists"
            )
        features = checklist.root.get("features")
        if features is None:
            message = f"the checklist of task {loaded.state.id} has no list of features"
            raise TaskstateError(message, help="run `taskstate lint`", code="unreadable")
        new = new_feature(feature_id, description)
        return _changed(loaded, append_json_item(loaded.document.text, features, new, newline=loaded.document.newline))

    return change(workspace, task_id, job, request)


def _require_open(state: TaskState) -> None:
    """Refuse a task that is complete or given up: nobody would work on it, and its output is handed down.

    Raises:
        TaskstateError: code "task-closed".
    """
    if state.status == COMPLETE:
        help_ = f'`taskstate reopen {state.id} --note "WHY"` reopens it'
    elif state.status == DROPPED:
        help_ = "add it to another task"
    else:
        return
    message = f"task {state.id} is {state.status}: its features and criteria stay as they are"
    raise TaskstateError(message, help=help_, code="task-closed")


def _where_open(job: Callable[[Loaded], Change]) -> Callable[[Loaded], Change]:
    """Return a step that is refused as `_require_open` does, and else does the same."""

    def checked(loaded: Loaded) -> Change:
        _require_open(loaded.state)
        return job(loaded)

    return checked


def new_feature(feature_id: str, description: str) -> dict[str, Any]:
    """Return a feature that does not pass yet, as the checklist stores it."""
    return {"id": feature_id, "description": description, "passes": False, "tested_at": None}


class FeatureResult(NamedTuple):
    """The result of testing a feature.

    `evidence` is a text, a commit, or a command with its exit status and the hash of its log; `log` is that log.
    """

    passes: bool
    evidence: object
    log: bytes | None = None


def require_feature(workspace: Workspace, task_id: str, feature_id: str) -> None:
    """Refuse a feature that the task does not have, before any command is run to prove it.

    Raises:
        TaskstateError: code "dropped", "task-closed", "not-found", "duplicate-id" or "unreadable".
    """
    state = workspace.load(workspace.locate(task_id)).state
    require_not_dropped(state)
    _require_open(state)
    _feature(state, feature_id)


def set_feature(
    workspace: Workspace, task_id: str, feature_id: str, result: FeatureResult, request: Request
) -> Outcome:
    """Record that a feature was tested now, and with which result.

    Raises:
        TaskstateError: code "task-closed"; or there is no such feature.
    """
    return change(workspace, task_id, _where_open(testing(feature_id, result, request)), request)


def testing(feature_id: str, result: FeatureResult, request: Request) -> Callable[[Loaded], Change]:
    """Return the step that records in a state file that a feature was tested now, and with which result."""
    now = timestamp(request.metadata.now)
    changes = {"passes": result.passes, "tested_at": now, "evidence": result.evidence}

    def job(loaded: Loaded) -> Change:
        state, node, stem = loaded.state, _feature(loaded.state, feature_id).node, log_stem(feature_id)
        root, changed = _checklist(state).root, ((node, changes),)
        edits = update_objects(loaded.document.text, root, changed, order=FEATURE_KEYS, newline=loaded.document.newline)
        old_log = node.get("evidence", "log_sha256")
        kept = () if result.log is None else (artifacts.content_addressed(state.id, stem, result.log, ".log"),)
        replaced = (names.hashed_artifact(state.id, stem, old_log.text, ".log"),) if old_log else ()
        return _changed(loaded, edits)._replace(artifacts=kept, obsolete_artifacts=replaced)

    return job


def set_criterion(workspace: Workspace, task_id: str, number: int, request: Request, *, checked: bool) -> Outcome:
    """Check or uncheck an acceptance criterion, counted from 1.

    Raises:
        TaskstateError: code "task-closed"; or there is no such criterion.
    """
    return change(workspace, task_id, _where_open(checking(number, checked=checked)), request)


def checking(number: int, *, checked: bool) -> Callable[[Loaded], Change]:
    """Return the step that checks or unchecks an acceptance criterion of a state file."""

    def job(loaded: Loaded) -> Change:
        require_work(loaded.state, "acceptance criteria", _PHASE_STATUS)
        criterion = _criterion(loaded, number)
        edits = (Edit(*criterion.mark, "x" if checked else " "),) if criterion.checked != checked else ()
        return _changed(loaded, edits)

    return job


def _criterion(loaded: Loaded, number: int) -> Criterion:
    """Return a criterion by its number in the list that a person sees.

    Raises:
        TaskstateError: code "not-found": there is none of that number, or what stands there is no criterion.
    """
    from taskstate.model.criteria import read_criteria

    state, criteria = loaded.state, read_criteria(loaded.document)
    found = next((each for each in criteria.sound if each.number == number), None)
    if found:
        return found
    wrong = next((each for each in criteria.malformed if each.number == number), None)
    if wrong:
        line = loaded.document.position(wrong.span.start).line + 1
        message = f"{loaded.relative}, line {line}: criterion {number} is malformed: {wrong.flaw.reason}"
        raise TaskstateError(message, help=wrong.flaw.cure, code="not-found")
    count = len(criteria.sound) + len(criteria.malformed)
    hint = f"it has {count}, counted from 1" if count else "it has none"
    message = f"task {state.id} has no criterion {number}: {hint}"
    raise TaskstateError(message, help=f"`taskstate show {state.id}` lists them", code="not-found")


def _changed(loaded: Loaded, edits: tuple[Edit, ...]) -> Change:
    return Change(text=apply(loaded.document.text, edits))


def _checklist(state: TaskState) -> Checklist:
    require_work(state, "features", _PHASE_STATUS)
    if state.checklist is None:
        invalid = (problem.message for problem in state.problems if problem.kind == "json-invalid")
        reason = next(invalid, "there is no json fence")
        message = f"the Feature Checklist of task {state.id} cannot be read: {reason}"
        raise TaskstateError(message, help="run `taskstate lint`", code="unreadable")
    return state.checklist


def _feature(state: TaskState, feature_id: str) -> Feature:
    matches = [feature for feature in _checklist(state).features if feature.id == feature_id]
    if len(matches) == 1:
        target = matches[0].moved_to
        if target:  # there it counts, here nothing would
            help_ = f"record its test there: `taskstate feature pass {target} {feature_id} --evidence TEXT`"
            raise TaskstateError(
                f"feature {feature_id} of task {state.id} moved to task {target}", help=help_, code="moved"
            )
        return matches[0]
    if matches:
        message = f"task {state.id} has {len(matches)} features {feature_id}"
        raise TaskstateError(message, help="give each its own id first", code="duplicate-id")
    near = closest(feature_id, [feature.id for feature in _checklist(state).features], cutoff=0.0)
    one = f"did you mean {near}?" if "," not in feature_id else "name one feature at a time, as in `--pass A --pass B`"
    hint = one if near else f"`taskstate feature add {state.id} {feature_id} TEXT` makes it"
    raise TaskstateError(f"task {state.id} has no feature {feature_id}", help=hint, code="not-found")

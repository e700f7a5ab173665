"""Hands work over: writes a handoff document, held against every rule before, and counts it in the state file."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.handoff.document import (
    OPEN,
    TEMPLATE,
    Handoff,
    HandoffReader,
    front_matter_text,
    is_unfilled,
    template_values,
)
from taskstate.handoff.document_files import (
    HandoffFile,
    archive_path,
    document_name,
    handoff_files,
    open_document,
)
from taskstate.handoff.draft import LENGTHS, DraftSources, draft
from taskstate.handoff.input import merge_handoffs
from taskstate.handoff.paths import folder
from taskstate.handoff.phases import Phase, find_phase, parse_phase_name, read_phases, with_changes
from taskstate.handoff.verified_facts import WorkingTree, current_tree, state_facts
from taskstate.model.phases import phase_id
from taskstate.model.statuses import COMPLETE
from taskstate.model.task_state import KB
from taskstate.model.tool_blocks import read_seen
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp
from taskstate.storage import files, journal
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.escaping import is_none
from taskstate.version import FORMAT
from taskstate.workspace import templates
from taskstate.workspace.change import Change, Outcome
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TypeAlias

    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import SeenState
    from taskstate.workspace.change import Request
    from taskstate.workspace.workspace import Loaded, Workspace

    # Given the path, the text and the creation time of a document, the code and message of each error in it.
    Validator: TypeAlias = Callable[[str, str, str], tuple[tuple[str, str], ...]]

STAGE = "context_exhaustion_handoff"
_SECOND = timedelta(seconds=1)
_DETAILS = 160  # characters
_NEEDED = (("action", "--action"), ("file", "--file"), ("location", "--location"), ("goal", "--goal"))
_GUARDED = frozenset({"TS951"})  # told by the guard that every write goes through


class HandoffRequest(NamedTuple):
    """What a handoff shall say; `draft`: the rest from the state file; `force`: also where nothing has moved on."""

    handoff: Handoff
    draft: bool = False
    force: bool = False


class HandoffResult(NamedTuple):
    """A handoff document and where it lies, from the repository's root; a draft that lacks something lies nowhere."""

    text: str
    path: str = ""
    action: str = ""
    outcome: Outcome | None = None
    missing: tuple[str, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """What an agent that ends here returns to the one that started it."""
        details = f"Handed over; next: {' '.join(self.action.split())}"
        details = details if len(details) <= _DETAILS else details[: _DETAILS - 1] + "\u2026"
        progress = {"stage": STAGE, "details": details, "handoff_path": self.path}
        return {"status": "partial", "partial_progress": progress}


class _Planned(NamedTuple):
    handoff: Handoff
    phase: Phase | None
    text: str
    path: str
    created_at: str
    verified: SeenState
    last: HandoffFile | None


def new(
    workspace: Workspace, task_id: str, wanted: HandoffRequest, request: Request, *, errors_in: Validator
) -> HandoffResult:
    """Write the handoff document of a task's phase and count it, in one step; `errors_in` holds it against the rules.

    A draft that cannot be completed from the state file is only returned, with what it lacks.

    Raises:
        TaskstateError: code "handoff": the document would break its rules, all of which are named; code "handoff-open",
            "complete", "not-found" or "no-progress".
    """
    tree = current_tree(workspace)
    if wanted.draft:
        loaded = workspace.load(workspace.locate(task_id))
        planned = _planned(workspace, loaded, wanted, request, tree)
        missing = _missing(planned.handoff)
        if missing:
            return HandoffResult(planned.text, action=planned.handoff.action, missing=missing)

    def job(loaded: Loaded) -> Change[_Planned]:
        planned = _planned(workspace, loaded, wanted, request, tree)
        if workspace.config.handoff.minimum_progress and not wanted.force:
            _require_progress(loaded.state.id, planned)
        _require_sound(workspace, planned, errors_in)
        created = journal.Create(f"{workspace.config.root}/{planned.path}", planned.text.encode())
        text = _counted(loaded, planned, timestamp(request.stamp.now))
        return Change(text=text, before=(created,), result=planned)

    outcome = change(workspace, task_id, job, request)
    planned = outcome.result
    path = f"{workspace.config.root}/{planned.path}"
    return HandoffResult(planned.text, path, planned.handoff.action, outcome)


def _planned(
    workspace: Workspace, loaded: Loaded, wanted: HandoffRequest, request: Request, tree: WorkingTree
) -> _Planned:
    """Return the document that would be written now."""
    state = loaded.state
    documents = handoff_files(workspace, state.id)
    _require_possible(workspace, loaded, documents, force=wanted.force)
    phases = read_phases(state)
    phase = _phase(state, phases, wanted.handoff.phase)
    given = _from_root(workspace, wanted.handoff)
    name = phase.part.name if phase else parse_phase_name(given.phase or "1")
    created_at = _free_time(workspace, state.id, name, request)
    verified = read_seen({**tree._asdict(), **state_facts(state, [each.value for each in phases])})
    front = {
        "taskstate": FORMAT,
        "kind": "handoff",
        "task_id": state.id,
        "phase": phase_id(name),
        "created_at": created_at,
        "from_agent": request.stamp.actor,
        "status": OPEN,
        "state_revision": state.revision + 1,
        "accepted_by": None,
        "accepted_at": None,
        "verified": verified.values,
    }
    handoff, text = Handoff(), ""
    for drafted in _drafts(workspace, state, phase, documents) if wanted.draft else (Handoff(),):
        handoff = merge_handoffs(drafted, given)._replace(phase=name)
        text = _rendered(workspace, {**front, "do_not_reread": list(handoff.do_not_reread)}, handoff)
        if _fits(workspace, text):
            break
    path = f"{folder(state.id)}/{document_name(name, created_at)}"
    return _Planned(handoff, phase, text, path, created_at, verified, documents[-1] if documents else None)


def _drafts(
    workspace: Workspace, state: TaskState, phase: Phase | None, documents: tuple[HandoffFile, ...]
) -> Iterator[Handoff]:
    """Yield what the state file says, the longest draft first."""
    last = next((each for each in reversed(documents) if phase and each.text("phase") == phase.part.name), None)
    known = DraftSources(state, phase.value if phase else None, last.reading.handoff if last else Handoff())
    for length in LENGTHS:
        yield draft(known, _exists(workspace), length)


def _rendered(workspace: Workspace, front: Mapping[str, object], handoff: Handoff) -> str:
    return front_matter_text(front) + templates.filled(
        workspace, TEMPLATE, template_values(handoff, str(front["created_at"]))
    )


def _fits(workspace: Workspace, text: str) -> bool:
    reading, limits = HandoffReader(parse(text)), workspace.config.handoff
    return reading.lines <= limits.max_lines and reading.size <= limits.max_kb * KB


def _from_root(workspace: Workspace, handoff: Handoff) -> Handoff:
    """Return what was given with its paths from the root, where somebody wrote them out in full."""
    above = f"{workspace.root.as_posix()}/"

    def short(path: str) -> str:
        return path.removeprefix(above).removeprefix("./")

    return handoff._replace(
        file=short(handoff.file),
        references=tuple(map(short, handoff.references)),
        do_not_reread=tuple(map(short, handoff.do_not_reread)),
    )


def _require_possible(workspace: Workspace, loaded: Loaded, documents: tuple[HandoffFile, ...], *, force: bool) -> None:
    """Refuse a task that is complete, or handed over already; with `force` not for a document that nobody can read."""
    state = loaded.state
    if state.status == COMPLETE:
        what = f"task {state.id} is complete, so there is nothing to hand over"
        raise TaskstateError(what, help=f'`taskstate reopen {state.id} --note "…"` takes it up again', code="complete")
    named = blocks_of(loaded.document).handoffs.open
    if named:
        named = _still_open(workspace, named, state.id, force=force)
    found = named or next((each.path for each in documents if each.status == OPEN), "")
    if found:
        raise TaskstateError(
            f"task {state.id} is handed over already: {found} is open",
            help=f"`taskstate handoff accept {state.id}` takes it over first",
            code="handoff-open",
        )


def _still_open(workspace: Workspace, named: str, task_id: str, *, force: bool) -> str:
    """Return the open handoff that a state file names; with `force` nothing where that is lost, so that it is replaced.

    Raises:
        TaskstateError: code "handoff-open": it is missing, cannot be read, or is none.
    """
    try:
        open_document(workspace, named, task_id)
    except TaskstateError as error:
        if force:
            return ""
        raise TaskstateError(error.message, help=error.help, code="handoff-open") from error
    return named


def _phase(state: TaskState, phases: tuple[Phase, ...], name: str) -> Phase | None:
    """Return the phase that is handed over: the one named, else the one that is worked on; None where there are none.

    Raises:
        TaskstateError: code "not-found"; code "usage": nobody can tell which one is meant.
    """
    if not phases:
        return None
    if name:
        return find_phase(state, name)
    begun = [each for each in phases if each.value["started_at"] and each.value["current_objective"] is not None]
    for choice in (begun, [each for each in phases if each.value["current_objective"] is not None], [*phases]):
        if len(choice) == 1:
            return choice[0]
    names = ", ".join(each.part.name for each in phases)
    raise TaskstateError(
        f"which phase of task {state.id} is handed over? It has {names}", help="say --phase P", code="usage"
    )


def _require_progress(task_id: str, planned: _Planned) -> None:
    """Refuse to hand over again where nothing has moved on; a last document that does not tell is no measure."""
    last = planned.last
    now, then = planned.verified, last.verified if last else None
    if last and then and (then.sessions, then.objectives) == (now.sessions, now.objectives):
        raise TaskstateError(
            f"nothing has moved on since the last handoff, {last.path}: no objective changed, and no session was added",
            help=f"record what was done (`taskstate session add {task_id} …`, `taskstate phase set {task_id} …`), "
            "or hand over all the same with --force",
            code="no-progress",
        )


def _free_time(workspace: Workspace, task_id: str, phase: str, request: Request) -> str:
    """Return the time of the new document: now, or the next second that no document of the phase bears."""
    now = request.stamp.now
    while any(
        files.size(workspace.state_root / place) is not None
        for path in (f"{folder(task_id)}/{document_name(phase, timestamp(now))}",)
        for place in (path, archive_path(path))
    ):
        now += _SECOND
    return timestamp(now)


def _exists(workspace: Workspace) -> Any:  # noqa: ANN401 - a function from a path to whether it exists
    def exists(path: str) -> bool:
        try:
            return bool(path) and files.inside(workspace.root, path).exists()
        except (TaskstateError, OSError):
            return False

    return exists


def _missing(handoff: Handoff) -> tuple[str, ...]:
    """Return the flags that would say what is missing."""
    said = {field: getattr(handoff, field) for field, _ in _NEEDED}
    if is_none(said["action"]):
        said["action"] = ""
    return tuple(flag for field, flag in _NEEDED if is_unfilled(said[field]))


def _require_sound(workspace: Workspace, planned: _Planned, errors_in: Validator) -> None:
    """Refuse a document that breaks a rule, naming all that is wrong.

    Raises:
        TaskstateError: code "handoff".
    """
    missing = _missing(planned.handoff)
    found = errors_in(f"{workspace.config.root}/{planned.path}", planned.text, planned.created_at)
    skipped = {*_GUARDED, "TS801"} if missing else _GUARDED
    faults = [f"{flag} is missing" for flag in missing]
    faults += [message for code, message in found if code not in skipped]
    if faults:
        raise TaskstateError(
            f"the handoff is not fit to be written: {'; '.join(faults)}",
            help="see `taskstate handoff new --help`; `--draft` shows what the state file knows already",
            code="handoff",
        )


def _counted(loaded: Loaded, planned: _Planned, now: str) -> str:
    """Return the state file's text with one more handoff, in its front matter and in the phase."""
    text = loaded.document.text
    if planned.phase:
        changes = {"handoff_count": planned.phase.value["handoff_count"] + 1}
        text = with_changes(loaded, planned.phase, changes, now)
    return with_handoffs(text, {"count": blocks_of(parse(text)).handoffs.number + 1, "open": planned.path})


def with_handoffs(text: str, changes: Mapping[str, object]) -> str:
    """Return a state file's text with what its front matter says of handoffs changed."""
    document = parse(text)
    told = blocks_of(document).values.get("handoffs")
    before = told if isinstance(told, dict) else {"count": 0, "open": None}
    return apply(text, set_front_matter(document, "handoffs", {**before, **changes}))

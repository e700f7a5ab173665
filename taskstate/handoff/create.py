"""Creates a handoff: writes its document, if no lint rule finds an error in it, and counts it in the state file."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

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
from taskstate.handoff.document_files import HandoffFile, archive_path, document_name, list_documents, open_document
from taskstate.handoff.draft import LENGTHS, DraftSources, draft
from taskstate.handoff.input import merge_handoffs
from taskstate.handoff.invalid import INVALID, cure
from taskstate.handoff.paths import folder
from taskstate.handoff.phases import Phase, find_phase, parse_phase_name, read_phases, with_changes
from taskstate.handoff.references import split_reference, without_mark, without_position
from taskstate.handoff.verified_facts import WorkingTree, current_tree, state_facts
from taskstate.messages import one_line
from taskstate.model.phases import phase_id
from taskstate.model.task_state import KB
from taskstate.model.tool_blocks import read_seen_state
from taskstate.model.write_metadata import agent_of, blocks_of, set_front_matter, timestamp
from taskstate.storage import files, folders, journal
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.escaping import is_none
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.paths import escape_reason
from taskstate.version import FORMAT
from taskstate.workspace import templates
from taskstate.writing import preconditions
from taskstate.writing.change import Change, Outcome
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from taskstate.handoff.document_files import HandoffDocuments
    from taskstate.handoff.invalid import Validator
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import SeenState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request

STAGE = "context_exhaustion_handoff"
_SECOND = timedelta(seconds=1)
_DETAILS = 160  # characters
_NEEDED = (("action", "--action"), ("file", "--file"), ("location", "--location"), ("goal", "--goal"))
# Secrets: the check of every write refuses them already; and what other documents say, which this one cannot mend.
_GUARDED = frozenset({"TS807", "TS951"})


class HandoffRequest(NamedTuple):
    """The content of a handoff; `draft` fills the rest from the state file, `force` skips the check for progress.

    `source` is the path, from the state folder, of the document among the open handoffs that the content comes from:
    the new one takes its place, and it moves to the archive. `changed` are the files that the turn changed, for a
    draft: see `DraftSources`.
    """

    handoff: Handoff
    draft: bool = False
    force: bool = False
    source: str = ""
    changed: Mapping[str, str] = {}


class HandoffResult(NamedTuple):
    """A handoff document and its path from the repository's root, empty for a draft that is incomplete."""

    text: str
    path: str = ""
    action: str = ""
    outcome: Outcome | None = None
    missing: tuple[str, ...] = ()

    @property
    def metadata(self) -> dict[str, Any]:
        """The result that an agent which ends here returns to the agent that started it."""
        details = one_line(f"Handed over; next: {self.action}", _DETAILS)
        progress = {"stage": STAGE, "details": details, "handoff_path": self.path}
        return {"status": "partial", "partial_progress": progress}


class _HandoffPlan(NamedTuple):
    handoff: Handoff
    phase: Phase | None
    text: str
    path: str
    created_at: str
    verified: SeenState
    last: HandoffFile | None
    file_is_new: bool
    source: HandoffFile | None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the writer should know: a file that does not exist may be a slip of the pen."""
        return (f"{self.handoff.file} does not exist: marked as to be created",) if self.file_is_new else ()


def new(
    workspace: Workspace, task_id: str, handoff_request: HandoffRequest, request: Request, *, errors_in: Validator
) -> HandoffResult:
    """Write the handoff document of a task's phase and count it, in one step; `errors_in` checks it against the rules.

    A draft that cannot be completed from the state file is only returned, with the flags that are missing.

    Raises:
        TaskstateError: as `handing_over`.
    """
    tree = current_tree(workspace)
    if handoff_request.draft:
        loaded = workspace.load(workspace.locate(task_id))
        plan = _plan(workspace, loaded, handoff_request, request, tree)
        missing = _missing_flags(plan.handoff)
        if missing:
            return HandoffResult(plan.text, action=plan.handoff.action, missing=missing)
    step = handing_over(workspace, handoff_request, request, tree, errors_in=errors_in)
    outcome = change(workspace, task_id, step, request)
    plan = outcome.result
    path = f"{workspace.config.root}/{plan.path}"
    return HandoffResult(plan.text, path, plan.handoff.action, outcome)


def handing_over(
    workspace: Workspace, handoff_request: HandoffRequest, request: Request, tree: WorkingTree, *, errors_in: Validator
) -> Callable[[Loaded], Change[_HandoffPlan]]:
    """Return the step that writes the handoff document of a state file's phase and counts it, as `new` does.

    Raises:
        TaskstateError: code "handoff": the document breaks rules, and the message names them all; code "handoff-open",
            "complete", "not-found" or "no-progress".
    """

    def job(loaded: Loaded) -> Change[_HandoffPlan]:
        plan = _plan(workspace, loaded, handoff_request, request, tree)
        if handoff_request.draft and _missing_flags(plan.handoff):
            message = f"task {loaded.state.id}: no next step is given, so there is nothing to hand over"
            help_ = f'leave --handoff out; `taskstate handoff new {loaded.state.id} --draft --action "STEP"` says one'
            raise TaskstateError(message, help=help_, code="handoff")
        if workspace.config.handoff.minimum_progress and not handoff_request.force:
            _require_progress(loaded.state.id, plan)
        _require_valid(workspace, plan, errors_in)
        created = journal.Create(f"{workspace.config.root}/{plan.path}", plan.text.encode())
        copied, deleted = _moved_source(workspace, plan.source)
        text = _with_count(loaded, plan, timestamp(request.metadata.now))
        return Change(text=text, before=(created, *copied), after=deleted, notes=plan.notes, result=plan)

    return job


def _plan(
    workspace: Workspace, loaded: Loaded, handoff_request: HandoffRequest, request: Request, tree: WorkingTree
) -> _HandoffPlan:
    """Return the document that would be written now; the longest draft that fits the size limits is taken."""
    state = loaded.state
    listed = list_documents(workspace, state.id)
    source, listed = _without_source(listed, handoff_request.source)
    _require_possible(workspace, loaded, listed, handoff_request)
    documents = listed.read
    phases = read_phases(state)
    phase = _phase(state, phases, handoff_request)
    given = _from_root(workspace, handoff_request.handoff)
    name = phase.part.name if phase else parse_phase_name(given.phase or "1")
    created_at = _free_time(workspace, state.id, name, request)
    verified = read_seen_state({**tree._asdict(), **state_facts(state, [each.value for each in phases])})
    front_matter = {
        "taskstate": FORMAT,
        "kind": "handoff",
        "task_id": state.id,
        "phase": phase_id(name),
        "created_at": created_at,
        "from_agent": agent_of(loaded.document, request.metadata.actor, request.metadata.agent),
        "status": OPEN,
        "state_revision": state.revision + 1,
        "accepted_by": None,
        "accepted_at": None,
        "verified": verified.values,
    }
    earlier = (each.reading.handoff for each in reversed(documents) if each.text("phase") == name)
    sources = DraftSources(state, phase.value if phase else None, next(earlier, Handoff()), handoff_request.changed)
    handoff, text, file_is_new = Handoff(), "", False
    drafts = (draft(sources, partial(_exists, workspace), length) for length in LENGTHS)  # the longest first
    for drafted in drafts if handoff_request.draft else (Handoff(),):
        handoff = merge_handoffs(drafted, given)._replace(phase=name)
        file_is_new = _is_new_file(workspace, handoff.file)
        values = template_values(handoff, created_at, file_is_new=file_is_new)
        reread = {"do_not_reread": list(handoff.do_not_reread)}
        text = front_matter_text({**front_matter, **reread}) + templates.fill(workspace, TEMPLATE, values)
        if _fits(workspace, text):
            break
    path = f"{folder(state.id)}/{document_name(name, created_at)}"
    last = documents[-1] if documents else None
    return _HandoffPlan(handoff, phase, text, path, created_at, verified, last, file_is_new, source)


def _fits(workspace: Workspace, text: str) -> bool:
    reading, limits = HandoffReader(parse(text)), workspace.config.handoff
    return reading.lines <= limits.max_lines and reading.size <= limits.max_kb * KB


def _from_root(workspace: Workspace, handoff: Handoff) -> Handoff:
    """Return the handoff with absolute paths made relative to the repository's root."""
    root_prefix = f"{workspace.root.as_posix()}/"

    def relative(path: str) -> str:
        return path.removeprefix(root_prefix).removeprefix("./")

    def relative_reference(text: str) -> str:
        before, path, after = split_reference(text)
        return f"{before}{relative(path)}{after}"

    return handoff._replace(
        file=relative(without_mark(handoff.file)),
        references=tuple(map(relative_reference, handoff.references)),
        do_not_reread=tuple(map(relative, handoff.do_not_reread)),
    )


def _without_source(documents: HandoffDocuments, path: str) -> tuple[HandoffFile | None, HandoffDocuments]:
    """Return the document at `path`, if it waits among the open handoffs, and the others."""
    waiting = [*documents.strays, *(each for each in documents.read if each.path != archive_path(each.path))]
    source = next((each for each in waiting if each.path == path), None)
    read = tuple(each for each in documents.read if each.path != path)
    strays = tuple(each for each in documents.strays if each.path != path)
    return source, documents._replace(read=read, strays=strays)


def _moved_source(workspace: Workspace, source: HandoffFile | None) -> tuple[journal.Plan, journal.Plan]:
    """Return the operations that move the document which the new one replaces into the archive, word for word."""
    if source is None:
        return (), ()
    root = workspace.config.root
    created = journal.Create(f"{root}/{archive_path(source.path)}", source.data)
    return (created,), (journal.Delete(f"{root}/{source.path}", files.digest(source.data)),)


def _require_possible(
    workspace: Workspace, loaded: Loaded, documents: HandoffDocuments, handoff_request: HandoffRequest
) -> None:
    """Refuse a task that is closed or handed over already; `force` ignores a document that is not valid."""
    state, force = loaded.state, handoff_request.force
    preconditions.require_work(state, "work to hand over")
    preconditions.require_not_dropped(state)
    preconditions.require_not_complete(state, ", so there is nothing to hand over")
    open_path = blocks_of(loaded.document).handoffs.open
    if open_path == handoff_request.source:
        open_path = ""
    if open_path:
        open_path = _readable_open_path(workspace, open_path, state.id, force=force)
    found = (each.path for each in documents.read if each.status == OPEN and not (force and each.is_by_hand))
    open_path = open_path or next(found, "")
    stray = next(iter(documents.strays), None)
    if stray and not open_path and not force:
        path = f"{workspace.config.root}/{stray.path}"
        message = f"{path} lies among the open handoffs of task {state.id}, and no command wrote it"
        raise TaskstateError(message, help=cure(state.id, path), code=INVALID)
    if open_path:
        message = f"task {state.id} is handed over already: {workspace.config.root}/{open_path} is open"
        help_ = f"`taskstate handoff accept {state.id}` takes it over first"
        raise TaskstateError(message, help=help_, code="handoff-open")


def _readable_open_path(workspace: Workspace, open_path: str, task_id: str, *, force: bool) -> str:
    """Return the path of the open handoff if it can be read; with `force` an empty path for one that cannot.

    Raises:
        TaskstateError: code "handoff-open": it is missing, cannot be read, or is not a handoff.
    """
    try:
        open_document(workspace, open_path, task_id)
    except TaskstateError as error:
        if force:
            return ""
        raise TaskstateError(error.message, help=error.help, code="handoff-open") from error
    return open_path


def _phase(state: TaskState, phases: tuple[Phase, ...], handoff_request: HandoffRequest) -> Phase | None:
    """Return the phase to hand over: the one named, else the one in progress; None for a task without phases.

    Of several that could be meant, a draft is of the one that changed last.

    Raises:
        TaskstateError: code "not-found"; code "usage": several phases could be meant.
    """
    name = handoff_request.handoff.phase
    if not phases:
        return None
    if name:
        return find_phase(state, name)
    started = [each for each in phases if each.value["started_at"] and each.value["current_objective"] is not None]
    open_ones = [each for each in phases if each.value["current_objective"] is not None]
    for candidates in (started, open_ones, [*phases]):
        if len(candidates) == 1 or (candidates and handoff_request.draft):
            return max(candidates, key=lambda each: str(each.value["last_updated"] or ""))
    names = ", ".join(each.part.name for each in phases)
    raise TaskstateError(
        f"which phase of task {state.id} is handed over? It has {names}", help="say --phase P", code="usage"
    )


def _require_progress(task_id: str, plan: _HandoffPlan) -> None:
    """Refuse a handoff if no objective or session changed since the last one, as far as that one recorded them."""
    last, now = plan.last, plan.verified
    if last and (last.verified.sessions, last.verified.objectives) == (now.sessions, now.objectives):
        raise TaskstateError(
            f"nothing has moved on since the last handoff, {last.path}: no objective changed, and no session was added",
            help=f"record what was done (`taskstate session add {task_id} --did T --state T --next T`, "
            f"`taskstate phase set {task_id} P N --status done`), "
            "or hand over anyway with --force",
            code="no-progress",
        )


def _free_time(workspace: Workspace, task_id: str, phase: str, request: Request) -> str:
    """Return the time of the new document: now, or the next second for which no document of the phase exists."""
    now = request.metadata.now
    while True:
        path = f"{folder(task_id)}/{document_name(phase, timestamp(now))}"
        if all(files.size(workspace.state_root / each) is None for each in (path, archive_path(path))):
            return timestamp(now)
        now += _SECOND


def _exists(workspace: Workspace, path: str) -> bool:
    try:
        return bool(path) and folders.exists(files.resolved(workspace.root, path))
    except (TaskstateError, OSError):
        return False


def _is_new_file(workspace: Workspace, path: str) -> bool:
    """Return whether a path names a file that is still to be created; an address or a way out of the repository not."""
    is_path = not is_unfilled(path) and not is_none(path) and "://" not in path and not escape_reason(path)
    return is_path and not any(_exists(workspace, each) for each in (path, without_position(path)))


def _missing_flags(handoff: Handoff) -> tuple[str, ...]:
    """Return the flags for the fields that are missing."""
    given = handoff._replace(action="") if is_none(handoff.action) else handoff
    return tuple(flag for field, flag in _NEEDED if is_unfilled(getattr(given, field)))


def _require_valid(workspace: Workspace, plan: _HandoffPlan, errors_in: Validator) -> None:
    """Refuse a document that breaks rules, with all of them in one message.

    Raises:
        TaskstateError: code "handoff".
    """
    missing_flags = _missing_flags(plan.handoff)
    errors = errors_in(f"{workspace.config.root}/{plan.path}", plan.text, plan.created_at)
    # A section that is empty because of a missing flag is reported once, by the flag.
    ignored = {*_GUARDED, "TS801"} if missing_flags else _GUARDED
    faults = [f"{flag} is missing" for flag in missing_flags]
    faults += [message for code, message in errors if code not in ignored]
    if faults:
        message = f"the handoff cannot be written: {'; '.join(faults)}"
        help_ = "see `taskstate handoff new --help`; `--draft` takes what is missing from the state file"
        raise TaskstateError(message, help=help_, code="handoff")


def _with_count(loaded: Loaded, plan: _HandoffPlan, now: str) -> str:
    """Return the state file's text with the handoff counted, in its front matter and in the phase."""
    text = loaded.document.text
    if plan.phase:
        changes = {"handoff_count": plan.phase.value["handoff_count"] + 1}
        text = with_changes(loaded, plan.phase, changes, now)
    return with_handoffs(text, {"count": blocks_of(parse(text)).handoffs.number + 1, "open": plan.path})


def with_handoffs(text: str, changes: Mapping[str, object]) -> str:
    """Return a state file's text with changes to the `handoffs` block of its front matter."""
    document = parse(text)
    recorded = blocks_of(document).values.get("handoffs")
    current = recorded if isinstance(recorded, dict) else {"count": 0, "open": None}
    return apply(text, set_front_matter(document, "handoffs", {**current, **changes}))

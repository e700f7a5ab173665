"""Completes a task (its checks, its status and the propagation of its output in one write), and reopens a closed one.

All gaps are reported together. Completing a task despite gaps needs a reason; an event records both, and the linter
accepts those gaps from then on.
"""

from __future__ import annotations

from taskstate.chain import output as chain_output
from taskstate.chain.push import propagate
from taskstate.context.readable_parts import unreadable_error
from taskstate.errors import SeveralReasons, TaskstateError
from taskstate.model import chain, roles
from taskstate.model.canonical_json import sha256
from taskstate.model.delta_block import without_progress, without_snapshots
from taskstate.model.derived_values import is_too_large
from taskstate.model.phases import phases_in
from taskstate.model.statuses import CLOSED, COMPLETE, IN_PROGRESS
from taskstate.model.tool_blocks import REOPENED
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.snapshots import purge
from taskstate.snapshots.new_base import with_new_base
from taskstate.storage import file_state, folders
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import Fault
from taskstate.tasks.completion_checks import DRIFT, gaps
from taskstate.tasks.sessions import with_archived_sessions
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.paths import escape_reason
from taskstate.workspace import open_turns
from taskstate.writing import preconditions
from taskstate.writing.change import Change
from taskstate.writing.event_log import add_event, with_oldest_moved
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.chain.output import Gap
    from taskstate.model.task_state import TaskState
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request


def complete(workspace: Workspace, task_id: str, request: Request, *, note: str = "") -> Outcome:
    """Complete a task and propagate its output; a `note` is the reason for completing it despite gaps.

    Raises:
        SeveralReasons: code "incomplete": something is missing, and there is no note.
        TaskstateError: it is complete already, cannot be read fully, or there is drift, which a note does not cover.
    """
    job = completing(workspace, request, note=escaping.clean(note, what="--note") if note else "")
    if workspace.config.archive.summarizer:
        from taskstate.archive import archiver

        archiver.rehearse(workspace, task_id, job)
    outcome = change(workspace, task_id, job, request)
    if request.dry_run:
        return outcome
    open_turns.clear(workspace, outcome.state.id)
    return purge.without_artifacts(workspace, outcome)


def completing(workspace: Workspace, request: Request, *, note: str = "") -> Callable[[Loaded], Change]:
    """Return the step that completes a task, as `complete` does; `without_artifacts` follows when it is written."""

    def job(loaded: Loaded) -> Change:
        _require_completable(loaded)
        missing = gaps(workspace, loaded)
        if missing and not note:
            raise _incomplete(loaded.state.id, tuple(each.words for each in missing))
        _require_no_drift(loaded, missing)
        return _plan(workspace, loaded, request, note, missing)

    return job


def _require_no_drift(loaded: Loaded, missing: tuple[Gap, ...]) -> None:
    """Refuse a tree that nobody accepted, also where it is the first command that sees it.

    Raises:
        TaskstateError: code "drift-unresolved" or "drift".
    """
    roles.require_no_drift(blocks_of(loaded.document), loaded.state.id)
    for gap in missing:
        if gap.key == DRIFT:
            help_ = f'drift is accepted, not forced: `taskstate snapshot resolve {loaded.state.id} --note "WHY"`'
            raise TaskstateError(f"task {loaded.state.id}: {gap.words}", help=help_, code="drift")


def _incomplete(task_id: str, gaps: tuple[str, ...]) -> SeveralReasons:
    count = "1 thing is" if len(gaps) == 1 else f"{len(gaps)} things are"
    record = "`criterion check`, `feature pass` and `chain output set` record it"
    help_ = f'do that ({record}), or say why not: `taskstate complete {task_id} --force --note "WHY"`'
    return SeveralReasons(f"task {task_id} cannot be completed, {count} missing", gaps, help=help_, code="incomplete")


def _require_completable(loaded: Loaded) -> None:
    """Refuse a task that is complete already, cannot be read fully, or is of a kind without an output.

    Raises:
        TaskstateError: code "complete", "unreadable" or "kind".
    """
    state = loaded.state
    preconditions.require_whole(loaded)
    if state.status == COMPLETE:
        message = f"task {state.id} is complete already"
        raise TaskstateError(message, help=f"`taskstate reopen {state.id} --note WHY` reopens it", code="complete")
    preconditions.require_work(state, "output for other tasks", f"`taskstate permanent close {state.id}` closes it")
    if state.problems:
        raise unreadable_error(loaded, state.problems[0].span, state.problems[0].message)
    _require_phases(loaded)


def _require_phases(loaded: Loaded) -> None:
    """Refuse a task with a phase whose fence is not valid JSON.

    Raises:
        TaskstateError: code "unreadable".
    """
    for part in phases_in(loaded.state):
        fault = loaded.document.json(part.fences[0]) if part.fences else None
        if isinstance(fault, Fault):
            raise unreadable_error(loaded, fault.span, f"phase {part.name} cannot be read: {fault.message}")


# The change


def _plan(workspace: Workspace, loaded: Loaded, request: Request, note: str, waived: tuple[Gap, ...]) -> Change:
    """Return the change that completes a task; `waived` are the gaps that are accepted, `note` is the reason."""
    text = completed_text(loaded.document.text, _output(workspace, loaded.state, request))
    text = purge.purged_text(workspace, text)
    ended = open_turns.ended_note(loaded.document, request.metadata.actor)
    notes = (*(f"waived: {each.words}" for each in waived), *ended)
    said = {"waived": [*dict.fromkeys(each.key for each in waived)], "missing": [each.words for each in waived]}
    event = request.metadata.event("waived", note=note, **said)
    text, before = with_oldest_moved(workspace, parse(with_event(text, event) if waived else text))
    archived = _archived(workspace, loaded, text, request, busy=bool(before))
    upstream = chain.read_upstream(loaded.document.with_text(archived.text), loaded.relative)
    upstream = upstream._replace(revision=loaded.state.revision + 1)  # the one that this change gives it
    changes, propagated = propagate(workspace, upstream, request) if upstream.output else ((), ())
    return Change(
        text=archived.text,
        before=(*before, *archived.before, *changes),
        notes=(*notes, *archived.notes, *propagated),
        after=archived.after,
    )


def completed_text(text: str, output: Mapping[str, object]) -> str:
    """Return the text of the task with status complete; `output` is the record of its output.

    Where the work started stays in the delta block; what the turns and the roles left is purged.
    """
    text = apply(text, set_front_matter(parse(text), "status", COMPLETE))
    document = parse(apply(text, set_front_matter(parse(text), "output", output)))
    delta = blocks_of(document).delta
    closed = without_progress(without_snapshots(delta, tuple(delta.snapshots)))
    return apply(document.text, set_front_matter(document, "delta", closed.values)) if delta.values else document.text


def _output(workspace: Workspace, state: TaskState, request: Request) -> dict[str, object]:
    """Return the record of an output: the time, its hash, and the hashes of the files that it names."""
    record = {"completed_at": timestamp(request.metadata.now), "sha256": sha256(chain.output_of(state.document))}
    files = []
    for each in chain_output.named_files(state):
        if escape_reason(each.path):
            continue
        try:
            is_file = not folders.is_folder(workspace.root / each.path) and not chain_output.is_pattern(each.path)
            sha = file_state.sha256_of(workspace.root, each.path)
        except TaskstateError:
            continue  # it leads out of the repository or is unreadable, so there is nothing to compare with later
        if sha is not None or (is_file and each.sure):
            files.append({"path": each.path, "sha256": sha})
    return record | ({"files": files} if files else {})


def _archived(workspace: Workspace, loaded: Loaded, text: str, request: Request, *, busy: bool) -> Change:
    """Return the change that also archives older sessions, where the file exceeds its limit."""
    if not is_too_large(text, workspace.config.size):
        return Change(text=text)
    if busy:  # a plan changes each file once, and the archive file already takes older events in this one
        return Change(text=text, notes=(f"not archived yet: run `taskstate archive {loaded.state.id}`",))
    return with_archived_sessions(workspace, loaded.relative, text, request)


# Reopening


def reopen(workspace: Workspace, task_id: str, request: Request, *, note: str) -> Outcome:
    """Reopen a task that is complete or dropped, and record who did and why; also one whose status a hand has opened.

    Tasks that have pulled its output keep it; they are named in the notes.

    Raises:
        TaskstateError: code "not-complete": the task is still open.
    """
    note = escaping.clean(note, what="--note")

    def job(loaded: Loaded) -> Change:
        state = loaded.state
        preconditions.require_whole(loaded)
        if state.status not in CLOSED and not blocks_of(state.document).is_closed:
            message = f"task {state.id} is {state.status or 'of no status'}, and neither complete nor dropped"
            raise TaskstateError(message, help="there is nothing to reopen", code="not-complete")
        text = reopened_text(loaded.document.text)
        if blocks_of(state.document).is_closed:  # else a hand has closed it, and the work goes on from where it began
            text = with_new_base(workspace, text)
        text, before = add_event(workspace, text, request.metadata.event(REOPENED, note=note))
        return Change(text=text, before=before, notes=_holders(workspace, state))

    return change(workspace, task_id, job, request._replace(even_dropped=True))


def reopened_text(text: str) -> str:
    """Return the text of a closed task with status in_progress, without the record of its output."""
    from taskstate.syntax.yaml_edit import remove_key

    text = apply(text, set_front_matter(parse(text), "status", IN_PROGRESS))
    node = parse(text).front_matter.node
    return apply(text, remove_key(text, node, "output")) if node and node.get("output") else text


def _holders(workspace: Workspace, state: TaskState) -> tuple[str, ...]:
    """Return a note for each task that has pulled the output of this one."""
    from taskstate.chain.push import downstream_of

    notes = []
    for path in downstream_of(workspace, state.id):
        try:
            loaded = workspace.load(workspace.root / path)
        except TaskstateError:
            continue  # unreadable; `taskstate lint` reports it
        if loaded.state.status not in CLOSED and chain.has_input(loaded.document, state.id):
            notes.append(f"{path} keeps the old output until the task is complete again")
    return tuple(notes)

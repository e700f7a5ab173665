"""Completes a task: looks for all that completion asks for, then sets the status and hands the output down, at once.

What is missing is told together. Whoever completes a task all the same says why, and an event remembers what was let
pass; the linter heeds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive import archiver
from taskstate.errors import TaskstateError
from taskstate.model import chain, roles
from taskstate.model.canonical_json import sha256
from taskstate.model.document_kinds import kind_of
from taskstate.model.phases import phases_in
from taskstate.model.statuses import COMPLETE, IN_PROGRESS
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.storage import file_state
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.nodes import Fault
from taskstate.tasks import chain_output
from taskstate.tasks.chain_push import propagate
from taskstate.tasks.completion_checks import gaps
from taskstate.validation.paths import escape_reason
from taskstate.verification.snapshots import purge
from taskstate.workspace import preconditions
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import remember
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.chain_quotes import Upstream
    from taskstate.model.task_state import TaskState
    from taskstate.tasks.chain_output import Gap
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


class Incomplete(TaskstateError):
    """A task lacks what completion asks for; `gaps` has a line for each thing."""

    def __init__(self, task_id: str, gaps: tuple[str, ...]) -> None:
        count = "1 thing is" if len(gaps) == 1 else f"{len(gaps)} things are"
        help_ = f'see to that, or record why it is let pass: `taskstate complete {task_id} --force --note "WHY"`'
        super().__init__(f"task {task_id} cannot be completed, {count} missing", help=help_, code="incomplete")
        self.gaps = gaps


def complete(workspace: Workspace, task_id: str, request: Request, *, note: str = "") -> Outcome:
    """Complete a task and hand its output down; a `note` is the reason for which what is missing is let pass.

    Raises:
        Incomplete: something is missing, and there is no note.
        TaskstateError: it is complete already, cannot be read fully, or a drift is unresolved.
    """
    note = escaping.clean(note, what="--note") if note else ""

    def job(loaded: Loaded) -> Change:
        _require_completable(loaded)
        missing = gaps(workspace, loaded)
        if missing and not note:
            raise Incomplete(loaded.state.id, tuple(each.words for each in missing))
        roles.require_no_drift(blocks_of(loaded.document), loaded.state.id)
        return _plan(workspace, loaded, request, _Waived(note, missing))

    archiver.rehearse(workspace, task_id, job)
    outcome = change(workspace, task_id, job, request)
    return outcome if request.dry_run else _without_artifacts(workspace, task_id, outcome)


def _without_artifacts(workspace: Workspace, task_id: str, outcome: Outcome) -> Outcome:
    """Delete what the task left among the artifacts; where the system refuses, that is a warning and no more."""
    try:
        purge.remove(workspace, outcome.state.id)
    except TaskstateError as error:
        told = f"{error}; `taskstate purge {task_id}` tries again"
        return outcome._replace(warnings=(*outcome.warnings, told))
    return outcome


def _require_completable(loaded: Loaded) -> None:
    """Refuse a task that is complete already, whose file cannot be read fully, or which has nothing to hand down.

    Raises:
        TaskstateError: code "complete", "unreadable" or "kind".
    """
    state = loaded.state
    preconditions.require_whole(loaded)
    if state.status == COMPLETE:
        what = f"task {state.id} is complete already"
        raise TaskstateError(what, help=f"`taskstate reopen {state.id} --note WHY` reopens it", code="complete")
    if kind_of(state.kind).section(chain.OUTPUT) is None:
        what = f"{state.id} is a {state.kind} task, which hands nothing down"
        raise TaskstateError(what, help="complete an ordinary task", code="kind")
    if state.problems:
        problem = state.problems[0]
        line = state.document.position(problem.span.start).line + 1
        what = f"{loaded.relative}, line {line}: {problem.message}"
        raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")
    _require_phases(loaded)


def _require_phases(loaded: Loaded) -> None:
    """Refuse a task with a phase whose fence is no JSON.

    Raises:
        TaskstateError: code "unreadable".
    """
    document = loaded.document
    for part in phases_in(loaded.state):
        fault = document.json(part.fences[0]) if part.fences else None
        if isinstance(fault, Fault):
            line = document.position(fault.span.start).line + 1
            what = f"{loaded.relative}, line {line}: phase {part.name} cannot be read: {fault.message}"
            raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")


# The change


class _Waived(NamedTuple):
    """What is let pass, and why."""

    note: str
    gaps: tuple[Gap, ...]

    def event(self, request: Request) -> dict[str, object]:
        """Return what is remembered of it."""
        at, actor = timestamp(request.stamp.now), request.stamp.actor
        told = {"at": at, "actor": actor, "event": "waived", "note": self.note}
        keys = dict.fromkeys(each.key for each in self.gaps)
        return told | {"waived": [*keys], "missing": [each.words for each in self.gaps]}


def _plan(workspace: Workspace, loaded: Loaded, request: Request, waived: _Waived) -> Change:
    text = completed_text(loaded.document.text, _output(workspace, loaded.state, request))
    text, before = purge.purged_text(workspace, text, request.stamp)
    notes = tuple(f"let pass: {each.words}" for each in waived.gaps)
    if waived.gaps and before:  # the archive file, which takes the oldest events, is changed once in a plan
        text = with_event(text, waived.event(request))
    elif waived.gaps:
        text, before = remember(workspace, text, waived.event(request))
    archived = _archived(workspace, loaded, text, request, busy=bool(before))
    upstream = _upstream(archived.text, loaded)
    changes, told = propagate(workspace, upstream, request) if upstream.output else ((), ())
    return Change(
        text=archived.text,
        before=(*before, *archived.before, *changes),
        notes=(*notes, *archived.notes, *told),
        after=archived.after,
    )


def completed_text(text: str, output: Mapping[str, object]) -> str:
    """Return the text of a task as that of a complete one; `output` is what is kept of what it hands down."""
    text = apply(text, set_front_matter(parse(text), "status", COMPLETE))
    return apply(text, set_front_matter(parse(text), "output", output))


def _output(workspace: Workspace, state: TaskState, request: Request) -> dict[str, object]:
    """Return what is kept of an output: when it was, its hash, and those of the files that it names."""
    told = {"completed_at": timestamp(request.stamp.now), "sha256": sha256(chain.output_of(state.document))}
    hashed = []
    for each in chain_output.named_files(state):
        if escape_reason(each.path):
            continue
        try:
            is_file = not (workspace.root / each.path).is_dir() and not chain_output.is_pattern(each.path)
            sha = file_state.sha256_of(workspace.root, each.path)
        except TaskstateError:
            continue  # it leads out of the repository, or nobody may read it: what it was, nobody can tell later
        if sha is not None or (is_file and each.sure):
            hashed.append({"path": each.path, "sha256": sha})
    return told | ({"files": hashed} if hashed else {})


def _archived(workspace: Workspace, loaded: Loaded, text: str, request: Request, *, busy: bool) -> Change:
    """Return the change that also archives older sessions, where the file is over its limit."""
    if not archiver.is_too_large(text, workspace.config):
        return Change(text=text)
    if busy:  # one plan changes a file once, and the archive file takes older events in it
        return Change(text=text, notes=(f"not archived yet: run `taskstate archive {loaded.state.id}`",))
    keep, reason = workspace.config.size.keep_sessions, archiver.limit_reason(workspace.config)
    program = workspace.config.archive.summarizer
    try:
        return archiver.plan_archive(
            workspace, loaded.relative, text, request, keep=keep, reason=reason, summarizer=program
        )
    except TaskstateError as error:
        if error.code not in archiver.NOT_ARCHIVABLE:
            raise
        return Change(text=text, notes=(f"not archived: {error}",))


def _upstream(text: str, loaded: Loaded) -> Upstream:
    """Return what the task will say to those that build on it, at the revision that this change gives it."""
    upstream = chain.read_upstream(parse(text), loaded.relative)
    return upstream._replace(revision=loaded.state.revision + 1)


# Reopening


def reopen(workspace: Workspace, task_id: str, request: Request, *, note: str) -> Outcome:
    """Take a complete task back to work, and remember who did, and why.

    What was handed down stays where it is; the tasks that hold it are named.

    Raises:
        TaskstateError: code "not-complete": the task is still open.
    """
    note = escaping.clean(note, what="--note")

    def job(loaded: Loaded) -> Change:
        state = loaded.state
        preconditions.require_whole(loaded)
        if state.status != COMPLETE:
            what = f"task {state.id} is {state.status or 'of no status'}, and not complete"
            raise TaskstateError(what, help="there is nothing to reopen", code="not-complete")
        text = reopened_text(loaded.document.text)
        at, actor = timestamp(request.stamp.now), request.stamp.actor
        text, before = remember(workspace, text, {"at": at, "actor": actor, "event": "reopened", "note": note})
        return Change(text=text, before=before, notes=_holders(workspace, state))

    return change(workspace, task_id, job, request)


def reopened_text(text: str) -> str:
    """Return the text of a complete task as that of one in progress, without what was kept of its output."""
    from taskstate.syntax.yaml_edit import remove_key

    text = apply(text, set_front_matter(parse(text), "status", IN_PROGRESS))
    node = parse(text).front_matter.node
    return apply(text, remove_key(text, node, "output")) if node and node.get("output") else text


def _holders(workspace: Workspace, state: TaskState) -> tuple[str, ...]:
    from taskstate.tasks.chain_push import downstream_of

    found = []
    for path in downstream_of(workspace, state.id):
        try:
            holds = chain.has_input(workspace.load(workspace.root / path).document, state.id)
        except TaskstateError:
            continue  # what it holds nobody can tell; `taskstate lint` says why
        if holds:
            found.append(f"{path} holds what was handed down, and gets it anew when the task is complete again")
    return tuple(found)

"""Writes state files: every change of a task on disk goes through here.

Under the repository's lock the file is read anew, the job plans its change, the write metadata is set, the result is
checked and the plan carried out. A file that somebody changes in between is read and planned again, never overwritten.
"""

from __future__ import annotations

import time

from taskstate.errors import StaleFile, TaskstateError
from taskstate.model import names
from taskstate.model.derived_values import exceeded, largest_parts
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import check_seal, has_write_metadata, timestamp, with_event, with_write_metadata
from taskstate.secrets.mask import masked
from taskstate.storage import files, journal
from taskstate.storage.signals import Held
from taskstate.storage.transaction import paths_of
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts
from taskstate.writing import keeping, notices, preconditions, secret_check
from taskstate.writing.change import Change, Outcome, Request, T_co
from taskstate.writing.event_log import add_event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace


_ATTEMPTS = 5
_PAUSE_SECONDS = 0.02  # seconds


def change(
    workspace: Workspace, task_id: str, job: Callable[[Loaded], Change[T_co]], request: Request
) -> Outcome[T_co]:
    """Change a task's state file: `job` gets the file as it is on disk now and returns the change to write.

    Raises:
        TaskstateError: the file is not at the expected revision, cannot be changed safely, or keeps changing; or code
            "dropped".
    """

    def guarded(loaded: Loaded) -> Change[T_co]:
        notices.require_undamaged(workspace, loaded)
        preconditions.require_whole(loaded)
        if not request.even_dropped:
            preconditions.require_not_dropped(loaded.state)
        return job(loaded)

    with workspace.locked() as messages:
        return _change(workspace, workspace.locate(task_id), guarded, request, messages)


def change_at(
    workspace: Workspace, path: Path, job: Callable[[Loaded], Change[T_co]], request: Request
) -> Outcome[T_co]:
    """Change one of our own files by its path, as `change` does; only a readable state file gets write metadata."""
    with workspace.locked() as messages:
        return _change(workspace, path, job, request, messages)


def _change(
    workspace: Workspace, path: Path, job: Callable[[Loaded], Change[T_co]], request: Request, messages: tuple[str, ...]
) -> Outcome[T_co]:
    """Plan and write a change, again from the start whenever somebody saves the file meanwhile."""
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)  # lets an editor that saves in place finish
        loaded = workspace.load(path, request.known)
        if not loaded.data and attempt + 1 < _ATTEMPTS:
            continue  # an editor that saves in place has truncated it and not written yet
        loaded = _writable(workspace, loaded, request)
        planned = job(loaded)
        try:
            return _write(workspace, loaded, planned, request, messages)
        except StaleFile:
            continue
    message = f"{workspace.relative(path)} keeps being changed by somebody else while it is written"
    raise StaleFile(message, help="run this again")


def _writable(workspace: Workspace, loaded: Loaded, request: Request) -> Loaded:
    """Return a file that may be changed, at a revision above which the next one is new."""
    preconditions.require_writable(loaded, request.expect, sealed=not request.reseal)
    lost = keeping.lost_revision(workspace, loaded)
    if lost > loaded.state.revision:  # a lost revision's number is never given again
        return loaded._replace(state=loaded.state._replace(revision=lost))
    return loaded


def operations_of(workspace: Workspace, loaded: Loaded, change: Change, request: Request) -> journal.Plan:
    """Return the operations of a change of an open task, to be carried out in one step with those of others.

    The caller holds the lock, and has refused what must not be written.

    Raises:
        TaskstateError: the file cannot be changed safely.
    """
    notices.require_undamaged(workspace, loaded)
    preconditions.require_whole(loaded)
    preconditions.require_not_dropped(loaded.state)
    return _plan_write(_writable(workspace, loaded, request), change, request).plan


def _write(
    workspace: Workspace, loaded: Loaded, change: Change[T_co], request: Request, messages: tuple[str, ...]
) -> Outcome[T_co]:
    notes = (*messages, *change.notes)
    if change.text == loaded.document.text and not change.before and not change.must_write:
        if not request.dry_run:
            artifacts.write_all(workspace, change.artifacts)  # one may be missing here, as in another clone
        return Outcome(
            loaded.relative,
            loaded.token,
            changed=False,
            notes=notes,
            text=change.text,
            result=change.result,
            read=loaded.state,
        )
    planned = _plan_write(loaded, change, request)
    secrets_found = secret_check.new_secrets_in_plan(workspace, planned.plan, loaded.relative, loaded.document.text)
    warnings = secret_check.require_allowed(workspace, secrets_found, request)
    warnings += _size_warning(workspace, loaded.state, planned.state)
    if secrets_found.kinds and planned.is_stamped:
        event = secret_check.audit_event(secrets_found, request.metadata)
        planned = _plan_write(loaded, _with_audit_event(workspace, change, event), request)
    if not request.dry_run:
        where = _carry_out(workspace, change, planned, request.metadata.now)
        notes += (where,) if where else ()
    secret_check.remember_said(workspace, secrets_found, request)
    diff = "".join(diff_of(workspace, operation) for operation in planned.plan) if request.dry_run else ""
    return Outcome(
        loaded.relative,
        planned.token,
        changed=True,
        notes=notes,
        diff=diff,
        warnings=warnings,
        text=planned.state.document.text,
        result=change.result,
        read=planned.state,
    )


def _size_warning(workspace: Workspace, before: TaskState, after: TaskState) -> tuple[str, ...]:
    """Return a warning where a state file grows and is over its limit, with the command that makes it smaller."""
    size = workspace.config.size
    over = exceeded(after.size, kb=size.max_kb, tokens=size.max_tokens)
    if not over or after.size <= before.size:
        return ()
    if len(after.sessions) > size.keep_sessions:
        return (f"the file of task {after.id} is {over}: `taskstate archive {after.id}` archives older sessions",)
    largest = f"the largest parts are {largest_parts(after)}"
    return (f"the file of task {after.id} is {over}, and there is no session to archive: {largest}",)


def _carry_out(workspace: Workspace, change: Change, planned: _PlannedWrite, now: datetime) -> str:
    """Write a change's artifacts and then its plan; return where what it replaces is kept.

    Artifacts come first, so that after a crash a state file never names one that does not exist; they are removed
    again if the plan is not carried out.
    """
    where = _keep_replaced(workspace, change, now)
    with Held():  # a signal that comes between them is obeyed afterwards
        before = artifacts.write_all(workspace, change.artifacts)
        try:
            keeping.carry_out(workspace, planned.plan, now, {planned.path: planned.state})
        except TaskstateError:
            if not journal.pending(workspace.private):  # else the next command finishes the plan, and needs them
                artifacts.undo(workspace, before)
            raise
        new = {each.path for each in change.artifacts}
        artifacts.delete(workspace, planned.state.id, {*change.obsolete_artifacts} - new)
    return where


def _keep_replaced(workspace: Workspace, change: Change, now: datetime) -> str:
    """Keep what a change replaces, and return where; empty where it replaces nothing.

    It stays kept where the plan is not carried out after all: it may be half done, and somebody may have saved since.
    """
    if not change.replaced:
        return ""
    from taskstate.storage import replaced_texts  # few changes do

    return replaced_texts.named(
        [replaced_texts.keep(workspace.private, each, timestamp(now)) for each in change.replaced]
    )


class _PlannedWrite(NamedTuple):
    """A change ready to be written: its file, the plan, the new text as read, its token, and if metadata is set."""

    path: str
    plan: journal.Plan
    state: TaskState
    token: str
    is_stamped: bool


def _plan_write(loaded: Loaded, change: Change, request: Request) -> _PlannedWrite:
    """Set the write metadata in the new text, check it, and put it into a plan with the other files' operations."""
    planned = change.state or read_state(loaded.document.with_text(change.text))
    before = loaded.state if loaded.document.front_matter else _repaired_state(loaded, planned)
    # A fix may have brought the key back.
    revision, is_stamped = max(before.revision, planned.revision), _is_stamped(loaded, planned.document)
    if change.only_text and not has_write_metadata(planned.document):
        is_stamped = False
    if is_stamped:
        revision = max(revision, change.revision_above) + 1
        text = change.final_text or with_write_metadata(change.text, request.metadata, revision=revision, state=planned)
        planned = read_state(loaded.document.with_text(text), loaded.state.id)
    preconditions.require_sound(loaded, planned)
    data = planned.document.text.encode()
    plan = (*change.before, journal.Replace(loaded.relative, loaded.digest, data), *change.after)
    return _PlannedWrite(loaded.relative, plan, planned, f"{revision}-{files.digest(data)[:8]}", is_stamped)


def _with_audit_event(workspace: Workspace, change: Change, event: Mapping[str, object]) -> Change:
    """Return a change with one more event in the audit.

    If the change writes the archive itself, the oldest events are not moved there this time: a plan must not touch a
    path twice.
    """
    text, moved = add_event(workspace, change.text, event)
    written = {path for operation in (*change.before, *change.after) for path in paths_of(operation)}
    if any(path in written for operation in moved for path in paths_of(operation)):
        text, moved = with_event(change.text, event), ()
    return change._replace(text=text, before=(*change.before, *moved), state=None, final_text="")


def _repaired_state(loaded: Loaded, planned: TaskState) -> TaskState:
    """Return the state of a file whose front matter a fix has repaired, after checking its seal.

    Before the repair the front matter could not be read, so neither could the seal.
    """
    check_seal(planned.document, loaded.relative)
    return planned


def create_file(workspace: Workspace, relative: str, text: str, request: Request) -> Outcome:
    """Write a new state file with its write metadata; an existing file is never overwritten."""
    if request.expect:
        message = f"{relative} is to be created, so it is at no revision yet"
        raise TaskstateError(message, help="leave --expect-revision out", code="revision")
    with workspace.locked() as messages:
        require_uncommitted(workspace, relative)
        keeping.require_nothing_lost(workspace, relative)
        first = journal.Create(relative, with_write_metadata(text, request.metadata, revision=1).encode())
        secrets_found = secret_check.new_secrets_in_plan(workspace, (first,))
        warnings = secret_check.require_allowed(workspace, secrets_found, request)
        text = (
            with_event(text, secret_check.audit_event(secrets_found, request.metadata)) if secrets_found.kinds else text
        )
        text = with_write_metadata(text, request.metadata, revision=1)
        operation = journal.Create(relative, text.encode())
        diff = diff_of(workspace, operation) if request.dry_run else ""
        if not request.dry_run:
            keeping.carry_out(workspace, (operation,), request.metadata.now)
        secret_check.remember_said(workspace, secrets_found, request)
    token = f"1-{files.digest(operation.data)[:8]}"
    return Outcome(
        relative,
        token,
        changed=True,
        notes=messages,
        diff=diff,
        warnings=warnings,
        text=text,
        kinds=workspace.kinds,
    )


def require_uncommitted(workspace: Workspace, relative: str) -> None:
    """Refuse to create a state file that HEAD has, and the working tree has not: it would take that one's place.

    Of a task that was dropped or let go the file may be gone.

    Raises:
        TaskstateError: code "exists".
    """
    from shlex import quote

    from taskstate.storage.git import client, history

    own = names.own_file(relative)
    if own and own.id and keeping.is_nothing_owed(workspace, own.id):
        return
    if client.head(workspace.root) is None or history.text_at(workspace.root, relative, "HEAD") is None:
        return
    # With this option it works where a sparse checkout leaves the file out, too.
    cure = f"`git checkout --ignore-skip-worktree-bits HEAD -- {quote(relative)}` brings it back"
    message = f"{files.shown(relative)} is committed, and only gone from here"
    help_ = f"{cure}, or choose another id; if it was meant to go, commit that first"
    raise TaskstateError(message, help=help_, code="exists")


def diff_of(workspace: Workspace, operation: journal.Operation) -> str:
    """Return the unified diff between the file on disk and the file after an operation; empty if no text is written."""
    if not isinstance(operation, journal.Create | journal.Replace | journal.Append):
        return ""
    path = workspace.root / operation.path
    old = files.read(path, files.MAX_BYTES) if not isinstance(operation, journal.Create) else b""
    new = old + operation.data if isinstance(operation, journal.Append) else operation.data
    return unified_diff(operation.path, old.decode(), new.decode(), is_new=isinstance(operation, journal.Create))


def unified_diff(name: str, old: str, new: str, *, is_new: bool = False) -> str:
    """Return the unified diff of a file's texts with LF as line ends, and with possible credentials masked."""
    import difflib

    before, after = (text.replace("\r\n", "\n").replace("\r", "\n").split("\n") for text in (old, new))
    before, after = (lines[:-1] if lines[-1] == "" else lines for lines in (before, after))
    name = one_line(name)
    lines = difflib.unified_diff(before, after, "/dev/null" if is_new else f"a/{name}", f"b/{name}", lineterm="")
    return masked("".join(line + "\n" for line in lines))


def _is_stamped(loaded: Loaded, document: Document) -> bool:
    """Return whether a write sets its metadata: only in a state file whose front matter can be read."""
    own = names.own_file(loaded.relative)
    return (
        own is not None and own.type == "state" and (bool(loaded.document.front_matter) or bool(document.front_matter))
    )

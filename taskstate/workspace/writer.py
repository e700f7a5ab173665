"""Changes tasks on disk: every write of a state file goes through here.

Under the one lock the file is read anew, the job plans on what it reads, the result is stamped and proved, and the plan
is carried out. A file that somebody changed in between is read and planned again; it is never overwritten.
"""

from __future__ import annotations

import difflib
import time
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import StaleFile, TaskstateError
from taskstate.model import names
from taskstate.model.task_state import TaskState, read_state
from taskstate.model.write_metadata import check_seal, with_event, with_write_metadata
from taskstate.storage import backups, files, journal
from taskstate.storage.transaction import paths_of
from taskstate.syntax.document import parse
from taskstate.validation import secrets
from taskstate.workspace import artifacts, lost_updates, preconditions, secret_check
from taskstate.workspace.change import Change, Outcome, Request, T_co
from taskstate.workspace.event_log import add_event

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace


_ATTEMPTS = 5
_PAUSE_SECONDS = 0.02  # seconds


def change(
    workspace: Workspace, task_id: str, job: Callable[[Loaded], Change[T_co]], request: Request
) -> Outcome[T_co]:
    """Change a task's state file: `job` plans on what is on disk now, its text is stamped, proved and written.

    Raises:
        TaskstateError: the file is not at the expected revision, cannot be changed safely, or keeps changing.
    """

    def guarded(loaded: Loaded) -> Change[T_co]:
        preconditions.require_whole(loaded)
        return job(loaded)

    with workspace.locked() as told:
        return _change(workspace, workspace.locate(task_id), guarded, request, told)


def change_at(
    workspace: Workspace, path: Path, job: Callable[[Loaded], Change[T_co]], request: Request
) -> Outcome[T_co]:
    """Change one of our own files by its path, as `change` does; only a state file that can be read is stamped."""
    with workspace.locked() as told:
        return _change(workspace, path, job, request, told)


def _change(
    workspace: Workspace, path: Path, job: Callable[[Loaded], Change[T_co]], request: Request, told: tuple[str, ...]
) -> Outcome[T_co]:
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_SECONDS)  # who saves in place needs an instant to end
        loaded = workspace.load(path)
        if not loaded.data and attempt + 1 < _ATTEMPTS:
            continue  # emptied, and about to be written
        noticed = lost_updates.notice(workspace, loaded.relative, loaded.data)
        told += noticed.messages
        preconditions.require_writable(loaded, request.expect, sealed=not request.reseal)
        if noticed.revision > loaded.state.revision:
            loaded = loaded._replace(state=loaded.state._replace(revision=noticed.revision))
        planned = job(loaded)
        try:
            return _write(workspace, loaded, planned, request, told)
        except StaleFile:
            continue
    what = f"{workspace.relative(path)} was changed by somebody each time that it was to be written"
    raise StaleFile(what, help="run this again")


def _write(
    workspace: Workspace, loaded: Loaded, change: Change[T_co], request: Request, told: tuple[str, ...]
) -> Outcome[T_co]:
    notes = (*told, *change.notes)
    if change.text == loaded.document.text and not change.before:
        if not request.dry_run:
            artifacts.write_all(workspace, change.artifacts)  # one that was missing here is written all the same
        return Outcome(
            loaded.relative, loaded.token, changed=False, notes=notes, text=change.text, result=change.result
        )
    made = _plan_write(loaded, change, request)
    found = secret_check.new_secrets_in_plan(workspace, made.plan, loaded.relative, loaded.document.text)
    warnings = secret_check.require_allowed(found, force=request.force_secrets)
    if found.kinds and made.is_stamped:
        made = _plan_write(
            loaded, _with_audit_event(workspace, change, secret_check.audit_event(found, request.stamp)), request
        )
    if not request.dry_run:
        _carry_out(workspace, loaded.state.id, change, made.plan)
    diff = "".join(_diff(workspace, operation) for operation in made.plan) if request.dry_run else ""
    return Outcome(
        loaded.relative,
        made.token,
        changed=True,
        notes=notes,
        diff=diff,
        warnings=warnings,
        text=made.text,
        result=change.result,
    )


def _carry_out(workspace: Workspace, task_id: str, change: Change, plan: journal.Plan) -> None:
    """Write a change's artifacts and then its plan; artifacts of a plan that is not carried out go again."""
    before = artifacts.write_all(workspace, change.artifacts)
    try:
        journal.write(workspace.root, workspace.journal, plan)
    except TaskstateError:
        if not journal.pending(workspace.journal):  # else the next command finishes it
            artifacts.undo(workspace, before)
        raise
    artifacts.delete(
        workspace, task_id, {*change.obsolete_artifacts}.difference(each.path for each in change.artifacts)
    )


class _PlannedWrite(NamedTuple):
    """What a change comes to: the plan, the state file's text and token after it, and whether it bears the marks."""

    plan: journal.Plan
    text: str
    token: str
    is_stamped: bool


def _plan_write(loaded: Loaded, change: Change, request: Request) -> _PlannedWrite:
    text, planned = change.text, change.state or read_state(parse(change.text))
    before = loaded.state if loaded.document.front_matter else _repaired_state(loaded, planned)
    revision, is_stamped = before.revision, _is_stamped(loaded, planned.document)
    if is_stamped:
        revision = max(revision, change.revision_above) + 1
        text = change.stamped or with_write_metadata(text, request.stamp, revision=revision, state=planned)
    preconditions.require_sound(loaded, text, planned)
    data = text.encode()
    plan = (*change.before, journal.Replace(loaded.relative, loaded.digest, data), *change.after)
    return _PlannedWrite(plan, text, f"{revision}-{files.digest(data)[:8]}", is_stamped)


def _with_audit_event(workspace: Workspace, change: Change, event: Mapping[str, object]) -> Change:
    """Return a change with one more event; where it writes the archive anyway, the oldest events stay for now."""
    text, rolled = add_event(workspace, change.text, event)
    written = {path for operation in (*change.before, *change.after) for path in paths_of(operation)}
    if any(path in written for operation in rolled for path in paths_of(operation)):
        text, rolled = with_event(change.text, event), ()
    return change._replace(text=text, before=(*change.before, *rolled), state=None, stamped="")


def _repaired_state(loaded: Loaded, planned: TaskState) -> TaskState:
    """Return what a file says whose front matter a fix has mended; only now can its seal be seen to be broken."""
    check_seal(planned.document, loaded.relative)
    return planned


def create_file(workspace: Workspace, relative: str, text: str, request: Request) -> Outcome:
    """Write a new state file, stamped; nothing that exists is ever overwritten."""
    if request.expect:
        what = f"{relative} is to be created, so it is at no revision yet"
        raise TaskstateError(what, help="leave --expect-revision out", code="revision")
    with workspace.locked() as told:
        first = journal.Create(relative, with_write_metadata(text, request.stamp, revision=1).encode())
        found = secret_check.new_secrets_in_plan(workspace, (first,))
        warnings = secret_check.require_allowed(found, force=request.force_secrets)
        text = with_event(text, secret_check.audit_event(found, request.stamp)) if found.kinds else text
        text = with_write_metadata(text, request.stamp, revision=1)
        operation = journal.Create(relative, text.encode())
        diff = _diff(workspace, operation) if request.dry_run else ""
        if not request.dry_run:
            journal.write(workspace.root, workspace.journal, (operation,))
            backups.forget(workspace.journal, relative)  # of an earlier file of that name
    token = f"1-{files.digest(operation.data)[:8]}"
    return Outcome(relative, token, changed=True, notes=told, diff=diff, warnings=warnings, text=text)


def _diff(workspace: Workspace, operation: journal.Operation) -> str:
    """Return the unified diff of one operation against what is on disk."""
    if not isinstance(operation, journal.Create | journal.Replace | journal.Append):
        return ""
    path = workspace.root / operation.path
    old = files.read(path) if not isinstance(operation, journal.Create) else b""
    new = old + operation.data if isinstance(operation, journal.Append) else operation.data
    return unified_diff(operation.path, old.decode(), new.decode(), is_new=isinstance(operation, journal.Create))


def unified_diff(name: str, old: str, new: str, *, is_new: bool = False) -> str:
    """Return the unified diff of a file's text, each line ended by LF; what looks like a credential is masked in it."""
    before, after = (text.replace("\r\n", "\n").replace("\r", "\n").split("\n") for text in (old, new))
    before, after = (lines[:-1] if lines[-1] == "" else lines for lines in (before, after))
    lines = difflib.unified_diff(before, after, "/dev/null" if is_new else f"a/{name}", f"b/{name}", lineterm="")
    return secrets.masked("".join(line + "\n" for line in lines))


def _is_stamped(loaded: Loaded, document: Document) -> bool:
    """Return whether a write leaves its marks: in every state file whose front matter can be read, in no other file."""
    own = names.own_file(loaded.relative)
    return (
        own is not None and own.type == "state" and (bool(loaded.document.front_matter) or bool(document.front_matter))
    )

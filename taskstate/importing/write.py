"""Writes what was planned: all files in one journalled step under the lock, or none; and takes the last run back."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model import names
from taskstate.model.write_metadata import with_event, with_events
from taskstate.storage import files, journal, kept_records, transaction
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import keeping, secret_check
from taskstate.writing.change import Change
from taskstate.writing.ledger import NOTHING, newest_entry
from taskstate.writing.writer import operations_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taskstate.importing.text import Written
    from taskstate.storage.transaction import Operation, Plan
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request

_LAST = "import.json"  # private: what the last run wrote, by path: the hash, and the text before if there was one
_SHOWN = 5


class Undone(NamedTuple):
    """What was taken back: files that are `gone`, and others that are as `before`; what was changed since is `kept`."""

    gone: tuple[str, ...]
    before: tuple[str, ...]
    kept: tuple[str, ...]


def plan_of(written: Sequence[Written]) -> tuple[Operation, ...]:
    """Return the operations that create all files of a run; a file that a state file names comes before it."""
    return tuple(journal.Create(path, text.encode()) for each in written for path, text in each.all)


def forced(workspace: Workspace, path: str, text: str, request: Request, old: str = "") -> tuple[str, tuple[str, ...]]:
    """Return a text with the event that says what it has of credentials although that is refused, and warnings."""
    secrets = secret_check.new_secrets(text, workspace.config, (old,)) if request.force_secrets else ()
    if not secrets:
        return text, ()
    lines = secret_check.describe(text, secrets, path)
    found = secret_check.SecretFindings(lines, tuple(secret.kind for secret in secrets))
    return with_event(text, secret_check.audit_event(found, request.metadata)), secret_check.warnings(lines)


def require_free(workspace: Workspace, written: Sequence[Written]) -> None:
    """Refuse to create state files that HEAD has and the working tree has not, or of which something is gone.

    Raises:
        TaskstateError: code "exists" or "lost".
    """
    committed = set[str]()
    with suppress(GitFailed):  # nothing is committed
        listed = ["ls-tree", "-z", "--name-only", "HEAD", "--", f"{workspace.relative(workspace.tasks)}/"]
        if git.toplevel(workspace.root) is not None:
            committed = {*map(os.fsdecode, git.run(listed, workspace.root).split(b"\0"))}
    recorded = {task for record in kept_records.records(workspace.private)[0] for task in record.ids}
    for path, task_id in ((each.path, names.own_id(each.path)) for each in written):
        if (path in committed or task_id in recorded) and not keeping.is_nothing_owed(workspace, task_id):
            if path in committed:
                message = f"{path} is committed, and only gone from here"
                raise TaskstateError(message, help="bring it back, or import with --prefix", code="exists")
            keeping.require_nothing_lost(workspace, path)


def write(workspace: Workspace, plan: Plan, request: Request) -> None:
    """Carry out the plan of a run in one step, and remember how to take it back; the caller holds the lock."""
    last = dict[str, tuple[str, str]]()
    for each in plan:
        if isinstance(each, journal.Create | journal.Replace):
            is_new = isinstance(each, journal.Create)
            old = "" if is_new else files.read(workspace.root / each.path).decode()
            last[each.path] = (files.digest(each.data), old)
    place = workspace.private.write / _LAST if workspace.private.write else None
    if place is None:
        keeping.carry_out(workspace, plan, request.metadata.now)
        return
    before = _read(place)
    _remember(place, last)  # before the step: one that is killed is finished by the next command
    try:
        keeping.carry_out(workspace, plan, request.metadata.now)
    except TaskstateError:
        _remember(place, before)
        raise


def undo(workspace: Workspace, request: Request) -> Undone:
    """Take back what the last run wrote into files that were not changed since, and let go of what they held.

    Raises:
        TaskstateError: code "nothing-changed": no run is remembered.
    """
    with workspace.locked():
        place = workspace.private.write / _LAST if workspace.private.write else None
        last = _read(place) if place else {}
        if not last or place is None:
            message = "there is no import to take back"
            raise TaskstateError(message, help="`git status` shows what is new", code="nothing-changed")
        found: dict[str, list[str]] = {"gone": [], "before": [], "kept": []}
        for path, (sha, old) in last.items():
            with suppress(TaskstateError):  # it is gone already
                now = files.digest(files.read(workspace.root / path))
                found["kept" if now != sha else "before" if old else "gone"].append(path)
        if not request.dry_run:
            changes = [each for path in found["before"] for each in _back(workspace, path, last[path][1], request)]
            if changes:
                keeping.carry_out(workspace, tuple(changes), request.metadata.now)
            deletes = tuple(journal.Delete(path, last[path][0]) for path in found["gone"])
            journal.write(workspace.root, workspace.private, deletes)
            _let_go(workspace, found["gone"])
            files.delete(place)
    return Undone(*(tuple(paths) for paths in found.values()))


def _back(workspace: Workspace, path: str, old: str, request: Request) -> Plan:
    """Return the operations that give a task the text it had before, but for its events, which are history."""
    loaded = workspace.load(workspace.root / path)
    audit = loaded.document.front_matter.get("audit")
    events = audit.get("events") if isinstance(audit, dict) else None
    text = with_events(old, events) if isinstance(events, list) else old
    return operations_of(workspace, loaded, Change(text), request)


def _let_go(workspace: Workspace, gone: Sequence[str]) -> None:
    """Record for each task that what was acknowledged of it was meant to go."""
    records = kept_records.records(workspace.private)[0]
    found = {names.own_id(path): newest_entry(records, names.own_id(path)) for path in gone if names.own_file(path)}
    entries = {
        task: NOTHING._replace(revision=entry.revision, withdrawn=entry.items, dropped=True).as_json()
        for task, entry in found.items()
        if entry
    }
    if entries:
        name = kept_records.name_for(tuple(entries), batch=False)
        kept_records.keep(workspace.private, transaction.encode((), {"tasks": entries}), name)


def _remember(place: Path, last: Mapping[str, tuple[str, str]]) -> None:
    files.replace_private(place, json.dumps(last, sort_keys=True).encode())


def _read(place: Path) -> Mapping[str, tuple[str, str]]:
    with suppress(TaskstateError, ValueError, TypeError, AttributeError):
        last = json.loads(files.read(place, files.MAX_BYTES))
        return {path: (str(sha), str(old)) for path, (sha, old) in last.items()}
    return {}


def undone_text(undone: Undone, *, dry_run: bool) -> str:
    """Return what was taken back, in words."""
    would = "would be " if dry_run else ""
    lines = [f"{counted(len(undone.gone), 'file')} {would}removed"]
    if undone.before:
        lines.append(f"{counted(len(undone.before), 'file')} {would}as before the import")
    if undone.kept:
        lines.append(f"changed since, and kept: {first_of(undone.kept, _SHOWN)}")
    return "\n".join(lines)

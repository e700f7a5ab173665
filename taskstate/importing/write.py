"""Writes what was planned: all files in one journalled step under the lock, or none; and takes the last run back."""

from __future__ import annotations

import json
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.importing.text import digests
from taskstate.messages import counted, first_of
from taskstate.model import names
from taskstate.storage import files, journal, kept_records, transaction
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing import keeping
from taskstate.writing.ledger import NOTHING, newest_entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from taskstate.importing.text import Written
    from taskstate.storage.transaction import Operation, Plan
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request

_LAST = "import.json"  # private: what the last run wrote
_SHOWN = 5


class Undone(NamedTuple):
    """What was taken back, and what stays since it was changed meanwhile."""

    gone: tuple[str, ...]
    kept: tuple[str, ...]


def plan_of(written: Sequence[Written]) -> tuple[Operation, ...]:
    """Return the operations that create all files of a run; a file that a state file names comes before it."""
    return tuple(journal.Create(path, text.encode()) for each in written for path, text in each.all)


def require_free(workspace: Workspace, written: Sequence[Written]) -> None:
    """Refuse to create state files that HEAD has and the working tree has not, or of which something is gone.

    Raises:
        TaskstateError: code "exists" or "lost".
    """
    folder = workspace.relative(workspace.tasks)
    committed = set[str]()
    if git.toplevel(workspace.root) is not None and git.head(workspace.root) is not None:
        listed = git.run(["ls-tree", "-z", "--name-only", "HEAD", "--", f"{folder}/"], workspace.root)
        committed = {name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0")}
    recorded = {task for record in kept_records.records(workspace.private)[0] for task in record.ids}
    for each in written:
        own = names.own_file(each.path)
        task_id = own.id.casefold() if own and own.id else ""
        was_here = each.path in committed or task_id in recorded
        if not was_here or keeping.is_nothing_owed(workspace, task_id):
            continue
        if each.path in committed:
            message = f"{each.path} is committed, and only gone from here"
            raise TaskstateError(message, help="bring it back, or import with --prefix", code="exists")
        keeping.require_nothing_lost(workspace, each.path)


def write(workspace: Workspace, plan: Plan, written: Sequence[Written], request: Request) -> None:
    """Carry out the plan of a run in one step, and remember the files that are new; the caller holds the lock."""
    keeping.carry_out(workspace, plan, request.metadata.now)
    place = _place(workspace)
    if place and written:
        files.replace_private(place, json.dumps(dict(digests(written)), sort_keys=True).encode())


def undo(workspace: Workspace, *, dry_run: bool = False) -> Undone:
    """Take the files of the last run back that were not changed since, and let go of what they held.

    Raises:
        TaskstateError: code "nothing-changed": no run is remembered.
    """
    with workspace.locked():
        place = _place(workspace)
        last = _read(place) if place else {}
        if not last or place is None:
            message = "there is no import to take back"
            raise TaskstateError(message, help="`git status` shows what is new", code="nothing-changed")
        gone, kept, plan = list[str](), list[str](), list[journal.Operation]()
        for path, sha in last.items():
            with suppress(TaskstateError):
                now = files.digest(files.read(workspace.root / path))
                (gone if now == sha else kept).append(path)
                plan += [journal.Delete(path, sha)] if now == sha else []
        if not dry_run:
            journal.write(workspace.root, workspace.private, tuple(plan))
            _let_go(workspace, gone)
            files.delete(place)
    return Undone(tuple(gone), tuple(kept))


def _let_go(workspace: Workspace, gone: Sequence[str]) -> None:
    """Record for each task that what was acknowledged of it was meant to go."""
    records = kept_records.records(workspace.private)[0]
    entries = {}
    for path in gone:
        own = names.own_file(path)
        entry = newest_entry(records, own.id.casefold()) if own and own.type == "state" and own.id else None
        if own and own.id and entry:
            let_go = NOTHING._replace(revision=entry.revision, withdrawn=entry.items, dropped=True)
            entries[own.id.casefold()] = let_go.as_json()
    if entries:
        data = transaction.encode((), {"tasks": entries})
        kept_records.keep(workspace.private, data, kept_records.name_for(tuple(entries), batch=False))


def _place(workspace: Workspace) -> Path | None:
    return workspace.private.write / _LAST if workspace.private.write else None


def _read(place: Path) -> Mapping[str, str]:
    with suppress(TaskstateError, ValueError):
        values = json.loads(files.read(place))
        if isinstance(values, dict):
            return {str(path): str(sha) for path, sha in values.items()}
    return {}


def undone_text(undone: Undone, *, dry_run: bool) -> str:
    """Return what was taken back, in words."""
    would = "would be " if dry_run else ""
    lines = [f"{counted(len(undone.gone), 'file')} {would}removed"]
    if undone.kept:
        lines.append(f"changed since, and kept: {first_of(undone.kept, _SHOWN)}")
    return "\n".join(lines)

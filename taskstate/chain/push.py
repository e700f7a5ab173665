"""Propagates the output of a task to the tasks that depend on it, as changes within the same write."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import chain
from taskstate.model.names import id_key, own_id
from taskstate.model.statuses import CLOSED
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import timestamp, with_event, with_write_metadata
from taskstate.storage import folders, journal
from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import task_index
from taskstate.writing import preconditions, secret_check
from taskstate.writing.damage import why_unread

if TYPE_CHECKING:
    from taskstate.model.chain_quotes import Upstream
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request


def downstream_of(workspace: Workspace, task_id: str) -> tuple[str, ...]:
    """Return the paths of the state files that name a task in `depends_on`, in the natural order of their ids."""
    key = task_id.casefold()
    tasks = (task for task in task_index.all_tasks(workspace) if key in task.upstream.casefold().split())
    downstream = sorted((id_key(task.id), task.path) for task in tasks if task.id.casefold() != key)
    return tuple(path for _, path in downstream)


def propagate(
    workspace: Workspace, upstream: Upstream, request: Request
) -> tuple[tuple[journal.Operation, ...], tuple[str, ...]]:
    """Return the changes of the tasks that depend on `upstream`, and notes on them.

    A task that cannot take the output is skipped and named; it can pull it once its file can be read. So is a file
    whose dependencies cannot be read.
    """
    changes: list[journal.Operation] = []
    notes: list[str] = []
    verb = "would hand" if request.dry_run else "handed"
    for path in downstream_of(workspace, upstream.id):
        try:
            changed, warnings = _changed(workspace, path, upstream, request)
        except TaskstateError as error:
            then = f"once that is fixed, `taskstate chain pull {own_id(path)}` does it"
            notes.append(f"not pulled into {path}: {error.message}; {then}")
            continue
        if changed:
            changes.append(changed)
            notes += [f"{verb} the output to {path}", *warnings]
    unread = (
        f"{each}; so taskstate cannot tell whether it builds on task {upstream.id}" for each in unreadable(workspace)
    )
    return tuple(changes), (*notes, *unread)


def unreadable(workspace: Workspace) -> tuple[str, ...]:
    """Return why state files cannot be read, one line each."""
    return tuple(sorted(f"not looked at: {each}" for each in why_unread(workspace, task_index.all_tasks(workspace))))


def _changed(
    workspace: Workspace, path: str, upstream: Upstream, request: Request
) -> tuple[journal.Operation | None, tuple[str, ...]]:
    """Return the change of one task, None where it is closed or has the output already, and warnings.

    A complete task keeps the inputs on which it was built.

    Raises:
        TaskstateError: it cannot be read or changed safely; or the output contains what looks like a credential.
    """
    _require_no_link(workspace, path)
    loaded = workspace.load(workspace.root / path)
    if loaded.state.status in CLOSED:
        return None, ()
    text = chain.with_input(loaded.document, upstream, timestamp(request.metadata.now), workspace.config)
    if text == loaded.document.text:
        return None, ()
    preconditions.require_writable(loaded, "")
    preconditions.require_whole(loaded)
    change = _stamped(loaded, text, request)
    secrets = secret_check.new_secrets_in_plan(workspace, (change,), loaded.relative, loaded.document.text)
    if secrets.lines and not request.force_secrets:
        raise secret_check.refusal(secrets.lines, secrets.kinds)
    if secrets.lines:
        change = _stamped(loaded, with_event(text, secret_check.audit_event(secrets, request.metadata)), request)
    warnings = secret_check.warnings_of(workspace, secrets)
    secret_check.remember_said(workspace, secrets, request)
    return change, warnings


def _require_no_link(workspace: Workspace, path: str) -> None:
    """Refuse a symbolic link before it gets into a plan: the journal would reject the whole plan.

    Raises:
        TaskstateError: code "is-link".
    """
    if folders.is_link(workspace.root / path):
        raise TaskstateError("it is a symbolic link", help="name the real file", code="is-link")


def _stamped(loaded: Loaded, text: str, request: Request) -> journal.Replace:
    text = with_write_metadata(text, request.metadata, revision=loaded.state.revision + 1)
    preconditions.require_sound(loaded, read_state(loaded.document.with_text(text)))
    return journal.Replace(loaded.relative, loaded.digest, text.encode())

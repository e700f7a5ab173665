"""Hands the output of a task down into the tasks that depend on it, as changes that its own change takes along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate import chain, glance, guards, journal
from taskstate.document import parse
from taskstate.errors import TaskstateError
from taskstate.kinds import id_key
from taskstate.stamp import stamped, timestamp
from taskstate.state import read_state

if TYPE_CHECKING:
    from taskstate.chain import Upstream
    from taskstate.workspace import Workspace
    from taskstate.writing import Request


def downstream_of(workspace: Workspace, task_id: str) -> tuple[str, ...]:
    """Return the paths of the state files that name a task in `depends_on`, in the natural order of their ids."""
    key = task_id.casefold()
    tasks = (task for task in glance.all_tasks(workspace) if key in task.upstream.casefold().split())
    found = sorted((id_key(task.id), task.path) for task in tasks if task.id.casefold() != key)
    return tuple(path for _, path in found)


def handed_down(
    workspace: Workspace, upstream: Upstream, request: Request
) -> tuple[tuple[journal.Operation, ...], tuple[str, ...]]:
    """Return the changes of the tasks that depend on `upstream`, and what to tell.

    A task that cannot take the output is left out and named: it pulls it when it can be read again.
    """
    changes: list[journal.Operation] = []
    notes: list[str] = []
    words = "would hand" if request.dry_run else "handed"
    for path in downstream_of(workspace, upstream.id):
        try:
            changed = _changed(workspace, path, upstream, request)
        except TaskstateError as error:
            notes.append(f"not handed down to {path}: {error.message}; `taskstate chain pull` does it later")
            continue
        if changed:
            changes.append(changed)
            notes.append(f"{words} the output down to {path}")
    return tuple(changes), tuple(notes)


def _changed(workspace: Workspace, path: str, upstream: Upstream, request: Request) -> journal.Operation | None:
    """Return the change of one task, or None where it has the output already.

    Raises:
        TaskstateError: it cannot be read, or cannot be changed safely.
    """
    loaded = workspace.load(workspace.root / path)
    text = chain.pulled(loaded.document.text, upstream, timestamp(request.stamp.now), workspace.config)
    if text == loaded.document.text:
        return None
    guards.require_writable(loaded, "")
    guards.require_whole(loaded)
    text = stamped(text, request.stamp, revision=loaded.state.revision + 1)
    guards.require_sound(loaded, text, read_state(parse(text)))
    return journal.Replace(loaded.relative, loaded.digest, text.encode())

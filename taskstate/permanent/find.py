"""Finds the permanent task of a repository, which nobody needs to be told the id of."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import CLOSED
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.workspace.workspace import Loaded, Workspace


class Found(NamedTuple):
    """The active permanent task with the lowest id, and a warning where there are others."""

    id: str
    notes: tuple[str, ...] = ()


def find(workspace: Workspace) -> Found | None:
    """Return the permanent task that everybody reads, or None where there is none.

    Among thousands of tasks the full index takes longer than all else in a brief, so as long as it is known which files
    are permanent tasks, only those are read.
    """
    paths = task_index.permanent_paths(workspace)
    if paths is None:
        return search(workspace)
    states = [each.state for path in paths if (each := _loaded(workspace, path))]
    return _first(each.id for each in states if each.kind == PERMANENT and each.status not in CLOSED)


def search(workspace: Workspace) -> Found | None:
    """Return the permanent task that everybody reads, after a look at every task."""
    permanent = (each for each in task_index.all_tasks(workspace) if each.kind == PERMANENT)
    return _first(each.id for each in permanent if not each.problem and each.status not in CLOSED)


def _loaded(workspace: Workspace, relative: str) -> Loaded | None:
    path = workspace.root / relative
    try:
        return workspace.load(path) if files.size(path) is not None else None
    except TaskstateError:
        return None  # a file that cannot be read is told by the commands that read it


def _first(ids: Iterable[str]) -> Found | None:
    in_order = sorted(ids, key=names.id_key)
    if not in_order:
        return None
    first, *others = in_order
    if not others:
        return Found(first, ())
    note = f"there are several permanent tasks; {first} counts, and not {', '.join(others)}: close all but one"
    return Found(first, (f"{note} (`taskstate permanent close {others[0]}`)",))


def require(workspace: Workspace, task_id: str = "") -> Found:
    """Return the permanent task with this id, or without one that which everybody reads.

    Raises:
        TaskstateError: code "no-permanent": there is none, or the task is not a permanent one; code "not-found"; code
            "damaged": it may be a file that cannot be read.
    """
    loaded = workspace.load(workspace.locate(task_id)) if task_id else None
    if loaded and loaded.state.kind == PERMANENT:
        return Found(task_id)
    found = find(workspace) or search(workspace)
    if not found:
        _require_all_readable(workspace)
        help_ = '`taskstate new --kind permanent --title "WHAT WE BUILD"` creates one'
        raise TaskstateError("there is no active permanent task", help=help_, code="no-permanent")
    if loaded:
        require_permanent(loaded)
    return found


def _require_all_readable(workspace: Workspace) -> None:
    """Refuse to say that there is no permanent task while a state file cannot be read.

    Raises:
        TaskstateError: code "damaged".
    """
    from taskstate.writing import damage

    for path in workspace.counted("reading tasks", workspace.state_files()):
        try:
            damage.require_readable(workspace, workspace.load(path))
        except TaskstateError as error:
            message = f"there is no active permanent task that can be read: {error.message}"
            raise TaskstateError(message, help=error.help, code=damage.CODE) from error


def require_permanent(loaded: Loaded) -> None:
    """Refuse a task of another kind.

    Raises:
        TaskstateError: code "no-permanent".
    """
    if loaded.state.kind != PERMANENT:
        message = f"task {loaded.state.id} is not a permanent task"
        raise TaskstateError(message, help="leave the id out: the permanent task is found", code="no-permanent")

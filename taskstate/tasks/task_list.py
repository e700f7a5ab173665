"""Lists the tasks of a repository, each with what `list` shows of it.

That is cached from run to run, as long as a file keeps its size, times and inode number: among thousands of tasks a
second run only looks at the files and reads none.
"""

from __future__ import annotations

import time

from taskstate.errors import TaskstateError
from taskstate.model import document_kinds
from taskstate.model.document_kinds import PERMANENT, TASK
from taskstate.model.names import id_key, own_file
from taskstate.model.statuses import BLOCKED, CLOSED, COMPLETE
from taskstate.storage import folders
from taskstate.storage.cache import Cache
from taskstate.storage.file_sources import is_settled, mark_of
from taskstate.tasks.decomposition_plan import guidance, sizing
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any

    from taskstate.workspace.workspace import Workspace

READY, WAITING = "ready", "waiting"
_COLUMNS = ("ID", "STATUS", "FEATURES", "SESSIONS", "SIZING", "KB", "TITLE")


class Listed(NamedTuple):
    """A task in the list: its shape as JSON values (`overview.task_shape`), and which part of its file does not parse.

    `mark` identifies the state of the file (`file_sources.mark_of`). `progress` says how many features pass; of a
    permanent task it is the version.
    """

    mark: str
    shape: dict[str, Any]
    progress: str
    unread: str


class _Read(NamedTuple):
    """What was read of a file: the task, if it can be listed, and a line if it is damaged or cannot be read.

    It is `lasting` if it rests on nothing but the file, and nothing is wrong with that.
    """

    task: Listed | None
    problem: str
    lasting: bool


def list_tasks(
    workspace: Workspace, *, status: str, area: str, ready: bool, blocked: bool = False
) -> tuple[list[Listed], dict[str, str]]:
    """Return the tasks that match, in natural order, and by path a line for each file that is damaged or unreadable.

    `ready` selects tasks that can be worked on now, `blocked` those that are blocked or wait for another task.
    """
    tasks, problems = _all_tasks(workspace)
    complete = {each.shape["id"].casefold() for each in tasks if each.shape["status"] == COMPLETE}
    selected = READY if ready else WAITING if blocked else ""
    matching = [
        each
        for each in tasks
        if status in ("", each.shape["status"])
        and area in ("", each.shape["area"])
        and (not selected or selected == _standing(each.shape, complete))
    ]
    return matching, problems


def _all_tasks(workspace: Workspace) -> tuple[list[Listed], dict[str, str]]:
    kinds = repr(document_kinds.declared())
    cache = Cache(workspace.private.cache("list.json"), Listed._make, rests_on=kinds)
    known, now = cache.all(), time.time_ns()
    tasks: list[Listed] = []
    problems: dict[str, str] = {}
    names = []
    for path, file in sorted(task_index.state_files(workspace), key=lambda each: _order(each[0])):
        names.append(path)
        mark = mark_of(file)
        task = known.get(path)
        if task is None or task.mark != mark:
            task, problem, is_lasting = _read(workspace, path, mark)
            if problem:
                problems[path] = problem
            elif task and is_lasting and is_settled(file, now):
                cache.put(path, task)
        if task:
            tasks.append(task)
    if cache.changed or len(names) != len(known):
        cache.keep(names)
    if folders.is_folder(workspace.state_root):
        cache.save()
    return tasks, problems


def _order(path: str) -> tuple[object, str]:
    return id_key(task_index.id_in(path)), path


def _read(workspace: Workspace, relative: str, mark: str) -> _Read:
    from taskstate.tasks.overview import progress, task_shape
    from taskstate.workspace.damage import advice, damage_of, needs_archive, unread_part

    task = None
    try:
        loaded = workspace.load(workspace.root / relative)
        task = Listed(mark, task_shape(loaded), progress(loaded.state), unread_part(loaded))
        found = damage_of(workspace, loaded, alone=True)
        problem = f"{found}: {advice(workspace, loaded)}" if found else ""
    except TaskstateError as error:
        return _Read(task, f"not listed: {error}", lasting=False)
    return _Read(task, problem, lasting=not needs_archive(loaded))


def _standing(shape: dict[str, Any], complete: set[str]) -> str:
    """Return whether a task is ready or waiting; empty where it is closed, or of a kind that is not worked on."""
    if shape["status"] in CLOSED or shape["kind"] != TASK:
        return ""
    upstream_complete = complete.issuperset(each.casefold() for each in shape["depends_on"])
    return READY if upstream_complete and shape["status"] != BLOCKED else WAITING


def listing(tasks: list[Listed], most: int, problems: Collection[str] = ()) -> str:
    """Return the tasks as a table, one line each, followed by the table of session counts.

    `problems` are the paths of damaged files, whose rows are marked.
    """
    rows = [_COLUMNS, *(_row(each, most, problems) for each in tasks)]
    read = {each.shape["path"] for each in tasks}
    unread = (own_file(path) for path in problems if path not in read)
    rows += [((own and own.id) or "?", *("-" for _ in _COLUMNS[2:]), "(damaged)") for own in unread]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([*lines, "", guidance(most)]) if len(rows) > 1 else "no tasks"


def _row(task: Listed, most: int, problems: Collection[str]) -> tuple[str, ...]:
    shape = task.shape
    status, title, size_kb = shape["status"] or "?", shape["title"], str(shape["size_kb"])
    is_damaged = shape["path"] in problems
    if shape["kind"] == PERMANENT:
        marked = f"[PERMANENT] {title} (damaged)" if is_damaged else f"[PERMANENT] {title}"
        return shape["id"], status, task.progress, "-", "-", size_kb, marked
    sessions = shape["sessions"]["total"]
    size = "-" if status in CLOSED else sizing(sessions, most).name
    unread = "(damaged)" if is_damaged else "(cannot be read fully: run `taskstate lint`)" if shape["problems"] else ""
    return shape["id"], status, task.progress, str(sessions), size, size_kb, f"{title} {unread}".strip()

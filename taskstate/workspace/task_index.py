"""Indexes the front matter of all tasks of a repository, for commands that list thousands of tasks and read few.

The entries are cached from run to run, as long as a file keeps its size, times and inode number: a second run only
looks at the files and reads none.
"""

from __future__ import annotations

import time
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.statuses import CLOSED
from taskstate.storage import folders
from taskstate.storage.cache import Cache
from taskstate.storage.file_sources import mark_of, settled_before
from taskstate.syntax import hashes
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import listing, permanent_paths

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from taskstate.model.document_kinds import Kinds
    from taskstate.workspace.workspace import Workspace

_SUFFIX = "-state.md"


class _IndexedTask(NamedTuple):
    mark: str
    path: str
    id: str
    title: str
    status: str
    priority: str
    area: str
    kind: str
    parent: str
    upstream: str
    problem: str


class IndexedTask(_IndexedTask):
    """A task by its front matter; `problem` says why the file cannot be read, and the other values are empty then.

    `mark` identifies the state of the file (`file_sources.mark_of`); `upstream` has the ids of its dependencies,
    separated by blanks.
    """

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of the upstream tasks."""
        return tuple(self.upstream.split())


class StateFiles(NamedTuple):
    """The state files of a repository, by path from its root, with the mark of each (`file_sources.mark_of`).

    They were looked at from the time `began` on, in nanoseconds. Those that are `unsettled` may change again without
    getting another mark. They are read with the `kinds` that the repository declares.
    """

    began: int
    marks: dict[str, str]
    unsettled: frozenset[str]
    kinds: Kinds

    def mark(self) -> str:
        """Return a short text that identifies the content of all files, if none is `unsettled`."""
        marks = "\n".join(map(" ".join, self.marks.items()))
        return hashes.fingerprint(f"{self.kinds}\n{marks}".encode("utf-8", "surrogateescape"))


def all_tasks(workspace: Workspace, listed: StateFiles | None = None) -> tuple[IndexedTask, ...]:
    """Return all tasks of the repository in no particular order, including those that cannot be read.

    `listed` are the `state_files`, where the caller has them already.
    """
    kinds = " ".join(each.name for each in workspace.kinds)
    cache = Cache(workspace.private.cache("tasks.json"), IndexedTask._make, rests_on=kinds)
    known, listed = cache.all(), listed or state_files(workspace)
    tasks: list[IndexedTask] = []
    read_anew = False
    for path, mark in listed.marks.items():
        task = known.get(path)
        if task is None or task.mark != mark:
            task, read_anew = _read(workspace, path, mark), True
            if path not in listed.unsettled:
                cache.put(path, task)
        tasks.append(task)
    if read_anew or len(tasks) != len(known):
        cache.keep(task.path for task in tasks)
    if folders.is_folder(workspace.state_root):
        is_other = read_anew or cache.changed or not permanent_paths.is_remembered(workspace)
        if is_other:  # first: what it refuses is refused by each run, whatever is cached
            permanent = (task.path for task in tasks if task.kind == PERMANENT)
            permanent_paths.remember(workspace, permanent, listed.began)
        cache.save()
    return tuple(tasks)


def by_id(tasks: Iterable[IndexedTask]) -> Mapping[str, IndexedTask]:
    """Return the tasks by case-folded id; of several with the same id the first that is open."""
    indexed: dict[str, IndexedTask] = {}
    for task in tasks:
        key = task.id.casefold()
        if key not in indexed or indexed[key].status in CLOSED:
            indexed[key] = task
    return indexed


def state_files(workspace: Workspace) -> StateFiles:
    """Look at the state files of the repository: at a link itself, and not at what it names."""
    began, excludes = time.time_ns(), bool(workspace.config.exclude)
    settled = settled_before(began)
    marks: dict[str, str] = {}
    unsettled = set()
    root, state_root, deep = workspace.root, workspace.state_root, workspace.is_repository
    for path, status in listing.own_statuses(root, state_root, _is_state_file, (f"*{_SUFFIX}",), deep=deep):
        if not excludes or not workspace.excludes(Path(workspace.root, path)):
            marks[path] = mark_of(status)
            if status.st_mtime_ns > settled or status.st_ctime_ns > settled:
                unsettled.add(path)
    return StateFiles(began, marks, frozenset(unsettled), workspace.kinds)


def _is_state_file(path: str) -> bool:
    return path.endswith(_SUFFIX) and path.startswith("task-", path.rfind("/") + 1)


def id_in(relative: str) -> str:
    """Return the id of the task whose state file a path names."""
    return relative.rpartition("/")[2].removeprefix("task-").removesuffix(_SUFFIX)


def _read(workspace: Workspace, relative: str, mark: str) -> IndexedTask:
    """Read a file's front matter into an entry; each value becomes one line without tabs."""
    problem, values = "", [""] * (len(IndexedTask._fields) - 4)
    try:
        values = _values(workspace, decoded(workspace.read(workspace.root / relative), relative), relative)
    except TaskstateError as error:
        problem = error.message
    lines = (" ".join(each.split()) for each in (*values, problem))
    return IndexedTask._make((mark, relative, id_in(relative), *lines))


def _values(workspace: Workspace, text: str, relative: str) -> list[str]:
    """Return the fields of an entry from `title` to `upstream`."""
    from taskstate.model.task_state import read_state
    from taskstate.syntax.document import parse_head

    document = parse_head(text, workspace.kinds)
    if document.problems:
        first = document.problems[0]
        line = document.position(first.span.start).line + 1
        raise TaskstateError(f"{relative}, line {line}: {first.message}")
    state = read_state(document)
    single = (state.title, state.status, *(state.text(key) or "" for key in ("priority", "area")), state.kind)
    return [*single, state.text("parent") or "", " ".join(state.depends_on)]

"""All tasks of a repository at a glance: what their front matter says, and nothing of what stands below it.

For those who look at thousands of tasks and read few. What a file says is remembered from run to run for as long as the
file keeps its size, times and number, so that a second run looks at each one and reads none.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model.statuses import COMPLETE
from taskstate.storage.cache import Cache
from taskstate.storage.file_sources import is_settled, mark_of
from taskstate.workspace import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

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
    """What a state file's front matter says; `problem` is why it cannot be read, and then the rest is empty.

    `mark` is what the system says of the file, `upstream` the ids that it depends on with blanks between them.
    """

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of the upstream tasks."""
        return tuple(self.upstream.split())


def all_tasks(workspace: Workspace) -> tuple[IndexedTask, ...]:
    """Return all tasks of the repository, in no order; those that cannot be read are among them."""
    cache = Cache(workspace.state_root / "cache" / "tasks.json", IndexedTask._make)
    now = time.time_ns()
    tasks: list[IndexedTask] = []
    for path, status in _state_files(workspace):
        mark = mark_of(status)
        task = cache.get(path)
        if task is None or task.mark != mark:
            task = _read(workspace, path, mark)
            if is_settled(status, now):
                cache.put(path, task)
        tasks.append(task)
    cache.keep(task.path for task in tasks)
    if workspace.state_root.is_dir():
        cache.save()
    return tuple(tasks)


def by_id(tasks: Iterable[IndexedTask]) -> Mapping[str, IndexedTask]:
    """Return the tasks by case-folded id; of several with one id the first that is not complete."""
    found: dict[str, IndexedTask] = {}
    for task in tasks:
        key = task.id.casefold()
        if key not in found or found[key].status == COMPLETE:
            found[key] = task
    return found


def _state_files(workspace: Workspace) -> Iterator[tuple[str, os.stat_result]]:
    """Yield the state files of the repository, and what the system says of each; of a link, of what it leads to."""
    start = len(str(workspace.root)) + 1
    for path in listing.own_files(workspace.root, workspace.state_root, _is_state_file, (f"*{_SUFFIX}",)):
        if not (workspace.config.exclude and workspace.excludes(Path(path))):
            with suppress(FileNotFoundError):  # somebody has removed it meanwhile
                yield path[start:], _status(path)


def _status(path: str) -> os.stat_result:
    try:
        return os.stat(path)
    except OSError:  # a link that leads nowhere
        return os.lstat(path)


def _is_state_file(path: str) -> bool:
    return path.endswith(_SUFFIX) and path.rpartition("/")[2].startswith("task-")


def _id_in(relative: str) -> str:
    return relative.rpartition("/")[2].removeprefix("task-").removesuffix(_SUFFIX)


def _read(workspace: Workspace, relative: str, mark: str) -> IndexedTask:
    """Return what a file says; each value is one line without tabs."""
    problem, values = "", [""] * (len(IndexedTask._fields) - 4)
    try:
        values = _values(decoded(workspace.read(workspace.root / relative), relative), relative)
    except TaskstateError as error:
        problem = error.message
    told = (" ".join(each.split()) for each in (*values, problem))
    return IndexedTask._make((mark, relative, _id_in(relative), *told))


def _values(text: str, relative: str) -> list[str]:
    from taskstate.model.task_state import read_state
    from taskstate.syntax.document import parse_head

    document = parse_head(text)
    if document.problems:
        first = document.problems[0]
        line = document.position(first.span.start).line + 1
        raise TaskstateError(f"{relative}, line {line}: {first.message}")
    state = read_state(document)
    single = (state.title, state.status, *(state.text(key) or "" for key in ("priority", "area")), state.kind)
    return [*single, state.text("parent") or "", " ".join(state.depends_on)]

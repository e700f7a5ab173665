"""All tasks of a repository at a glance: what their front matter says, and nothing of what stands below it.

For those who look at thousands of tasks and read few. What a file says is remembered from run to run for as long as the
file keeps its size, times and number, so that a second run looks at each one and reads none.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import GitFailed, TaskstateError
from taskstate.messages import decoded
from taskstate.model import names
from taskstate.model.statuses import COMPLETE
from taskstate.storage.cache import Cache
from taskstate.storage.file_sources import is_settled, mark_of
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from taskstate.workspace.workspace import Workspace

_SUFFIX = "-state.md"
# What `Workspace` leaves out as well: everywhere, and what is derived at the top of the state folder.
_NEVER_OURS = frozenset({".git", "node_modules", ".venv"})
_DERIVED = frozenset({"artifacts", "cache", "journal"}) | _NEVER_OURS


class _Glance(NamedTuple):
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


class Glance(_Glance):
    """What a state file's front matter says; `problem` is why it cannot be read, and then the rest is empty.

    `mark` is what the system says of the file, `upstream` the ids that it depends on with blanks between them.
    """

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of the upstream tasks."""
        return tuple(self.upstream.split())


def all_tasks(workspace: Workspace) -> tuple[Glance, ...]:
    """Return all tasks of the repository, in no order; those that cannot be read are among them."""
    cache = Cache(workspace.state_root / "cache" / "tasks.json", Glance._make)
    now = time.time_ns()
    tasks: list[Glance] = []
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


def by_id(tasks: Iterable[Glance]) -> Mapping[str, Glance]:
    """Return the tasks by case-folded id; of several with one id the first that is not complete."""
    found: dict[str, Glance] = {}
    for task in tasks:
        key = task.id.casefold()
        if key not in found or found[key].status == COMPLETE:
            found[key] = task
    return found


def _state_files(workspace: Workspace) -> list[tuple[str, os.stat_result]]:
    """Return the state files of the repository, as `Workspace.state_files` finds them, with what the system says."""
    found: list[tuple[str, os.stat_result]] = []
    elsewhere = _elsewhere(workspace)
    folders, left_out = [(str(workspace.state_root), f"{workspace.config.root}/")], _DERIVED
    while folders:
        folder, relative = folders.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        files_here = [each for each in entries if each.name.endswith(_SUFFIX) and each.name.startswith("task-")]
        found += [(relative + each.name, each.stat(follow_symlinks=False)) for each in files_here]
        if len(files_here) < len(entries):
            others = (each for each in entries if not each.name.endswith(_SUFFIX) and each.name not in left_out)
            folders += [(each.path, f"{relative}{each.name}/") for each in others if each.is_dir(follow_symlinks=False)]
        left_out = _NEVER_OURS
    found += [(relative, os.lstat(workspace.root / relative)) for relative in elsewhere()]
    kept = [_followed(workspace, *each) for each in found if not stat.S_ISDIR(each[1].st_mode)]
    return [each for each in kept if not _is_excluded(workspace, each[0])] if workspace.config.exclude else kept


def _followed(workspace: Workspace, relative: str, status: os.stat_result) -> tuple[str, os.stat_result]:
    """Return a file with what the system says of it, and where it is a link, of what that leads to."""
    if stat.S_ISLNK(status.st_mode):
        with suppress(OSError):  # it leads nowhere
            return relative, os.stat(workspace.root / relative)
    return relative, status


def _elsewhere(workspace: Workspace) -> Callable[[], list[str]]:
    """Begin to look for state files outside of the state folder, and return what waits for their paths.

    They are those that git knows or does not ignore; git is asked while the state folder is looked through.
    """
    asked = None
    if git.toplevel(workspace.root) is not None:
        patterns = (f"*{_SUFFIX}", f":(exclude,literal){workspace.config.root}")
        listing = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns)
        asked = git.started(listing, workspace.root)

    def found() -> list[str]:
        try:
            listed = asked() if asked else None
        except GitFailed:
            listed = None
        if listed is None:
            outside = (path for path in workspace.state_files() if not path.is_relative_to(workspace.state_root))
            return [workspace.relative(path) for path in outside]
        listed_files = dict.fromkeys(os.fsdecode(each) for each in listed.split(b"\0") if each)
        return [each for each in listed_files if names.own_file(each) and os.path.lexists(workspace.root / each)]

    return found


def _is_excluded(workspace: Workspace, relative: str) -> bool:
    return workspace.excludes(workspace.root / relative)


def _id_in(relative: str) -> str:
    return relative.rpartition("/")[2].removeprefix("task-").removesuffix(_SUFFIX)


def _read(workspace: Workspace, relative: str, mark: str) -> Glance:
    """Return what a file says; each value is one line without tabs."""
    problem, values = "", [""] * (len(Glance._fields) - 4)
    try:
        values = _values(decoded(workspace.read(workspace.root / relative), relative), relative)
    except TaskstateError as error:
        problem = error.message
    told = (" ".join(each.split()) for each in (*values, problem))
    return Glance._make((mark, relative, _id_in(relative), *told))


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

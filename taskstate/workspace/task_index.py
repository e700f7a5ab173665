"""Indexes the front matter of all tasks of a repository, for commands that list thousands of tasks and read few.

The entries are cached from run to run, as long as a file keeps its size, times and inode number: a second run only
looks at the files and reads none. A brief needs only the permanent tasks, and does not look at the whole repository
for them.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import closing, suppress
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model.document_kinds import PERMANENT
from taskstate.model.statuses import BLOCKED, CLOSED
from taskstate.storage import files, folders
from taskstate.storage.cache import Cache
from taskstate.storage.file_sources import mark_of, settled_before
from taskstate.storage.git import client as git
from taskstate.syntax import hashes
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import listing, open_turns
from taskstate.workspace.open_turns import OpenTurn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from taskstate.model.document_kinds import Kinds
    from taskstate.workspace.workspace import Workspace

_SUFFIX = "-state.md"
_FEW = 2_000  # state files whose change times are looked at by every brief: some milliseconds
_FEW_NEW = 100  # state files that completing a word may read: some hundredths of a second
_MOST_TOUCHED = 20  # files that every brief may read because the index has them otherwise, before all are indexed again
_BEHIND = 6  # fields of an entry behind `problem`
_ORIGIN = ("system", "id", "sha", "source")
_PERMANENT = rb"(?m)^kind:[ \t]*[\"']?permanent\b"


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
    turn: str = ""
    blocked: str = ""
    updated: str = ""
    closed: str = ""
    subtasks: str = ""
    origin: str = ""


class IndexedTask(_IndexedTask):
    """A task by its front matter; `problem` says why the file cannot be read, and the other values are empty then.

    `mark` identifies the state of the file (`file_sources.mark_of`), and is empty in the cache where the file could
    change without getting another one; `upstream` has the ids of its dependencies, separated by blanks, and `turn` the
    values of its open turn as JSON. `blocked` says why it is blocked, if it is. `updated` is the time of the last
    write, as the file tells it, and `closed` that of its completion, if a command completed it. `subtasks` has the ids
    of its own, separated by blanks, and `origin` where it was imported from as JSON: system, id, hash and file.
    """

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of the upstream tasks."""
        return tuple(self.upstream.split())

    @property
    def open_turn(self) -> OpenTurn | None:
        """The open turn that the file tells of."""
        return OpenTurn(*json.loads(self.turn)) if self.turn else None


class StateFiles(NamedTuple):
    """The state files of a repository, by path from its root, with the mark of each (`file_sources.mark_of`).

    Those that are `unsettled` may change again without getting another mark. They are read with the `kinds` that the
    repository declares.
    """

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
    cache = _cache(workspace)
    known, listed = cache.all(), listed or state_files(workspace)
    tasks: list[IndexedTask] = []
    read_anew = False
    with closing(folders.Lookout()) as lookout, workspace.bar("reading tasks") as show:
        for path, mark in listed.marks.items():
            line = known.get(path, "")
            fields = line.split("\t")
            if fields[0] == mark and len(fields) == len(IndexedTask._fields):
                task = IndexedTask._make(fields)
            else:
                show(len(tasks), len(listed.marks))
                task, read_anew = _read(workspace, path, mark, lookout), True
                new = "\t".join(task._replace(mark="") if path in listed.unsettled else task)
                if new != line and "\t" not in path:
                    cache.put(path, new)
            tasks.append(task)
    if read_anew or len(tasks) != len(known):
        cache.keep(task.path for task in tasks)
    if folders.is_folder(workspace.state_root):
        cache.save()
    return tuple(tasks)


def known_titles(workspace: Workspace) -> dict[str, str]:
    """Return the titles of all tasks by id, as they were when they were indexed; few that are new are indexed now.

    For a shell that asks at each press of a key: of the files only the names are read.
    """
    known, folder = _cache(workspace).all(), workspace.relative(workspace.tasks)
    paths = [f"{folder}/{name}" for name in files.names(workspace.tasks) if _is_state_file(name)]
    if 0 < len([path for path in paths if path not in known]) <= _FEW_NEW:
        return {task.id: task.title for task in all_tasks(workspace)}
    fields = (known.get(path, "\t").split("\t") for path in paths)
    return {id_in(path): "".join(each[3:4]) for path, each in zip(paths, fields, strict=True)}


def left_out(workspace: Workspace) -> tuple[IndexedTask, ...]:
    """Return the tasks whose state files a sparse checkout leaves out, as git's index has them."""
    at, root = git.folders(workspace.root), workspace.root
    if at is None or not git.is_sparse(at):
        return ()
    from taskstate.storage.git import index

    found = index.left_out(root)
    read = ((name, git.run(["cat-file", "blob", each], root)) for name, each in found.items() if _is_state_file(name))
    return tuple(_entry(workspace, name, "", data) for name, data in read)


def permanent_paths(workspace: Workspace) -> tuple[str, ...] | None:
    """Return the paths of the permanent tasks from the repository's root; None where all tasks have to be read.

    A file that the index does not have is told by its name, and one that somebody makes permanent by hand by its mark.
    Among very many tasks to look at the marks would cost more than it gives; there a change by hand is seen by the next
    command that indexes all tasks anyway (`next`, `lint` of that file, the agents' hooks).
    """
    known = _cache(workspace).all()
    if not known:
        return None
    permanent = {path for path, line in known.items() if f"\t{PERMANENT}\t" in line}  # or with such a title: also read
    touched = [path for path in _touched(workspace, known) if path not in permanent]
    if len(touched) > _MOST_TOUCHED or any(_is_permanent(workspace.root / path) for path in touched):
        return None
    return tuple(sorted(permanent))


def _cache(workspace: Workspace) -> Cache[str]:
    """Return the cache of the entries, each as one line with tabs: lists would take three times as long to read."""
    kinds = " ".join(each.name for each in workspace.kinds)
    return Cache(workspace.private.cache("tasks.json"), str, rests_on=kinds)


def _touched(workspace: Workspace, known: Mapping[str, str]) -> Iterator[str]:
    """Yield the state files in the folder of tasks that are new, or changed since they were indexed."""
    top, folder = f"{workspace.root}/", workspace.relative(workspace.tasks)
    names = {f"{folder}/{name}" for name in files.names(workspace.tasks) if name.endswith(_SUFFIX)}
    yield from (
        path for path in names - known.keys() if _is_state_file(path) and not workspace.excludes(Path(top, path))
    )
    if len(names) <= _FEW:
        for path, status in folders.statuses(top + name for name in names & known.keys()):
            relative = path.removeprefix(top)
            if not known[relative].startswith(f"{mark_of(status)}\t"):
                yield relative


def _is_permanent(path: Path) -> bool:
    with suppress(TaskstateError):  # a file that cannot be read is told by the commands that read it
        data = files.read(path)
        return re.compile(_PERMANENT).search(data, 0, data.find(b"\n---") + 1) is not None
    return False


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
    excludes, settled = bool(workspace.config.exclude), settled_before(time.time_ns())
    marks: dict[str, str] = {}
    unsettled = set()
    root, state_root, deep = workspace.root, workspace.state_root, workspace.is_repository
    for path, status in listing.own_statuses(root, state_root, _is_state_file, (f"*{_SUFFIX}",), deep=deep):
        if not excludes or not workspace.excludes(Path(workspace.root, path)):
            marks[path] = mark_of(status)
            if status.st_mtime_ns > settled or status.st_ctime_ns > settled:
                unsettled.add(path)
    return StateFiles(marks, frozenset(unsettled), workspace.kinds)


def _is_state_file(path: str) -> bool:
    return path.endswith(_SUFFIX) and path.startswith("task-", path.rfind("/") + 1)


def id_in(relative: str) -> str:
    """Return the id of the task whose state file a path names."""
    return relative.rpartition("/")[2].removeprefix("task-").removesuffix(_SUFFIX)


def _read(workspace: Workspace, relative: str, mark: str, lookout: folders.Lookout) -> IndexedTask:
    try:
        return _entry(workspace, relative, mark, workspace.read(workspace.root / relative, lookout))
    except TaskstateError as error:
        return _entry(workspace, relative, mark, None, error.message)


def _entry(workspace: Workspace, relative: str, mark: str, data: bytes | None, problem: str = "") -> IndexedTask:
    """Make an entry of a file's front matter; each value becomes one line without tabs."""
    values = [""] * (len(IndexedTask._fields) - 4)  # all but mark, path, id and problem
    try:
        values = values if data is None else _values(workspace, decoded(data, relative), relative)
    except TaskstateError as error:
        problem = error.message
    front, rest = values[:-_BEHIND], values[-_BEHIND:]
    lines = (" ".join(each.split()) for each in (*front, problem, *rest))
    return IndexedTask._make((mark, relative, id_in(relative), *lines))


def _values(workspace: Workspace, text: str, relative: str) -> list[str]:
    """Return the fields of an entry from `title` to `upstream`, and those from `turn` on."""
    from taskstate.model.task_state import read_state
    from taskstate.model.write_metadata import blocks_of
    from taskstate.syntax.document import parse_head

    document = parse_head(text, workspace.kinds)
    if document.problems:
        first = document.problems[0]
        line = document.position(first.span.start).line + 1
        raise TaskstateError(f"{relative}, line {line}: {first.message}")
    state = read_state(document)
    single = (state.title, state.status, *(state.text(key) or "" for key in ("priority", "area")), state.kind)
    turn = open_turns.of_document(document, state.id)
    why = blocks_of(document).why_blocked if state.status == BLOCKED else ""
    front = (*single, state.text("parent") or "", " ".join(state.depends_on))
    output = document.front_matter.get("output")
    closed = str(output.get("completed_at") or "") if isinstance(output, dict) else ""
    origin = document.front_matter.get("origin")
    told = [str(origin.get(key) or "") for key in _ORIGIN] if isinstance(origin, dict) else []
    document.forget_derived()
    times = (state.text("updated_at") or "", closed)
    turned = json.dumps(turn) if turn else ""
    told_as = json.dumps(told).replace("  ", r" \u0020") if told else ""  # blanks in a row would become one
    return [*front, turned, why, *times, " ".join(state.subtasks), told_as]

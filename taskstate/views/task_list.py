"""Lists the tasks of a repository, each with what `list` shows of it.

That is cached from run to run, as long as a file keeps its size, times and inode number: among thousands of tasks a
second run only looks at the files and reads none. Where none has changed at all, it shows the table of the last run.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import PERMANENT, TASK
from taskstate.model.names import id_key, own_file
from taskstate.model.statuses import BLOCKED, CLOSED, COMPLETE
from taskstate.storage import folders
from taskstate.storage.cache import Cache
from taskstate.syntax.spans import one_line
from taskstate.tasks.decomposition_plan import guidance, sizing
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns, task_index

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import Any

    from taskstate.views.facts import Facts
    from taskstate.workspace.open_turns import OpenTurn
    from taskstate.workspace.task_index import StateFiles
    from taskstate.workspace.workspace import Workspace

READY, WAITING = "ready", "waiting"
_NO_SHAPE: tuple[str, dict[str, Any]] = ("", {})
_MOST_TABLES = 4  # a table of ten thousand tasks takes a megabyte
_COLUMNS = ("ID", "STATUS", "FEATURES", "SESSIONS", "SIZING", "KB", "TITLE", "")
_NARROW = 70
_WIDTH, _LEAST = 100, 12  # columns of the table in a pipe, and of a title on a narrow terminal
_MOST_ID = 24  # columns of the ids; a longer one moves its own row alone


class Listed(NamedTuple):
    """A task in the list; the values that only the JSON form tells are not among them.

    `mark` identifies the state of the file (`file_sources.mark_of`). `progress` says how many features pass; of a
    permanent task it is the version. Where a part of the file does not parse, `is_whole` is false, and `unread` says
    which part. `turn` says who works on it. It is `divided` if all its open features were moved to subtasks. Of its
    `criteria` so many of so many are met. `facts` are what other views show; a task that is closed has none.
    """

    mark: str
    path: str
    id: str
    kind: str
    title: str
    status: str
    area: str | None
    depends_on: list[str]
    progress: str
    sessions: int
    size_kb: int
    is_whole: bool
    unread: str
    turn: str
    divided: bool
    criteria: str = ""
    facts: Facts | None = None


class TaskList(NamedTuple):
    """The tasks that were asked for, in natural order, and what is wrong with any file.

    `shapes` are all tasks as JSON values (`overview.task_shape`), where they were asked for; `problems` has a line for
    each file that is damaged or cannot be read. Both are by path.
    """

    tasks: list[Listed]
    problems: dict[str, str]
    shapes: dict[str, dict[str, Any]]

    @property
    def unread(self) -> tuple[str, ...]:
        """A line for each file that cannot be read as a whole: those of the problems, and what does not parse."""
        parts = (each.unread for each in self.tasks if each.path not in self.problems)
        return (*self.problems.values(), *filter(None, parts))


class Table(NamedTuple):
    """The table of the tasks that were asked for, and a line for each file that cannot be read as a whole."""

    text: str
    unread: tuple[str, ...]


class _Read(NamedTuple):
    """What was read of a file: the task, if it can be listed, and its shape; and a line if it is damaged or unreadable.

    It is `lasting` if it rests on nothing but the file, and nothing is wrong with that.
    """

    task: Listed | None
    shape: dict[str, Any]
    problem: str = ""
    lasting: bool = False


def list_tasks(
    workspace: Workspace,
    *,
    status: str = "",
    area: str = "",
    standing: str = "",
    shaped: bool = False,
) -> TaskList:
    """Return the tasks that match; `shaped` says whether their JSON values are wanted as well.

    A `standing` is `READY`, for tasks that can be worked on now, or `WAITING`, for those that are blocked or wait for
    another task.
    """
    found, _ = _all_tasks(workspace, task_index.state_files(workspace), shaped=shaped)
    busy = _elsewhere(workspace)
    for task in found.tasks:
        if shaped and task.id.casefold() in busy and not task.turn:
            found.shapes[task.path]["turn"] = busy[task.id.casefold()].shape
    return found._replace(tasks=_matching(found.tasks, status, area, standing))


def read_tasks(workspace: Workspace, listed: StateFiles, paths: Sequence[str]) -> TaskList:
    """Return the tasks with these paths; of those that have not changed since the last look, no file is read."""
    return _all_tasks(workspace, listed, shaped=False, only=paths)[0]


def table(  # noqa: PLR0913 - which tasks, what is known of them, and the width
    workspace: Workspace,
    *,
    status: str = "",
    area: str = "",
    standing: str = "",
    damaged: Mapping[str, str] | None = None,
    width: int = _WIDTH,
) -> Table:
    """Return the table of the tasks that match, as in `list_tasks`; `damaged` are files of which others have told it.

    It is remembered until a file changes, if it rests on nothing but the files, and nothing is wrong with any of them.
    """
    listed, most = task_index.state_files(workspace), workspace.config.size.max_sessions
    place = workspace.private.cache("table.json")
    cache = Cache(place, _text, rests_on=f"{listed.mark()} {most}", max_entries=_MOST_TABLES)
    name = f"{status}\n{area}\n{standing}\n{width}"
    busy = _elsewhere(workspace)
    remembered = None if damaged or busy else cache.get(name)
    if remembered is not None:
        return Table(remembered, ())
    found, is_lasting = _all_tasks(workspace, listed, shaped=False)
    found = found._replace(tasks=_matching(found.tasks, status, area, standing))
    tasks = [_with_turn(each, busy) for each in found.tasks]
    text = listing(tasks, most, {**found.problems, **(damaged or {})}, width)
    if is_lasting and not found.unread and not damaged and not busy and folders.is_folder(workspace.state_root):
        cache.put(name, text)
        cache.save()
    return Table(text, found.unread)


def _elsewhere(workspace: Workspace) -> Mapping[str, OpenTurn]:
    return {each.task.casefold(): each for each in open_turns.elsewhere(workspace)}


def _with_turn(task: Listed, busy: Mapping[str, OpenTurn]) -> Listed:
    turn = busy.get(task.id.casefold())
    return task._replace(turn=turn.words) if turn and not task.turn else task


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def _matching(tasks: list[Listed], status: str, area: str, standing: str) -> list[Listed]:
    complete = {each.id.casefold() for each in tasks if each.status == COMPLETE}
    matching = [each for each in tasks if status in ("", each.status) and area in ("", each.area)]
    if standing:
        matching = [each for each in matching if standing == _standing(each, complete)]
    return matching


def _all_tasks(
    workspace: Workspace, listed: StateFiles, *, shaped: bool, only: Sequence[str] | None = None
) -> tuple[TaskList, bool]:
    """Return all tasks, or those at the paths `only`, and whether that rests on nothing but their whole files.

    Their shapes are ten times as long as all else, and lie in a cache of their own.
    """
    from taskstate.views.facts import Facts

    kinds = repr(workspace.kinds)
    rests_on = f"{Listed._fields}\n{Facts._fields}\n{workspace.config.roles}\n{kinds}"
    rows = Cache(workspace.private.cache("list.json"), _row_of, rests_on=rests_on)
    place = workspace.private.cache("list-shapes.json") if shaped else None
    whole = Cache(place, _marked_shape, rests_on=kinds)
    known, known_shapes = rows.all(), whole.all()
    found, is_lasting = TaskList([], {}, {}), True
    # They are cached in this order.
    is_whole = known.keys() == listed.marks.keys()
    names = [*known] if is_whole or only is not None else sorted(listed.marks, key=_order)
    for path in names if only is None else only:
        mark, task = listed.marks[path], known.get(path)
        then, shape = known_shapes.get(path, _NO_SHAPE)
        is_known = task and task.mark == mark and (then == mark or not shaped)
        read = _Read(task, shape, lasting=True) if is_known else _read(workspace, path, mark)
        is_lasting = is_lasting and read.lasting and path not in listed.unsettled
        if read.lasting and read.task and not is_known and path not in listed.unsettled:
            rows.put(path, read.task)
            whole.put(path, (mark, read.shape))
        if read.problem:
            found.problems[path] = read.problem
        if read.task:
            found.tasks.append(read.task)
        if read.task and shaped:
            found.shapes[path] = read.shape
    if only is not None and rows.changed:
        names = sorted(listed.marks, key=_order)
    has_folder = folders.is_folder(workspace.state_root)
    for cache in (rows, whole) if only is None or rows.changed else ():
        cache.keep(names)
        if has_folder:
            cache.save()
    return found, is_lasting


def _row_of(value: list[Any]) -> Listed:
    from taskstate.views.facts import Facts

    row = Listed._make(value)
    return row._replace(facts=Facts.read([*row.facts])) if row.facts else row


def _order(path: str) -> tuple[object, str]:
    return id_key(task_index.id_in(path)), path


def _marked_shape(value: list[Any]) -> tuple[str, dict[str, Any]]:
    mark, shape = value
    return mark, shape


def _read(workspace: Workspace, relative: str, mark: str) -> _Read:
    from taskstate.views.facts import facts_of
    from taskstate.views.overview import progress, task_shape
    from taskstate.writing.damage import advice, damage_of, needs_archive, unread_part

    task, shape = None, {}
    try:
        loaded = workspace.load(workspace.root / relative)
        shape = task_shape(loaded)
        turn = open_turns.of_document(loaded.document, loaded.state.id)
        task = Listed(
            mark=mark,
            path=relative,
            progress=progress(loaded.state),
            sessions=shape["sessions"]["total"],
            is_whole=not shape["problems"],
            unread=unread_part(loaded),
            turn=turn.words if turn else "",
            divided=bool(loaded.state.subtasks) and not loaded.state.open_features,
            criteria=f"{sum(each['checked'] for each in shape['criteria'])} of {len(shape['criteria'])}",
            facts=None if loaded.state.status in CLOSED else facts_of(workspace, loaded),
            **{key: shape[key] for key in ("id", "kind", "title", "status", "area", "depends_on", "size_kb")},
        )
        found = damage_of(workspace, loaded, alone=True)
        problem = f"{found}: {advice(workspace, loaded)}" if found else ""
    except TaskstateError as error:
        return _Read(task, shape, f"not listed: {error}")
    return _Read(task, shape, problem, lasting=not problem and not needs_archive(loaded))


def _standing(task: Listed, complete: set[str]) -> str:
    """Return whether a task is ready or waiting; empty where it is closed, or of a kind that is not worked on."""
    if task.status in CLOSED or task.kind != TASK:
        return ""
    upstream_complete = complete.issuperset(each.casefold() for each in task.depends_on)
    return READY if upstream_complete and task.status != BLOCKED else WAITING


def listing(tasks: list[Listed], most: int, problems: Collection[str] = (), width: int = _WIDTH) -> str:
    """Return the tasks as a table, one line each, followed by the table of session counts.

    `problems` are the paths of damaged files, whose rows are marked. Of a title that goes beyond the `width` as much is
    left out as is needed; what it is marked with stays.
    """
    rows = [_COLUMNS, *(_row(each, most, problems) for each in tasks)]
    read = {each.path for each in tasks}
    unread = (own_file(path) for path in problems if path not in read)
    rows += [((own and own.id) or "?", *("-" for _ in _COLUMNS[2:-1]), "", "(damaged)") for own in unread]
    kept = slice(2, 2) if width < _NARROW else slice(2, -2)  # on a narrow terminal only id, status and title
    rows = [tuple(map(one_line, (*row[:2], *row[kept], *row[-2:]))) for row in rows]
    widths = [max(map(len, column)) for column in [*zip(*rows, strict=True)][:-2]]
    widths[0] = min(widths[0], _MOST_ID)
    begins = [f"{'  '.join(map(str.ljust, row, widths))}  " for row in rows]
    lines = [
        (begin + _title(row[-2], row[-1], width - len(begin))).rstrip() for begin, row in zip(begins, rows, strict=True)
    ]
    told = [] if width < _NARROW else ["", guidance(most)]
    return "\n".join([*lines, *told]) if len(rows) > 1 else "no tasks"


def _row(task: Listed, most: int, problems: Collection[str]) -> tuple[str, ...]:
    status, size_kb = task.status or "?", str(task.size_kb)
    is_damaged = task.path in problems
    if task.kind == PERMANENT:
        marks = "(damaged)" if is_damaged else ""
        return task.id, status, task.progress, "-", "-", size_kb, f"[PERMANENT] {task.title}", marks
    size = "-" if status in CLOSED else "divided" if task.divided else sizing(task.sessions, most).name
    unread = "(damaged)" if is_damaged else "" if task.is_whole else "(cannot be read fully: run `taskstate lint`)"
    turn = f"[{task.turn}]" if task.turn and status not in CLOSED else ""
    marks = " ".join(filter(None, (unread, turn)))
    return task.id, status, task.progress, str(task.sessions), size, size_kb, task.title, marks


def _title(title: str, marks: str, room: int) -> str:
    """Return a title with its marks in so many columns."""
    whole = " ".join(filter(None, (title, marks)))
    if len(whole) <= room and whole.isascii():
        return whole
    from taskstate.views.layout import cells, fit

    if cells(whole) <= room:
        return whole
    return fit(f"{fit(title, max(room - cells(marks) - 1, _LEAST)).rstrip()} {marks}", max(room, _LEAST)).rstrip()

"""Lists the tasks of a repository, each with what `list` shows of it.

That is cached from run to run, as long as a file keeps its size, times and inode number: among thousands of tasks a
second run only looks at the files and reads none. Where none has changed at all, it shows the table of the last run.
"""

from __future__ import annotations

from contextlib import closing

from taskstate.errors import TaskstateError
from taskstate.model.document_kinds import PERMANENT, TASK
from taskstate.model.names import id_key, own_file
from taskstate.model.statuses import BLOCKED, CLOSED, COMPLETE
from taskstate.model.write_metadata import blocks_of
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
    from taskstate.workspace.task_index import StateFiles
    from taskstate.workspace.workspace import Workspace

READY, WAITING, WAIVED = "ready", "waiting", "waived"
_NO_SHAPE: tuple[str, dict[str, Any]] = ("", {})
_MOST_TABLES = 4  # a table of ten thousand tasks takes a megabyte
_COLUMNS = ("ID", "STATUS", "FEATURES", "SESSIONS", "SIZING", "KB", "TITLE", "")
_WIDTH, _LEAST = 100, 12  # columns of the table in a pipe, and of a title on a narrow terminal
_MOST_ID = 24  # columns of the ids; a longer one moves its own row alone


class Listed(NamedTuple):
    """A task in the list; the values that only the JSON form tells are not among them.

    `mark` identifies the state of the file (`file_sources.mark_of`). `progress` says how many features pass; of a
    permanent task it is the version. Where a part of the file does not parse, `is_whole` is false, and `unread` says
    which part. `turn` says who works on it. It is `divided` if all its open features were moved to subtasks. Of its
    `criteria` so many of so many are met. `facts` are what other views show; a task that is closed has none. Where it
    differs between worktrees, `branch` says of which it is as it is; it `is_stale` if another one has it newer.
    One that `is_imported` was done elsewhere. It `builds_on` the tasks in `depends_on`, and those whose output it has.
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
    branch: str = ""
    is_stale: bool = False
    subtasks: tuple[str, ...] = ()
    is_imported: bool = False
    builds_on: tuple[str, ...] = ()


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

    A `standing` is `READY`, for tasks that can be worked on now, `WAITING`, for those that are blocked or wait for
    another task, or `WAIVED`, for those that are complete although no command here has completed them.
    """
    found = read_tasks(Remembered(workspace, task_index.state_files(workspace), shaped=shaped))
    return matching(found, status, area, standing)


def read_tasks(remembered: Remembered, paths: Sequence[str] | None = None) -> TaskList:
    """Return the tasks with these paths, or all; of those that have not changed since the last look no file is read."""
    return _all_tasks(remembered, paths)[0]


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
    remembered = None if damaged else cache.get(name)
    if remembered is not None:
        return Table(remembered, ())
    found, is_lasting = _all_tasks(Remembered(workspace, listed))
    found = matching(found, status, area, standing)
    text = listing(found.tasks, most, {**found.problems, **(damaged or {})}, width)
    if is_lasting and not found.unread and not damaged and folders.is_folder(workspace.state_root):
        cache.put(name, text)
        cache.save()
    return Table(text, found.unread)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise TypeError


def matching(found: TaskList, status: str = "", area: str = "", standing: str = "") -> TaskList:
    """Return the tasks that match; what another worktree has newer has no status that counts."""
    current = {each.id.casefold() for each in found.tasks if each.status == COMPLETE and not each.is_stale}
    tasks = [each for each in found.tasks if area in ("", each.area)]
    if status or standing:
        tasks = [each for each in tasks if status in ("", each.status) and not each.is_stale]
    if standing == WAIVED:
        tasks = [each for each in tasks if each.is_imported]
    elif standing:
        divided = _divided(found.tasks)
        tasks = [each for each in tasks if standing == _standing(each, current, divided)]
    return found._replace(tasks=tasks)


def _all_tasks(remembered: Remembered, only: Sequence[str] | None = None) -> tuple[TaskList, bool]:
    """Return all tasks, or those at the paths `only`, and whether that rests on nothing but their whole files."""
    found, is_lasting = TaskList([], {}, {}), True
    paths = remembered.in_order() if only is None else only
    with closing(folders.Lookout()) as lookout, remembered.workspace.bar("reading tasks") as show:
        for done, path in enumerate(paths):
            read = remembered.known(path)
            if read is None:
                show(done, len(paths))
                read = remembered.read(path, lookout)
            is_lasting = is_lasting and read.lasting
            if read.problem:
                found.problems[path] = read.problem
            if read.task:
                found.tasks.append(read.task)
            if read.task and remembered.shaped:
                found.shapes[path] = read.shape
    if only is None or remembered.rows.changed:
        remembered.save()
    return found, is_lasting


class Remembered:
    """What earlier runs read of the state files, in order; the shapes, ten times as long, lie by themselves.

    Whoever asks for few of them at a time, so that they are not `whole`, gives the same one each time.
    """

    def __init__(self, workspace: Workspace, listed: StateFiles, *, shaped: bool = False, whole: bool = True) -> None:
        from taskstate.views.facts import Facts

        kinds = repr(workspace.kinds)
        rests_on = f"{Listed._fields}\n{Facts._fields}\n{workspace.config.roles}\n{kinds}"
        place = workspace.private.cache("list-shapes.json") if shaped else None
        self.rows = Cache(workspace.private.cache("list.json"), _row_of, rests_on=rests_on)
        self._shapes = Cache(place, _marked_shape, rests_on=kinds)
        self.workspace, self._listed, self.shaped = workspace, listed, shaped
        # Of few among thousands the others are not made of what is remembered: that would take most of the time.
        self._row = self.rows.all().get if whole else self.rows.get
        self._shape = self._shapes.all().get if whole else self._shapes.get
        self._names = self.rows.names

    def in_order(self) -> list[str]:
        """Return the paths of all state files in natural order, in which they are remembered."""
        marks = self._listed.marks
        return self._names if marks.keys() == {*self._names} else sorted(marks, key=_order)

    def known(self, path: str) -> _Read | None:
        """Return a task as it was read, if its file has not changed since."""
        mark, task = self._listed.marks[path], self._row(path)
        then, shape = (self._shape(path) or _NO_SHAPE) if self.shaped else _NO_SHAPE
        is_current = task is not None and task.mark == mark and (then == mark or not self.shaped)
        return _Read(task, shape, lasting=path not in self._listed.unsettled) if is_current else None

    def read(self, path: str, lookout: folders.Lookout) -> _Read:
        """Read a task, and remember it."""
        mark, is_settled = self._listed.marks[path], path not in self._listed.unsettled
        read = _read(self.workspace, path, mark, lookout, shaped=self.shaped)
        if read.lasting and read.task and is_settled:
            self.rows.put(path, read.task)
            self._shapes.put(path, (mark, read.shape))
        return read._replace(lasting=read.lasting and is_settled)

    def save(self) -> None:
        """Remember what was read for the next run."""
        names, has_folder = self.in_order(), folders.is_folder(self.workspace.state_root)
        for cache in (self.rows, self._shapes):
            cache.keep(names)
            if has_folder:
                cache.save()


def _row_of(value: list[Any]) -> Listed:
    from taskstate.views.facts import Facts

    row = Listed._make(value)
    return row._replace(facts=Facts.read([*row.facts])) if row.facts else row


def _order(path: str) -> tuple[object, str]:
    return id_key(task_index.id_in(path)), path


def _marked_shape(value: list[Any]) -> tuple[str, dict[str, Any]]:
    mark, shape = value
    return mark, shape


def _read(workspace: Workspace, relative: str, mark: str, lookout: folders.Lookout, *, shaped: bool) -> _Read:
    from taskstate.chain.inputs import upstream_ids
    from taskstate.model.criteria import malformed_criteria
    from taskstate.model.derived_values import session_counts
    from taskstate.views.facts import facts_of
    from taskstate.views.overview import progress, task_shape
    from taskstate.writing.damage import advice, damage_of, needs_archive, unread_part

    task, shape, lasting = None, _NO_SHAPE[1], False
    try:
        loaded = workspace.load(workspace.root / relative, lookout=lookout)
        state = loaded.state
        shape = task_shape(loaded) if shaped else shape
        turn = open_turns.of_document(loaded.document, state.id)
        task = Listed(
            mark=mark,
            path=relative,
            id=state.id,
            kind=state.kind,
            title=state.title,
            status=state.status,
            area=state.text("area"),
            depends_on=[*state.depends_on],
            progress=progress(state),
            sessions=session_counts(state).total,
            size_kb=state.size_kb,
            is_whole=not (state.problems or malformed_criteria(loaded.document)),
            unread=unread_part(loaded),
            turn=turn.words if turn else "",
            divided=bool(state.subtasks) and not state.open_features,
            criteria=f"{sum(each.checked for each in state.criteria)} of {len(state.criteria)}",
            subtasks=state.subtasks,
            is_imported=state.status == COMPLETE and blocks_of(loaded.document).is_imported,
            builds_on=upstream_ids(state),
            facts=None if state.status in CLOSED else facts_of(workspace, loaded),
        )
        found = damage_of(workspace, loaded, alone=True)
        problem = f"{found}: {advice(workspace, loaded)}" if found else ""
        lasting = not problem and not needs_archive(loaded)
        loaded.document.forget_derived()
    except TaskstateError as error:
        problem = f"not listed: {error}"
    return _Read(task, shape, problem, lasting)


def _divided(tasks: Sequence[Listed]) -> set[str]:
    """Return the case-folded ids of the tasks one of whose subtasks is open."""
    from taskstate.tasks.next_task import with_open_parts

    opened = {each.id.casefold(): each for each in tasks if each.status not in CLOSED and each.kind == TASK}
    parts = {key: [*map(str.casefold, each.subtasks)] for key, each in opened.items() if each.subtasks}
    return with_open_parts(parts, {key: [*map(str.casefold, each.depends_on)] for key, each in opened.items()})


def _standing(task: Listed, complete: set[str], divided: set[str]) -> str:
    """Return whether a task is ready or waiting; empty where it is closed, or of a kind that is not worked on."""
    if task.status in CLOSED or task.kind != TASK:
        return ""
    upstream_complete = complete.issuperset(each.casefold() for each in task.depends_on)
    is_ready = upstream_complete and task.status != BLOCKED and task.id.casefold() not in divided
    return READY if is_ready else WAITING


def listing(tasks: list[Listed], most: int, problems: Collection[str] = (), width: int = _WIDTH) -> str:
    """Return the tasks as a table, one line each, followed by the table of session counts.

    `problems` are the paths of damaged files, whose rows are marked. Of a title that goes beyond the `width` as much is
    left out as is needed; what it is marked with stays.
    """
    from taskstate.views.layout import NARROW

    rows = [_COLUMNS, *(_row(each, most, problems) for each in tasks)]
    read = {each.path for each in tasks}
    unread = (own_file(path) for path in problems if path not in read)
    rows += [((own and own.id) or "?", *("-" for _ in _COLUMNS[2:-1]), "", "(damaged)") for own in unread]
    kept = slice(2, 2) if width < NARROW else slice(2, -2)  # on a narrow terminal only id, status and title
    rows = [tuple(map(one_line, (*row[:2], *row[kept], *row[-2:]))) for row in rows]
    widths = [max(map(len, column)) for column in [*zip(*rows, strict=True)][:-2]]
    widths[0] = min(widths[0], _MOST_ID)
    begins = [f"{'  '.join(map(str.ljust, row, widths))}  " for row in rows]
    lines = [
        (begin + _title(row[-2], row[-1], width - len(begin))).rstrip() for begin, row in zip(begins, rows, strict=True)
    ]
    told = [] if width < NARROW else ["", guidance(most)]
    return "\n".join([*lines, *told]) if len(rows) > 1 else "no tasks"


def _row(task: Listed, most: int, problems: Collection[str]) -> tuple[str, ...]:
    status, size_kb = f"{task.status or '?'}{' (imported)' * task.is_imported}", str(task.size_kb)
    is_damaged, branch = task.path in problems, f"[{task.branch}]" if task.branch else ""
    if task.kind == PERMANENT:
        marks = " ".join(filter(None, ("(damaged)" if is_damaged else "", branch)))
        return task.id, status, task.progress, "-", "-", size_kb, f"[PERMANENT] {task.title}", marks
    size = "-" if status in CLOSED else "divided" if task.divided else sizing(task.sessions, most).name
    unread = "(damaged)" if is_damaged else "" if task.is_whole else "(cannot be read fully: run `taskstate lint`)"
    turn = f"[{task.turn}]" if task.turn and status not in CLOSED else ""
    marks = " ".join(filter(None, (unread, branch, turn)))
    return task.id, status, task.progress, str(task.sessions), size, size_kb, task.title, marks


def _title(title: str, marks: str, room: int) -> str:
    """Return a title with its marks in so many columns."""
    whole = " ".join(filter(None, (title, marks)))
    from taskstate.views.layout import cells, fit

    if cells(whole) <= room:
        return whole
    return fit(f"{fit(title, max(room - cells(marks) - 1, _LEAST)).rstrip()} {marks}", max(room, _LEAST)).rstrip()

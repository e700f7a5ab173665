"""Says which task an agent is about to work on, where nobody names it."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.model.names import is_id, own_file
from taskstate.model.permanent import PERMANENT
from taskstate.model.statuses import CLOSED, COMPLETE
from taskstate.storage import files
from taskstate.storage.cache import Cache
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns, task_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.workspace.workspace import Loaded, Workspace

TURN_IS_OPEN = "its turn is open"
_WORD = re.compile(r"[A-Za-z0-9]+")
_SESSION = re.compile(rb"^### Session \d+ - (\d{4}-\d\d-\d\d \d\d:\d\d)", re.MULTILINE)


class AtHand(NamedTuple):
    """The task at hand, and how that is known."""

    loaded: Loaded
    why: str


def task_at_hand(workspace: Workspace, named: str = "") -> AtHand | None:
    """Return the open task that `named` names, else that of an open turn, of the branch, or of the newest session."""
    for task_id, why in _candidates(workspace, named):
        try:
            loaded = workspace.load(workspace.locate(task_id))
        except TaskstateError as error:
            if error.code == "not-found":
                continue
            raise
        if loaded.state.status not in CLOSED and loaded.state.kind != PERMANENT:
            return AtHand(loaded, why)
    return None


def _candidates(workspace: Workspace, named: str) -> Iterator[tuple[str, str]]:
    if is_id(named):
        yield named, "TASKSTATE_TASK names it"
    branch = _branch(workspace)
    by_branch = [*_named_by(workspace, branch)]
    turns = sorted(open_turns.here(workspace), key=lambda each: each.started_at, reverse=True)
    turns.sort(key=lambda each: each.task.casefold() not in {name.casefold() for name in by_branch})
    yield from ((each.task, TURN_IS_OPEN) for each in turns if is_id(each.task))
    yield from ((each, f"the branch is {branch}") for each in by_branch)
    newest = _newest(workspace)
    if newest:
        yield newest, "it has the newest session"
    yield from ((each.id, "its file is damaged") for each in task_index.all_tasks(workspace) if each.problem)


def _branch(workspace: Workspace) -> str:
    return (git.branch(workspace.root) or "") if git.toplevel(workspace.root) else ""


def _named_by(workspace: Workspace, branch: str) -> Iterator[str]:
    """Yield the ids of tasks that stand as whole words in a branch's name, the longest first: `auth-2` before `2`."""
    words = [(each.start(), each.end()) for each in _WORD.finditer(branch)]
    if not words:
        return
    own = (own_file(name) for name in files.names(workspace.tasks))
    ids = {each.id.casefold(): each.id for each in own if each and each.id and each.type == "state"}
    parts = {branch[start:end].casefold() for start, _ in words for _, end in words if start < end}
    yield from (ids[part] for part in sorted(parts & ids.keys(), key=lambda each: (-len(each), each)))


def _newest(workspace: Workspace) -> str:
    """Return the open task with the newest session; empty where no open task has one.

    One that waits for another is none: `next` does not name it either.
    The time of a file's newest session is cached for as long as the file stays the same.
    """
    cache: Cache[tuple[str, str]] = Cache(workspace.private.cache("newest.json"), lambda each: (each[0], each[1]))
    newest, found = "", ""
    tasks = task_index.all_tasks(workspace)
    complete = {task.id.casefold() for task in tasks if task.status == COMPLETE}
    for task in tasks:
        if task.problem or task.status in CLOSED or task.kind == PERMANENT:
            continue
        if not complete.issuperset(map(str.casefold, task.depends_on)):  # which imports less than `next` does
            continue
        mark, last = cache.get(task.path) or ("", "")
        if mark != task.mark:
            times = _SESSION.findall(workspace.read(workspace.root / task.path))
            last = max(times).decode() if times else ""
            cache.put(task.path, (task.mark, last))
        if last > newest:
            newest, found = last, task.id
    cache.save()
    return found

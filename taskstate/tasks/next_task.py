"""What to work on now: of the tasks that are ready the one that comes first, and in it the feature.

A task is ready when all that it depends on is complete and nobody has blocked it. The priority counts first, then how
many tasks wait for it, directly or through others; of equals what is in progress comes first, then the id decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import names
from taskstate.model.statuses import BLOCKED, COMPLETE, IN_PROGRESS
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taskstate.model.task_state import Feature
    from taskstate.workspace.task_index import IndexedTask
    from taskstate.workspace.workspace import Workspace

_NO_PRIORITY = "P9"
_SHOWN = 3  # tasks that a line names
_MANY = 50_000  # steps of all searches together


class Ready(NamedTuple):
    """A task that can be worked on, and how many wait for it."""

    task: IndexedTask
    unblocks: int


class Waiting(NamedTuple):
    """A task that cannot be worked on, and why."""

    task: IndexedTask
    why: str


class Order(NamedTuple):
    """The tasks that are ready, the one to work on first in front: as many as were asked for, of `total`."""

    ready: tuple[Ready, ...]
    total: int


class Choice(NamedTuple):
    """What to work on now, and why; `waiting` are the tasks that are not ready, told where none is."""

    order: Order
    waiting: tuple[Waiting, ...]
    feature: Feature | None
    why: str
    unreadable: tuple[str, ...]


def choose(workspace: Workspace, most: int = 1) -> Choice:
    """Return what to work on now, and so many of those that come then."""
    tasks = task_index.all_tasks(workspace)
    unreadable = tuple(f"not counted: {task.problem}" for task in tasks if task.problem)
    order = in_order(tasks, most)
    feature = _feature(workspace, order.ready[0].task) if order.ready else None
    waiting = () if order.ready else waiting_of(tasks)
    why = _reason(order.ready[0], feature) if order.ready else _nothing(tasks, waiting)
    return Choice(order, waiting, feature, why, unreadable)


def is_open(task: IndexedTask) -> bool:
    """Return whether a task is one that somebody has to work on."""
    return not task.problem and task.status != COMPLETE and task.kind == "task"


def in_order(tasks: Iterable[IndexedTask], most: int = 0) -> Order:
    """Return the tasks that are ready in their order; no more than `most`, where that is not 0.

    How many wait for a task is found out only where that decides: most of ten thousand tasks are never asked after.
    """
    known = task_index.by_id(tasks)
    complete = {key for key, task in known.items() if task.status == COMPLETE}
    alike: dict[str, list[IndexedTask]] = {}
    below: dict[str, list[str]] = {}
    for key, task in known.items():
        if not is_open(task):
            continue
        upstream = task.upstream.casefold().split() if task.upstream else ()
        for each in upstream:
            below.setdefault(each, []).append(key)
        if task.status != BLOCKED and complete.issuperset(upstream):
            alike.setdefault(task.priority or _NO_PRIORITY, []).append(task)
    ready: list[Ready] = []
    for rank in sorted(alike):
        if not most or len(ready) < most:
            ready += _ranked(alike[rank], below)
    return Order(tuple(ready[:most] if most else ready), sum(map(len, alike.values())))


def _ranked(tasks: Iterable[IndexedTask], below: Mapping[str, Sequence[str]]) -> list[Ready]:
    """Return tasks of one priority: that first for which most others wait, of equals what is begun, then by the id."""
    counts = dependent_counts(tasks, below)
    counted = (Ready(task, counts[task.id.casefold()]) for task in tasks)
    return sorted(counted, key=_rank)


def _rank(ready: Ready) -> tuple[int, bool, object]:
    return -ready.unblocks, ready.task.status != IN_PROGRESS, names.id_key(ready.task.id)


def dependent_counts(tasks: Iterable[IndexedTask], below: Mapping[str, Sequence[str]]) -> Mapping[str, int]:
    """Return for each task how many open ones wait for it, directly or through others; `below`: who waits for whom.

    Each search is as long as what it finds; where that would be too much for all of them, sets are added up instead.
    """
    found: dict[str, int] = {}
    steps = 0
    for key in (task.id.casefold() for task in tasks):
        reached = {key}
        following = [key]
        while following:
            more = [each for each in below.get(following.pop(), ()) if each not in reached]
            reached.update(more)
            following += more
        found[key] = len(reached) - 1
        steps += len(reached)
        if steps > _MANY:
            sums = dependent_counts_by_bits(below)
            return {task.id.casefold(): sums.get(task.id.casefold(), 0) for task in tasks}
    return found


def dependent_counts_by_bits(below: Mapping[str, Sequence[str]]) -> Mapping[str, int]:
    """Return for each task that others wait for how many those are; in a time that no search could keep.

    Sets of tasks are the bits of whole numbers. What waits for itself in a circle, or for such a task, is counted where
    it is reached, and no further.
    """
    bits = {key: 1 << number for number, key in enumerate({each for keys in below.values() for each in keys})}
    above: dict[str, list[str]] = {}
    for key, keys in below.items():
        for each in keys:
            above.setdefault(each, []).append(key)
    left = {key: len(keys) for key, keys in below.items()}
    reached = dict.fromkeys([*below, *bits], 0)
    done = [key for key in reached if key not in left]
    for key in done:  # grows: a task's turn comes when all that wait for it had theirs
        for each in above.get(key, ()):
            reached[each] |= reached[key] | bits[key]
            left[each] -= 1
            if not left[each]:
                done.append(each)
    for key in reached.keys() - set(done):
        for each in above.get(key, ()):
            reached[each] |= reached[key] | bits[key]
    return {key: each.bit_count() for key, each in reached.items() if each}


def waiting_of(tasks: Sequence[IndexedTask]) -> tuple[Waiting, ...]:
    """Return the open tasks that are not ready, in natural order, each with what it waits for."""
    known = task_index.by_id(tasks)
    found = ((task, _why_not(task, known)) for task in tasks if is_open(task))
    return tuple(
        sorted((Waiting(task, why) for task, why in found if why), key=lambda each: names.id_key(each.task.id))
    )


def _why_not(task: IndexedTask, known: Mapping[str, IndexedTask]) -> str:
    """Return what a task waits for, or nothing where it is ready."""
    lacking = [each for each in task.depends_on if (found := known.get(each.casefold())) is None or found.problem]
    open_ones = [each for each in task.depends_on if each not in lacking and known[each.casefold()].status != COMPLETE]
    words = ["it is blocked"] if task.status == BLOCKED else []
    if lacking:
        words.append(
            f"it depends on {first_of(lacking, _SHOWN)}, which {'is' if len(lacking) == 1 else 'are'} not there"
        )
    if open_ones:
        words.append(f"it waits for {first_of(open_ones, _SHOWN)}")
    return ", and ".join(words)


def _reason(ready: Ready, feature: Feature | None) -> str:
    """Return in one line why a task comes first."""
    task, count = ready.task, ready.unblocks
    upstream = task.depends_on
    words = ["it is in progress" if task.status == IN_PROGRESS else "it is ready to begin"]
    if task.priority:
        words.append(f"its priority is {task.priority}")
    if upstream:
        words.append(f"{first_of(upstream, _SHOWN)} {'is' if len(upstream) == 1 else 'are'} complete")
    if count:
        words.append(f"{count} {'task waits' if count == 1 else 'tasks wait'} for it")
    if feature is None:
        words.append(f"no feature of it is open: `taskstate complete {task.id}` says what else is missing")
    return "; ".join(words)


def _nothing(tasks: Sequence[IndexedTask], waiting: tuple[Waiting, ...]) -> str:
    if not tasks:
        return "there are no tasks"
    if not waiting:
        return "all tasks are complete"
    count = len(waiting)
    return f"no task is ready: {'the only open one waits' if count == 1 else f'all {count} open ones wait'}"


def _feature(workspace: Workspace, task: IndexedTask) -> Feature | None:
    """Return the first feature of a task that does not pass yet and was not moved."""
    try:
        checklist = workspace.load(workspace.root / task.path).state.checklist
    except TaskstateError:
        return None
    return next((each for each in checklist.counted if not each.passes), None) if checklist else None

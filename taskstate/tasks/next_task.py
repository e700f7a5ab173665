"""Chooses what to work on now: the first of the tasks that are ready, and its first open feature.

A task is ready when all its dependencies are complete, it is not blocked, and none of its subtasks is open. The order
is by priority, then by how many tasks wait for it, directly or through others, then tasks in progress first, then by
id. Where all state files can be read, the choice is cached until one of them changes.
"""

from __future__ import annotations

import operator
from collections import defaultdict

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.model import names, statuses
from taskstate.model.document_kinds import PERMANENT, TASK
from taskstate.model.statuses import BLOCKED, CLOSED, COMPLETE, DROPPED, IN_PROGRESS
from taskstate.storage import folders
from taskstate.storage.cache import Cache
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import open_turns, task_index
from taskstate.workspace.task_index import IndexedTask

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence
    from typing import Any

    from taskstate.workspace.workspace import Workspace

_NO_PRIORITY = "P9"
_SHOWN = 3  # tasks named in a line
_MAX_STEPS = 50_000  # of all searches together


class Ready(NamedTuple):
    """A task that can be worked on, and how many tasks wait for it."""

    task: IndexedTask
    unblocks: int


class Waiting(NamedTuple):
    """A task that cannot be worked on, and the reason."""

    task: IndexedTask
    why: str


class Order(NamedTuple):
    """The ready tasks in the order in which to work on them, cut to the requested number; `total` counts them all."""

    ready: tuple[Ready, ...]
    total: int


class NextFeature(NamedTuple):
    """The feature to work on, as far as it is shown."""

    id: str
    description: str


class Choice(NamedTuple):
    """What to work on now, and why; `waiting` lists the tasks that are not ready, where none is."""

    order: Order
    waiting: tuple[Waiting, ...]
    feature: NextFeature | None
    why: str
    unreadable: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()


def choose(workspace: Workspace, most: int = 1, *, actor: str = "") -> Choice:
    """Choose the task and feature to work on now, with up to `most` ready tasks.

    What is worked on in another worktree, or by somebody who is known not to be `actor`, is not to be begun.
    """
    busy = {each.task.casefold(): each.words for each in open_turns.elsewhere(workspace)}
    listed = task_index.state_files(workspace)
    cache = Cache(workspace.private.cache("next.json"), _remembered, rests_on=listed.mark())
    name = f"{most} {actor}".rstrip()
    remembered = None if busy else cache.get(name)
    if remembered:
        return remembered
    from taskstate.writing.damage import why_unread

    absent = task_index.left_out(workspace)
    every = (*task_index.all_tasks(workspace, listed), *absent)
    turns = (turn for task in every if is_open(task) and (turn := task.open_turn))
    busy = {each.task.casefold(): each.words for each in turns if not each.is_of(actor)} | busy
    unknown = {task: words for task in every if is_open(task) and (words := statuses.unknown(task.status))}
    some = every if absent or busy or unknown else ()  # most often there is none of these
    away = [each for each in some if each in absent or each in unknown or each.id.casefold() in busy]
    # What is worked on elsewhere, or is not checked out, is not to be begun here; tasks that depend on it wait for it.
    tasks = tuple(task._replace(status=BLOCKED) if task in away and is_open(task) else task for task in every)
    told = tuple(f"task {task.id}: {busy[task.id.casefold()]}" for task in away if task.id.casefold() in busy)
    strange = (f"{task.path}: {words}: fix it; `taskstate lint` says how" for task, words in unknown.items())
    unreadable = tuple(f"not counted: {each}" for each in (*why_unread(workspace, tasks), *strange))
    order = in_order(tasks, most)
    if not order.ready:
        not_here = {task.id for task in away}
        waiting = tuple(each for each in waiting_of(tasks) if each.task.id not in not_here)
        return Choice(order, waiting, None, _nothing(tasks, waiting), unreadable, told)
    first = order.ready[0]
    feature, part = _feature(workspace, first.task)
    unreadable += (part,) if part else ()
    choice = Choice(order, (), feature, _reason(first, feature, part), unreadable, told)
    if not unreadable and not away and not busy and not listed.unsettled and folders.is_folder(workspace.state_root):
        cache.put(name, choice)
        cache.save()
    return choice


def _remembered(value: list[Any]) -> Choice:
    """Return a choice as it was before it was cached; that a text is none, or a number, raises `TypeError`."""
    (ready, total), _, feature, why, _, _ = value
    tasks = tuple(Ready(IndexedTask._make(_texts(task)), operator.index(unblocks)) for task, unblocks in ready)
    if not tasks:
        raise ValueError
    chosen = None if feature is None else NextFeature._make(_texts(feature))
    return Choice(Order(tasks, operator.index(total)), (), chosen, "" + why, ())


def _texts(values: Any) -> list[str]:  # noqa: ANN401 - whatever the file holds
    return ["" + each for each in values]


def is_open(task: IndexedTask) -> bool:
    """Return whether a task is an ordinary one that is neither complete nor dropped."""
    return not task.problem and task.status not in CLOSED and task.kind == TASK


def in_order(tasks: Iterable[IndexedTask], most: int = 0) -> Order:
    """Return the ready tasks in order; at most `most`, where that is not 0.

    Waiting tasks are counted only where that decides the order: for most of ten thousand tasks it does not.
    """
    by_id = task_index.by_id(tasks)
    complete = {key for key, task in by_id.items() if task.status == COMPLETE}
    divided = _with_open_parts(by_id)
    by_priority: defaultdict[str, list[IndexedTask]] = defaultdict(list)
    dependents: defaultdict[str, list[str]] = defaultdict(list)
    for key, task in by_id.items():
        if key in complete or not is_open(task):
            continue
        upstream = task.upstream.casefold().split()
        for each in upstream:
            dependents[each].append(key)
        if complete.issuperset(upstream) and task.status != BLOCKED and key not in divided:
            by_priority[task.priority or _NO_PRIORITY].append(task)
    ready: list[Ready] = []
    for rank in sorted(by_priority):
        if not most or len(ready) < most:
            ready += _ranked(by_priority[rank], dependents)
    return Order(tuple(ready[:most] if most else ready), sum(map(len, by_priority.values())))


def _with_open_parts(by_id: Mapping[str, IndexedTask]) -> set[str]:
    opened = {key: task for key, task in by_id.items() if is_open(task)}
    parts = {key: task.subtasks.casefold().split() for key, task in opened.items() if task.subtasks}
    return with_open_parts(
        parts, {key: task.upstream.casefold().split() for key, task in opened.items()} if parts else {}
    )


def with_open_parts(parts: Mapping[str, Sequence[str]], upstream: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the tasks one of whose `parts` is open: that one is to be worked on, not the whole.

    `upstream` are what the open tasks depend on, and all ids are case-folded. If an open part waits for the whole,
    directly or through others, the whole comes first: nothing could begin otherwise.
    """
    opened = {whole: [each for each in own if each in upstream] for whole, own in parts.items()}
    return {whole for whole, own in opened.items() if own and not _waits(own, whole, upstream)}


def _waits(begin: Iterable[str], end: str, upstream: Mapping[str, Sequence[str]]) -> bool:
    """Return whether any of these tasks depends on another one, directly or through open ones."""
    seen, following = {*begin}, [*begin]
    while following:
        above = upstream.get(following.pop(), ())
        if end in above:
            return True
        new = {*above} - seen
        seen |= new
        following += new
    return False


def _ranked(tasks: Iterable[IndexedTask], dependents: Mapping[str, Sequence[str]]) -> list[Ready]:
    """Return tasks of one priority in order: by the number of waiting tasks, those in progress first, then by id."""
    counts = dependent_counts(tasks, dependents)
    counted = (Ready(task, counts[task.id.casefold()]) for task in tasks)
    return sorted(
        counted, key=lambda each: (-each.unblocks, each.task.status != IN_PROGRESS, names.id_key(each.task.id))
    )


def dependent_counts(tasks: Iterable[IndexedTask], dependents: Mapping[str, Sequence[str]]) -> Mapping[str, int]:
    """Return how many open tasks wait for each task, directly or through others.

    `dependents` maps each task to those that depend on it. Each search takes as long as its result; where all of them
    together would take too long, `dependent_counts_by_bits` is used.
    """
    counts: dict[str, int] = {}
    steps = 0
    for key in (task.id.casefold() for task in tasks):
        reached, following = {key}, {key}
        while following:
            following = {each for near in following for each in dependents.get(near, ())} - reached
            reached |= following
        counts[key] = len(reached) - 1
        steps += len(reached)
        if steps > _MAX_STEPS:
            all_counts = dependent_counts_by_bits(dependents)
            return {task.id.casefold(): all_counts.get(task.id.casefold(), 0) for task in tasks}
    return counts


def dependent_counts_by_bits(dependents: Mapping[str, Sequence[str]]) -> Mapping[str, int]:
    """Return how many tasks wait for each task, with sets of tasks as the bits of integers.

    This needs one pass over the graph, where a search from every task would be quadratic. Tasks in a cycle, and those
    that only a cycle leads to, are counted one step far.
    """
    bits = {key: 1 << number for number, key in enumerate({each for keys in dependents.values() for each in keys})}
    upstream: dict[str, list[str]] = {}
    for key, keys in dependents.items():
        for each in keys:
            upstream.setdefault(each, []).append(key)
    pending = {key: len(keys) for key, keys in dependents.items()}
    reached = dict.fromkeys([*dependents, *bits], 0)
    done = [key for key in reached if key not in pending]
    for key in done:  # grows while iterating: a task follows once all tasks that wait for it are done
        for each in upstream.get(key, ()):
            reached[each] |= reached[key] | bits[key]
            pending[each] -= 1
            if not pending[each]:
                done.append(each)
    for key in reached.keys() - set(done):
        for each in upstream.get(key, ()):
            reached[each] |= reached[key] | bits[key]
    return {key: each.bit_count() for key, each in reached.items() if each}


def waiting_of(tasks: Sequence[IndexedTask]) -> tuple[Waiting, ...]:
    """Return the open tasks that are not ready, in natural order, each with what it waits for."""
    by_id = task_index.by_id(tasks)
    divided = _with_open_parts(by_id)
    waiting = (Waiting(task, _why_not(task, by_id, divided)) for task in tasks if is_open(task))
    return tuple(sorted((each for each in waiting if each.why), key=lambda each: names.id_key(each.task.id)))


def _why_not(task: IndexedTask, by_id: Mapping[str, IndexedTask], divided: Container[str]) -> str:
    """Return the reasons why a task is not ready; empty where it is ready."""
    upstream = {each: by_id.get(each.casefold()) for each in task.depends_on}
    there = {each: other for each, other in upstream.items() if other and not other.problem}
    missing = [each for each in upstream if each not in there]
    permanent = [each for each, other in there.items() if other.kind == PERMANENT]
    found = {each: other.status for each, other in there.items() if other.kind != PERMANENT}
    dropped = [each for each, status in found.items() if status == DROPPED]
    incomplete = [each for each, status in found.items() if status not in CLOSED]
    reasons = [f"it is blocked{task.blocked and f' ({task.blocked})'}"] if task.status == BLOCKED else []
    reasons += ["one of its subtasks is open"] if task.id.casefold() in divided else []
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        reasons.append(f"it depends on {first_of(missing, _SHOWN)}, which {verb} not there")
    if permanent:
        reasons.append(f"it depends on {first_of(permanent, _SHOWN)}, which is a permanent task: it has no output")
    if dropped:
        verb = "was" if len(dropped) == 1 else "were"
        reasons.append(f"it depends on {first_of(dropped, _SHOWN)}, which {verb} dropped")
    if incomplete:
        reasons.append(f"it waits for {first_of(incomplete, _SHOWN)}")
    return ", and ".join(reasons)


def _reason(ready: Ready, feature: NextFeature | None, part: str) -> str:
    """Return in one line why a task comes first."""
    task, count = ready.task, ready.unblocks
    upstream = task.depends_on
    reasons = ["it is in progress" if task.status == IN_PROGRESS else "it is ready to begin"]
    turn = task.open_turn
    if turn:
        reasons = [f"{turn.words}; unless that is you, take another (`taskstate next --count 5`)"]
    if task.priority:
        reasons.append(f"its priority is {task.priority}")
    if upstream:
        reasons.append(f"{first_of(upstream, _SHOWN)} {'is' if len(upstream) == 1 else 'are'} complete")
    if count:
        reasons.append(f"{count} {'task waits' if count == 1 else 'tasks wait'} for it")
    if feature is None and part:
        reasons.append("not all of it can be read")
    elif feature is None:
        reasons.append(f"no feature of it is open: `taskstate complete {task.id}` says what else is missing")
    return "; ".join(reasons)


def _nothing(tasks: Sequence[IndexedTask], waiting: tuple[Waiting, ...]) -> str:
    """Return why no task is ready."""
    if not tasks:
        return "there are no tasks"
    if not waiting:
        if any(task.problem or is_open(task) for task in tasks):  # an open one is worked on elsewhere
            return "no other task is open"
        are_dropped = any(task.status == DROPPED for task in tasks)
        return f"all tasks are complete{' or dropped' if are_dropped else ''}"
    count = len(waiting)
    return f"no task is ready: {'the only open one waits' if count == 1 else f'all {count} open ones wait'}"


def _feature(workspace: Workspace, task: IndexedTask) -> tuple[NextFeature | None, str]:
    """Return the first feature of a task that does not pass yet and was not moved, and what does not parse in it."""
    try:
        loaded = workspace.load(workspace.root / task.path)
    except TaskstateError:
        return None, ""
    waiting = loaded.state.open_features
    feature = NextFeature(waiting[0].id, waiting[0].description) if waiting else None
    if not loaded.state.problems:
        return feature, ""
    from taskstate.writing.damage import unread_part

    return feature, unread_part(loaded)

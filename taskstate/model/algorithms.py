"""Two small algorithms that know nothing of tasks: cycles in a dependency graph, and the longest rising subsequence.

`DependencyGraph` finds cycles in time linear in the number of tasks. `longest_rising` tells which entries of a list are
in order, so that one misplaced entry is reported once and not for every entry behind it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class DependencyGraph:
    """The tasks and what they depend on; each is asked after once, and only when it is needed."""

    def __init__(self, depends_on: Callable[[str], tuple[str, ...]]) -> None:
        self._ask = depends_on
        self._known: dict[str, tuple[str, ...]] = {}
        self._written: dict[str, str] = {}  # an id as it is written where it was met first
        self._circle: dict[str, str] = {}  # for each task that was looked at, one that stands for its circle

    def shortest_path(self, start: str, goal: str) -> tuple[str, ...]:
        """Return the ids on a shortest way from `start` to `goal`, both included, or nothing where there is none."""
        start, goal = start.casefold(), goal.casefold()
        # Where the goal leads to the start, a way back exists only within one circle: nearly always there is none.
        closed = start in self._upstream(goal)
        if closed and self._circle_of(start) != self._circle_of(goal):
            return ()
        came_from = {start: ""}
        waiting = deque([start])
        while waiting:
            task = waiting.popleft()
            if task == goal:
                return tuple(self._written.get(each, each) for each in _way(task, came_from))[::-1]
            for each in self._upstream(task):
                if each not in came_from and not (closed and self._circle_of(each) != self._circle_of(goal)):
                    came_from[each] = task
                    waiting.append(each)
        return ()

    def _upstream(self, task: str) -> tuple[str, ...]:
        if task not in self._known:
            asked = self._ask(task)
            self._known[task] = tuple(each.casefold() for each in asked)
            for each in asked:
                self._written.setdefault(each.casefold(), each)
        return self._known[task]

    def _circle_of(self, task: str) -> str:
        if task not in self._circle:
            self._explore(task)
        return self._circle[task]

    def _explore(self, root: str) -> None:
        """Find the circles of all tasks that can be reached from `root` (Tarjan's strongly connected components)."""
        order = {root: 0}
        lowest = {root: 0}
        open_ones = [root]
        path = [(root, iter(self._upstream(root)))]
        while path:
            task, waiting = path[-1]
            following = self._next(waiting, task, order, lowest)
            if following:
                order[following] = lowest[following] = len(order)
                open_ones.append(following)
                path.append((following, iter(self._upstream(following))))
                continue
            path.pop()
            if path:
                before = path[-1][0]
                lowest[before] = min(lowest[before], lowest[task])
            if lowest[task] == order[task]:
                member = ""
                while member != task:
                    member = open_ones.pop()
                    self._circle[member] = task

    def _next(self, waiting: Iterator[str], task: str, order: dict[str, int], lowest: dict[str, int]) -> str:
        """Return the next task to look at, or nothing; one that is open already lies on a circle with `task`."""
        for each in waiting:
            if each in self._circle:
                continue
            if each not in order:
                return each
            lowest[task] = min(lowest[task], order[each])
        return ""


def _way(task: str, came_from: dict[str, str]) -> Iterator[str]:
    while task:
        yield task
        task = came_from[task]


def longest_rising(values: Sequence[int], *, strictly: bool = True) -> tuple[int, ...]:
    """Return the indices of the most values that rise from left to right; of several choices the earliest indices."""
    find = bisect_left if strictly else bisect_right
    ends: list[int] = []
    lengths = [0] * len(values)  # of the longest rise that begins at an index
    for index in range(len(values) - 1, -1, -1):
        place = find(ends, -values[index])
        ends[place : place + 1] = [-values[index]]
        lengths[index] = place + 1
    kept: list[int] = []
    wanted = len(ends)
    for index, value in enumerate(values):
        if lengths[index] == wanted and (
            not kept or values[kept[-1]] < value or (values[kept[-1]] == value and not strictly)
        ):
            kept.append(index)
            wanted -= 1
    return tuple(kept)


def out_of_order(values: Sequence[int], *, strictly: bool = True) -> tuple[int, ...]:
    """Return the indices of the fewest values without which the others rise from left to right."""
    kept = set(longest_rising(values, strictly=strictly))
    return tuple(index for index in range(len(values)) if index not in kept)

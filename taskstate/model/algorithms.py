"""Graph and sequence algorithms: cycles and shortest paths in a dependency graph, longest rising subsequence.

`DependencyGraph` finds cycles in time linear in the number of tasks. `longest_rising` finds the entries of a list that
are in order, so that one misplaced entry is reported once and not for every entry behind it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from operator import le, lt

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


class DependencyGraph:
    """The dependencies between tasks; those of a task are looked up once, and only when they are needed."""

    def __init__(self, depends_on: Callable[[str], tuple[str, ...]]) -> None:
        self._depends_on = depends_on
        self._upstreams: dict[str, dict[str, None]] = {}  # in order, and each found at once
        self._spelling: dict[str, str] = {}  # an id in the spelling in which it was met first
        self._cycle: dict[str, str] = {}  # a task's strongly connected component, named by one of its tasks

    def shortest_path(self, start: str, goal: str) -> tuple[str, ...]:
        """Return the ids on a shortest path from `start` to `goal`, both included; empty where there is none."""
        start, goal = start.casefold(), goal.casefold()
        # Where the goal depends on the start, a path exists only within one cycle: nearly always there is none, and the
        # search need not walk through the whole graph to find that out.
        closed = start in self._upstream(goal)
        if closed and self._cycle_of(start) != self._cycle_of(goal):
            return ()
        came_from = {start: ""}
        waiting = deque([start])
        while waiting:
            task = goal if goal in came_from else waiting.popleft()
            if task == goal:
                return tuple(self._spelling.get(each, each) for each in _walked_back(task, came_from))[::-1]
            for each in self._upstream(task):
                if each not in came_from and not (closed and self._cycle_of(each) != self._cycle_of(goal)):
                    came_from[each] = task
                    waiting.append(each)
        return ()

    def in_one_cycle(self, first: str, second: str) -> bool:
        """Return whether two tasks depend on each other, directly or through others, or are one."""
        return self._cycle_of(first.casefold()) == self._cycle_of(second.casefold())

    def _upstream(self, task: str) -> dict[str, None]:
        if task not in self._upstreams:
            upstreams = self._depends_on(task)
            self._upstreams[task] = dict.fromkeys(each.casefold() for each in upstreams)
            for each in upstreams:
                self._spelling.setdefault(each.casefold(), each)
        return self._upstreams[task]

    def _cycle_of(self, task: str) -> str:
        if task not in self._cycle:
            self._explore(task)
        return self._cycle[task]

    def _explore(self, root: str) -> None:
        """Find the cycles of all tasks that can be reached from `root`: Tarjan's strongly connected components.

        With a stack of its own instead of recursion, since a chain of tasks may be longer than Python's call stack.
        """
        order = {root: 0}
        lowest = {root: 0}
        unassigned = [root]
        path = [(root, iter(self._upstream(root)))]
        while path:
            task, waiting = path[-1]
            following = self._next(waiting, task, order, lowest)
            if following:
                order[following] = lowest[following] = len(order)
                unassigned.append(following)
                path.append((following, iter(self._upstream(following))))
                continue
            path.pop()
            if path:
                before = path[-1][0]
                lowest[before] = min(lowest[before], lowest[task])
            if lowest[task] == order[task]:
                member = ""
                while member != task:
                    member = unassigned.pop()
                    self._cycle[member] = task

    def _next(self, waiting: Iterator[str], task: str, order: dict[str, int], lowest: dict[str, int]) -> str:
        """Return the next task to explore, or nothing; one that is being explored lies on a cycle with `task`."""
        for each in waiting:
            if each in self._cycle:
                continue
            if each not in order:
                return each
            lowest[task] = min(lowest[task], order[each])
        return ""


def _walked_back(task: str, came_from: dict[str, str]) -> Iterator[str]:
    while task:
        yield task
        task = came_from[task]


def longest_rising(values: Sequence[int], *, strictly: bool = True) -> tuple[int, ...]:
    """Return the indices of the longest rising subsequence; of several with one length the one with the lowest indices.

    Takes O(n log n): patience sorting from the right, so that the lowest indices can be picked from the left.
    """
    find = bisect_left if strictly else bisect_right
    tails: list[int] = []
    lengths = [0] * len(values)  # of the longest rising subsequence that begins at an index
    for index in range(len(values) - 1, -1, -1):
        position = find(tails, -values[index])
        tails[position : position + 1] = [-values[index]]
        lengths[index] = position + 1
    chosen: list[int] = []
    needed = len(tails)
    for index, value in enumerate(values):
        if lengths[index] == needed and (
            not chosen or values[chosen[-1]] < value or (values[chosen[-1]] == value and not strictly)
        ):
            chosen.append(index)
            needed -= 1
    return tuple(chosen)


def out_of_order(values: Sequence[int], *, strictly: bool = True) -> tuple[int, ...]:
    """Return the indices of the fewest values that must be left out so that the others rise from left to right."""
    if all(map(lt if strictly else le, values, values[1:])):  # nearly always
        return ()
    in_order = set(longest_rising(values, strictly=strictly))
    return tuple(index for index in range(len(values)) if index not in in_order)

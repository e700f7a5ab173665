"""What follows from an Impact Map: modules between others, modules downstream, circles, ripple paths, interfaces. Pure.

A module depends on another one where its `depends_on` names it; a change goes the other way, downstream, from a module
to those that depend on it. An id that no module has is passed over here; `impact_faults` reports it.
"""

from __future__ import annotations

from collections import deque

from taskstate.model.algorithms import DependencyGraph
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from taskstate.model.impact_map import ImpactMap, Interface, RipplePath

    Graph = Mapping[str, tuple[str, ...]]


class Between(NamedTuple):
    """A module that lies between two others, and a shortest dependency path from the one to the other through it."""

    module: str
    path: tuple[str, ...]


class Started(NamedTuple):
    """A ripple path that a change starts, and the modules on it that come after the first one changed."""

    ripple: RipplePath
    after: tuple[str, ...]


def dependencies(map_: ImpactMap) -> Graph:
    """Return for each module those that it depends on."""
    known = map_.by_id
    return {each.id: tuple(name for name in dict.fromkeys(each.depends_on) if name in known) for each in map_.modules}


def dependents(map_: ImpactMap) -> Graph:
    """Return for each module those that depend on it."""
    found: dict[str, list[str]] = {each.id: [] for each in map_.modules}
    for name, needed in dependencies(map_).items():
        for each in needed:
            found[each].append(name)
    return {name: tuple(each) for name, each in found.items()}


def reached_from(graph: Graph, *starts: str) -> dict[str, str]:
    """Return the modules that can be reached, the starts included, each with the one before it on a shortest path.

    A start comes after an empty text.
    """
    before, waiting = dict.fromkeys(starts, ""), deque(starts)
    while waiting:
        at = waiting.popleft()
        for each in graph.get(at, ()):
            if each not in before:
                before[each] = at
                waiting.append(each)
    return before


def _path_to(before: Mapping[str, str], end: str) -> tuple[str, ...]:
    """Return the path on which `reached_from` came to a module."""
    path = [end]
    while before[path[-1]]:
        path.append(before[path[-1]])
    return tuple(reversed(path))


def modules_between(map_: ImpactMap, claimed: Collection[str]) -> tuple[Between, ...]:
    """Return the modules that lie on a dependency path from one claimed module to another and are not claimed."""
    needs, needed_by = dependencies(map_), dependents(map_)
    inside = reached_from(needs, *claimed).keys() & reached_from(needed_by, *claimed).keys()
    candidates = (each.id for each in map_.modules if each.id in inside and each.id not in claimed)
    return tuple(filter(None, (_between(each, needs, needed_by, claimed) for each in candidates)))


def _between(module: str, needs: Graph, needed_by: Graph, claimed: Collection[str]) -> Between | None:
    """Return the module with the path through it, or None where it leads back to the only claimed module on it."""
    above, below = reached_from(needed_by, module), reached_from(needs, module)
    ups, downs = ([each for each in side if each in claimed] for side in (above, below))  # the nearest come first
    pairs = [(up, down) for up in ups[:2] for down in downs[:2] if up != down]
    if not pairs:
        return None
    up, down = pairs[0]
    return Between(module, (*reversed(_path_to(above, up)), *_path_to(below, down)[1:]))


def downstream(map_: ImpactMap, changed: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the modules that depend on a changed one, each with a shortest path on which the change reaches it."""
    known = map_.by_id
    before = reached_from(dependents(map_), *(each for each in changed if each in known))
    return {each.id: _path_to(before, each.id) for each in map_.modules if before.get(each.id)}


def ripples_started(map_: ImpactMap, changed: Collection[str]) -> tuple[Started, ...]:
    """Return the ripple paths on which a changed module lies."""
    found = []
    for each in map_.ripple_paths:
        first = next((index for index, name in enumerate(each.path) if name in changed), None)
        if first is not None:
            found.append(Started(each, each.path[first + 1 :]))
    return tuple(found)


def interfaces_crossed(
    map_: ImpactMap, changed: Collection[str], reached: Collection[str] = ()
) -> tuple[Interface, ...]:
    """Return the interfaces of changed modules, and those between modules that the change reaches."""
    chain = {*changed, *reached}
    return tuple(
        each for each in map_.interfaces if not {*each.between}.isdisjoint(changed) or chain.issuperset(each.between)
    )


def circles(map_: ImpactMap) -> tuple[tuple[str, ...], ...]:
    """Return the circles in which modules depend on themselves; a circle begins and ends with the same module.

    One through a module that says that it is allowed is left out. Of circles that share a module not all are named.
    """
    graph = {name: needed for name, needed in dependencies(map_).items() if not map_.by_id[name].circle_allowed}
    ids = [*graph]
    keys = {name: str(index) for index, name in enumerate(ids)}  # two ids may differ in case alone
    search = DependencyGraph(lambda key: tuple(keys[each] for each in graph[ids[int(key)]] if each in keys))
    seen, found = set[str](), list[tuple[str, ...]]()
    for name, needed in graph.items():
        ways = (search.shortest_path(keys[each], keys[name]) for each in needed if each in keys and name not in seen)
        way = min(filter(None, ways), key=len, default=())
        if way:
            circle = (name, *(ids[int(key)] for key in way))
            seen.update(circle)
            found.append(circle)
    return tuple(found)

"""What follows from an Impact Map: modules between others, modules downstream, circles, ripple paths, interfaces. Pure.

A module depends on another one where its `depends_on` names it; a change goes the other way, downstream, from a module
to those that depend on it. An id that no module has is passed over here; `impact_faults` reports it.
"""

from __future__ import annotations

from collections import deque

from taskstate.model.algorithms import DependencyGraph
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from taskstate.model.impact_map import ImpactMap, Interface, RipplePath

    Graph = Mapping[str, tuple[str, ...]]


_NAMED = 50  # modules at either end of a path: whole ones would take memory by the square of a long chain
_NEAREST = 2  # claimed modules on either side of one: with one on both sides the other is needed
_GAP = "\u2026"  # what stands in a path for the modules between its ends


class Between(NamedTuple):
    """A module that lies between two others, and a shortest dependency path from the one to the other through it.

    Of a path to a claimed module that is longer than a hundred modules, the middle is left out.
    """

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


class _Way(NamedTuple):
    """A shortest way from a module to another one: the module after it, how many they are, and the last ones."""

    next: str
    length: int
    end: tuple[str, ...]


def _onward(module: str, way: _Way | None, next_: str) -> _Way:
    """Return the way from a module that goes on with the way from the next one; without one it is at its end."""
    end = way.end if way else ()
    return _Way(next_, way.length + 1 if way else 1, end if len(end) == _NAMED else (module, *end))


def _path(module: str, way_from: Callable[[str], _Way]) -> tuple[str, ...]:
    """Return the modules on a way, without the middle where there are too many."""
    way, names = way_from(module), list[str]()
    hidden = way.length - len(way.end) - _NAMED
    for _ in range(min(way.length - len(way.end), _NAMED)):
        names.append(module)
        module = way_from(module).next
    return (*names, *([_GAP] if hidden > 0 else []), *way.end)


def modules_between(map_: ImpactMap, claimed: Collection[str]) -> tuple[Between, ...]:
    """Return the modules that lie on a dependency path from one claimed module to another and are not claimed."""
    needs, needed_by = dependencies(map_), dependents(map_)
    above, below = _nearest(needed_by, needs, claimed), _nearest(needs, needed_by, claimed)
    candidates = (each.id for each in map_.modules if each.id not in claimed)
    return tuple(filter(None, (_between(each, above, below) for each in candidates)))


def _nearest(graph: Graph, back: Graph, goals: Collection[str]) -> dict[str, dict[str, _Way]]:
    """Return for each module the nearest two of the goals that it reaches, each with the way there.

    Of goals equally near, and of ways equally short, the first one is taken, as a search from the module would find it:
    goals spread to the modules before them, step by step, and a module takes what the first of its neighbours offers.
    """
    places = {name: {each: at for at, each in enumerate(following)} for name, following in graph.items()}
    found = {name: {name: _onward(name, None, "")} if name in goals else {} for name in graph}
    spreading = [(name, name, 0) for name in graph if name in goals]
    while spreading:
        offers: dict[str, list[tuple[int, int, str, str]]] = {}
        for name, goal, rank in spreading:
            for each in back[name]:
                if len(found[each]) < _NEAREST:
                    offers.setdefault(each, []).append((places[each][name], rank, name, goal))
        spreading = []
        for name, offered in offers.items():
            for _, _, next_, goal in sorted(offered):
                if goal not in found[name] and len(found[name]) < _NEAREST:
                    spreading.append((name, goal, len(found[name])))
                    found[name][goal] = _onward(name, found[next_][goal], next_)
    return found


def _between(
    module: str, above: Mapping[str, Mapping[str, _Way]], below: Mapping[str, Mapping[str, _Way]]
) -> Between | None:
    """Return the module with the path through it, or None where it leads back to the only claimed module on it."""
    pairs = [(up, down) for up in above[module] for down in below[module] if up != down]
    if not pairs:
        return None
    up, down = pairs[0]
    to_up, to_down = _path(module, lambda at: above[at][up]), _path(module, lambda at: below[at][down])
    return Between(module, (*reversed(to_up), *to_down[1:]))


def downstream(map_: ImpactMap, changed: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the modules that depend on a changed one, each with a shortest path on which the change reaches it.

    Of a path longer than a hundred modules the middle is left out.
    """
    known = map_.by_id
    before = reached_from(dependents(map_), *(each for each in changed if each in known))
    ways: dict[str, _Way] = {}
    for name, last in before.items():  # the nearest come first
        ways[name] = _onward(name, ways.get(last), last)
    return {each.id: _path(each.id, ways.__getitem__)[::-1] for each in map_.modules if before.get(each.id)}


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

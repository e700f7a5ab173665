"""The laws of the Impact Map: merging loses no entry, and the graph says what every path through it says."""

from __future__ import annotations

from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from taskstate.model import impact_graph
from taskstate.model.impact_map import KINDS, ImpactMap, map_level, merged, read_map, references, without_references
from taskstate.model.permanent import COSMETIC
from taskstate.permanent.impact.storage import rendered
from tests.support.impact_maps import NAMES, maps

claims = st.sets(st.sampled_from(NAMES))


def simple_paths(map_: ImpactMap) -> set[tuple[str, ...]]:
    """Return every path of two modules or more along dependencies, no module twice: by trying all orders."""
    needs = impact_graph.dependencies(map_)
    known = [*needs]
    orders = (order for length in range(2, len(known) + 1) for order in permutations(known, length))
    return {order for order in orders if all(b in needs[a] for a, b in pairwise(order))}


@given(maps(), maps())
def test_merging_keeps_every_entry(old: ImpactMap, new: ImpactMap) -> None:
    """Each entry of both stands there once, the newer one where both have it; again it changes nothing."""
    result = merged(old, new)
    for key, kind in KINDS.items():
        before, after, now = ({e["id"]: e for e in m.values[key]} for m in (old, new, result.map))
        assert now == {**before, **after}
        assert [*now][: len(before)] == [*before]
        assert {each for each in result.added if each.startswith(f"{kind} ")} == {
            f"{kind} {name}" for name in after.keys() - before.keys()
        }
        assert {each for each in result.replaced if each.startswith(f"{kind} ")} == {
            f"{kind} {name}" for name in after.keys() & before.keys() if after[name] != before[name]
        }
    again = merged(result.map, new)
    assert (again.map.values, again.replaced, again.added) == (result.map.values, (), ())


@given(maps())
def test_a_map_is_read_back_as_it_was_written(map_: ImpactMap) -> None:
    """The canonical form holds the same map, which changes nothing for anybody."""
    again = read_map(rendered(map_), "the map")
    assert again == map_
    assert map_level(map_, again) == COSMETIC


@given(maps(), claims)
def test_modules_between_lie_on_a_path(map_: ImpactMap, claimed: set[str]) -> None:
    """Each module on a path between two claimed ones is named, unless it is claimed, with such a path."""
    found = impact_graph.modules_between(map_, claimed)
    paths = simple_paths(map_)
    direct = {name for path in paths if {path[0], path[-1]} <= claimed for name in path[1:-1] if name not in claimed}
    assert direct <= {each.module for each in found}
    needs = impact_graph.dependencies(map_)
    for each in found:
        assert each.module not in claimed
        assert each.module in each.path[1:-1]
        assert each.path[0] != each.path[-1]
        assert {each.path[0], each.path[-1]} <= claimed
        assert all(b in needs[a] for a, b in pairwise(each.path))


@given(maps(), claims)
def test_downstream_is_whatever_depends_on_a_change(map_: ImpactMap, changed: set[str]) -> None:
    """Whatever reaches a changed module along dependencies is downstream, with a shortest way there."""
    found = impact_graph.downstream(map_, changed)
    paths = [path for path in simple_paths(map_) if path[-1] in changed and path[0] not in changed]
    assert found.keys() == {path[0] for path in paths}
    for name, path in found.items():
        assert (path[-1], path[0] in changed) == (name, True)
        assert len(path) == min(len(each) for each in paths if each[0] == name)


@given(maps())
def test_circles_are_found(map_: ImpactMap) -> None:
    """A circle is named exactly where one is there, and it is one."""
    needs = impact_graph.dependencies(map_)
    found = impact_graph.circles(map_)
    closing = {path for path in simple_paths(map_) if path[0] in needs[path[-1]]} | {n for n in needs if n in needs[n]}
    assert bool(found) == bool(closing)
    for circle in found:
        assert circle[0] == circle[-1]
        assert all(b in needs[a] for a, b in pairwise(circle))


@given(maps(), st.sampled_from(NAMES))
def test_nothing_names_a_module_that_was_taken_out(map_: ImpactMap, name: str) -> None:
    """What does not name it stays as it was."""
    after = without_references(map_, name)
    assert references(after, name) == ()
    named = {*references(map_, name)}
    kept = [each for each in map_.interfaces if f"interface {each.id}" not in named]
    assert [each for each in after.interfaces if each in kept] == kept

"""What follows from an Impact Map, case by case; the laws stand in `tests/properties/test_impact_laws.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.model.impact_faults import unmatched
from taskstate.model.impact_graph import (
    circles,
    downstream,
    interfaces_crossed,
    modules_between,
    ripples_started,
)
from tests.support.impact_maps import chain, map_with, module
from tests.support.steps import FEW, LEAST, LIMIT, MANY, growth

if TYPE_CHECKING:
    from taskstate.model.impact_map import ImpactMap

LONG = chain("a", "b", "c", "d")
ROUND = map_with(module("a", "b"), module("b", "a", "c"), module("c", "b"))


def test_modules_between() -> None:
    """All that lie on the way, each with the whole path; nothing outside of it."""
    found = modules_between(LONG, {"a", "d"})
    assert [(each.module, each.path) for each in found] == [("b", ("a", "b", "c", "d")), ("c", ("a", "b", "c", "d"))]
    assert modules_between(LONG, {"b", "c"}) == ()
    assert [each.module for each in modules_between(LONG, {"a", "b", "d"})] == ["c"]


def test_a_circle_back_to_the_only_claimed_module_has_nothing_between() -> None:
    """It takes two claimed modules to have something between them."""
    assert modules_between(ROUND, {"a"}) == ()
    assert [each.path for each in modules_between(ROUND, {"a", "c"})] == [("a", "b", "c")]


def test_unknown_ids_are_passed_over() -> None:
    """A claim or a dependency may name a module that is not there."""
    map_ = map_with(module("a", "gone"))
    assert modules_between(map_, {"a", "gone"}) == ()
    assert downstream(map_, ["gone", "a"]) == {}
    assert circles(map_) == ()


def test_downstream_goes_against_the_dependencies() -> None:
    """From a module to those that depend on it, nearest first along each way."""
    assert downstream(LONG, ["c"]) == {"a": ("c", "b", "a"), "b": ("c", "b")}


def test_ids_that_differ_in_case_alone() -> None:
    """They are two modules."""
    assert circles(map_with(module("A", "a"), module("a"))) == ()


def test_a_very_long_circle() -> None:
    """No depth is too much."""
    names = [f"m{number}" for number in range(1_500)]
    round_ = map_with(*(module(name, names[at - 1]) for at, name in enumerate(names)))
    assert len(circles(round_)[0]) == len(names) + 1


def test_ripple_paths_and_interfaces() -> None:
    """A path starts at the first changed module on it; an interface is crossed at either end, or further down."""
    ripple = {"id": "r", "path": ["d", "c", "b"]}
    pairs = [{"id": x + y, "between": [x, y], "contract": "c"} for x, y in ("ab", "bc", "cd")]
    map_ = chain("a", "b", "c", "d", ripple_paths=[ripple], interfaces=pairs)
    assert [each.after for each in ripples_started(map_, {"c", "b"})] == [("b",)]
    assert ripples_started(map_, {"a"}) == ()
    assert [each.id for each in interfaces_crossed(map_, {"d"})] == ["cd"]
    assert [each.id for each in interfaces_crossed(map_, {"c"}, ["b", "a"])] == ["ab", "bc", "cd"]


LINES = [chain(*(f"m{number}" for number in range(count))) for count in (LEAST, FEW, MANY)]


def test_a_long_chain_takes_work_by_its_length() -> None:
    """Whether its modules are looked up between two claimed ones or downstream of one."""
    assert growth(lambda map_: modules_between(map_, {"m0", map_.modules[-1].id}), LINES) < LIMIT
    assert growth(lambda map_: downstream(map_, [map_.modules[-1].id]), LINES) < LIMIT


def test_many_modules_take_work_by_their_number() -> None:
    """A file is compared with the globs that begin as its path does, not with those of all modules."""

    def look_up(map_: ImpactMap) -> None:
        files = [f"{each.id}/a.py" for each in map_.modules]
        assert map_.modules_of(files) == {f"{each.id}/a.py": (each.id,) for each in map_.modules}
        assert unmatched(map_, files) == ()

    assert growth(look_up, LINES) < LIMIT


def test_a_long_path_is_named_by_its_ends() -> None:
    """Up to a hundred modules are named in full; of more the first and the last fifty."""
    names = [each.id for each in LINES[0].modules]
    found = downstream(LINES[0], ["m119"])
    assert found["m20"] == tuple(reversed(names[20:]))
    assert found["m0"] == (*reversed(names[70:]), "\u2026", *reversed(names[:50]))
    between = modules_between(LINES[0], ["m0", "m119"])
    assert between[8].path == (*names[:59], "\u2026", *names[70:])

"""Tests of the sequence algorithms."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.model.algorithms import DependencyGraph, longest_rising, out_of_order
from tests.support.steps import steps

VALUES = st.lists(st.integers(0, 6), max_size=8)


@given(VALUES, st.booleans())
def test_as_many_as_possible_are_kept(values: list[int], strictly: bool) -> None:  # noqa: FBT001 - drawn by hypothesis
    """No choice that rises is longer, and of the longest ones the first is taken."""
    best = next(
        chosen
        for length in range(len(values), -1, -1)
        for chosen in combinations(range(len(values)), length)
        if all(values[a] < values[b] or (values[a] == values[b] and not strictly) for a, b in pairwise(chosen))
    )
    assert longest_rising(values, strictly=strictly) == best


@pytest.mark.parametrize(
    ("values", "strictly", "expected"),
    [
        ([1, 2, 3], True, ()),
        ([1, 2, 2, 3], True, (2,)),
        ([1, 2, 2, 3], False, ()),
        ([1, 9, 2, 3], True, (1,)),
        ([3, 1, 2], True, (0,)),
        ([2, 1], True, (1,)),
        ([], True, ()),
    ],
)
def test_one_misplaced_entry_is_one(values: list[int], strictly: bool, expected: tuple[int, ...]) -> None:  # noqa: FBT001 - a parameter of the test
    """What is named is the misplaced entry, and not what stands behind it; of two that may be it, the later one."""
    assert out_of_order(values, strictly=strictly) == expected


def test_a_search_ends_where_the_goal_is_seen() -> None:
    """Among tasks that all depend on each other, a path to a neighbour takes no look at what the others depend on."""
    ids = [str(number) for number in range(60)]
    graph = DependencyGraph(lambda task: tuple(each for each in ids if each != task))
    assert graph.shortest_path("1", "59") == ("1", "59")
    assert steps(lambda: graph.shortest_path("1", "59")) < 30 * len(ids)

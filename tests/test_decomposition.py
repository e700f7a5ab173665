from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.decomposition import MOST, suggested
from taskstate.kinds import is_id


@pytest.mark.parametrize(
    ("features", "sizes"),
    [("", []), ("a", [1]), ("ab", [1, 1]), ("abcd", [2, 2]), ("abcdefg", [3, 2, 2]), ("a" * 40, [10, 10, 10, 10])],
)
def test_features_are_shared_out_in_their_order(features: str, sizes: list[int]) -> None:
    """A few features a subtask, side by side, and no more than a handful of subtasks."""
    parts = suggested("101", features)
    assert [len(part.features) for part in parts] == sizes
    assert "".join(each for part in parts for each in part.features) == features


@pytest.mark.parametrize(
    ("task_id", "taken", "ids"),
    [
        ("101", (), ["101a", "101b"]),
        ("101", ("101A", "101c"), ["101b", "101d"]),
        ("auth", (), ["auth.1", "auth.2"]),
        ("101a", ("101a.1",), ["101a.2", "101a.3"]),
        ("7", [f"7{chr(letter)}" for letter in range(ord("a"), ord("z"))], ["7z", "7.1"]),
    ],
)
def test_ids_that_are_free(task_id: str, taken: list[str], ids: list[str]) -> None:
    """Subtasks are named after their task by letters, or by numbers, and never like one that there is."""
    assert [part.id for part in suggested(task_id, "xy", taken)] == ids


@given(st.from_regex(r"[A-Za-z0-9]{1,8}", fullmatch=True).filter(is_id), st.lists(st.text(max_size=3), max_size=60))
def test_every_feature_goes_into_exactly_one_subtask(task_id: str, features: list[str]) -> None:
    """Nothing is lost or doubled, and each suggested id can be one."""
    parts = suggested(task_id, features)
    assert [each for part in parts for each in part.features] == features
    assert len(parts) <= MOST
    assert all(part.features and is_id(part.id) for part in parts)
    assert len({part.id for part in parts}) == len(parts)

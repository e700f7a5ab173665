"""What the delta block leaves out is read all the same, and written out once nothing else says it."""

from __future__ import annotations

import pytest

from taskstate.model.canonical_json import canonical_json
from taskstate.model.delta_block import (
    Left,
    Turn,
    read_delta,
    record_digest,
    with_base,
    with_left,
    with_record,
    with_snapshots,
    with_turn,
)

COMMIT, OTHER, TREE, THEN = "a" * 40, "b" * 40, "c" * 40, "d" * 40
LEFT = Left(TREE, COMMIT, "main")
BEGUN = Turn("reviewer", "bob", "2026-01-31T12:00:00Z", "main", COMMIT, TREE, 3, "bob")


def test_what_was_left_is_not_repeated_beside_a_turn_that_began_with_it() -> None:
    """It is read from the turn, and written again when the turn ends."""
    delta = with_turn(with_left(read_delta({"base_commit": COMMIT}), LEFT), BEGUN)
    assert ("left" in delta.values, delta.left) == (False, LEFT)
    assert with_turn(delta, None).values["left"] == {"tree": TREE, "head": COMMIT, "branch": "main"}


@pytest.mark.parametrize(
    ("left", "turn"),
    [
        (LEFT._replace(tree=THEN), BEGUN),
        (LEFT._replace(branch=None), BEGUN),
        (LEFT._replace(start_tree=THEN), BEGUN),
        (LEFT, BEGUN._replace(session=0)),
        (LEFT, BEGUN._replace(tree=None)),
    ],
)
def test_what_was_left_stays_where_the_turn_does_not_say_it(left: Left, turn: Turn) -> None:
    """A paused turn, another tree or branch, and a first turn say something else."""
    delta = with_turn(with_left(read_delta({}), left), turn)
    assert ("left" in delta.values, delta.left) == (True, left)


def test_a_first_turn_has_nothing_that_was_left() -> None:
    """No session was recorded before it."""
    assert with_turn(read_delta({}), BEGUN._replace(session=0)).left is None


def test_snapshots_keep_what_they_took_from_the_base() -> None:
    """With another base, HEAD and start are written out; the tree of an earlier version goes."""
    delta = read_delta({"base_commit": COMMIT, "base_tree": TREE, "snapshots": {"a": {"tree": THEN}}})
    moved = with_base(delta, OTHER, TREE)
    assert moved.values == {
        "base_commit": OTHER,
        "snapshots": {"a": {"head": COMMIT, "start_tree": TREE, "tree": THEN}},
    }
    assert with_base(delta, COMMIT).values == {"base_commit": COMMIT, "snapshots": {"a": {"tree": THEN}}}


def test_the_record_says_what_the_file_leaves_out() -> None:
    """It counts if the folder bears its hash; what the file says itself comes first."""
    record = canonical_json({"diff_sha": "e" * 64, "base_tree": TREE, "tree": OTHER}).encode()
    values = {"tree": THEN, "diff_sha": "e" * 64, "pack": f"artifacts/task-1/a/{record_digest(record)}"}
    snapshot = with_snapshots(read_delta({}), {"a": values}).snapshots["a"]
    assert (snapshot.values.get("diff_sha"), snapshot.diff_sha) == (None, None)
    whole = with_record(snapshot, record)
    assert (whole.diff_sha, whole.base_tree, whole.tree) == ("e" * 64, TREE, THEN)
    assert with_record(snapshot, record + b" ") == snapshot
    assert with_record(snapshot, None) == snapshot

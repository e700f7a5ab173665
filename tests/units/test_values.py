from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.units.three_way import PREFERENCES, Versions
from taskstate.units.values import NOTHING, merge_value

if TYPE_CHECKING:
    from typing import Any

N = NOTHING
LATER = "h/phase-1-handoff-20260131T110000Z.md"
DONE, NEXT = {"id": 1, "status": "done"}, {"id": 2, "status": "not_started"}


def merged(key: str, base: object, ours: object, theirs: object) -> Any:  # noqa: ANN401 - any value
    """Return what a value becomes where no side needs to be preferred, and which order of the sides does not change."""
    results = [merge_value(Versions(base, ours, theirs), key, prefer) for prefer in PREFERENCES]
    results += [merge_value(Versions(base, theirs, ours), key, prefer) for prefer in PREFERENCES]
    assert all(result == results[0] for result in results), results
    return results[0]


@pytest.mark.parametrize(
    ("key", "base", "ours", "theirs", "result"),
    [
        ("title", "a", "b", "a", "b"),
        ("title", "a", "b", "b", "b"),
        ("title", "a", N, "a", N),
        ("status", "created", "in_progress", "blocked", "blocked"),
        ("status", "in_progress", "blocked", "complete", "complete"),
        ("status", "complete", "in_progress", "complete", "in_progress"),
        ("revision", 4, 6, 5, 7),
        ("revision", 4, 5, 5, 6),
        ("revision", 4, 4, 9, 9),
        ("revision", N, 1, 1, 2),
        ("update_count", 4, 6, 5, 7),
        ("version", 6, 7, 8, 9),
        ("count", 1, 2, 3, 4),
        ("drift_budget", 0, 1, 2, 2),
        ("created_at", N, "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("updated_at", "2026", "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"),
        ("started_at", None, "2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("archive_path", N, "archives/a", None, "archives/a"),
        ("depends_on", ["9"], ["9", "10"], ["2", "9"], ["2", "9", "10"]),
        ("depends_on", ["9", "8"], ["9"], ["9", "8", "1"], ["1", "9"]),
        ("acks", {"a": 5}, {"a": 7, "b": 6}, {"a": 6, "c": 1}, {"a": 6, "b": 6, "c": 1}),
        (
            "handoffs",
            {"count": 1, "open": None},
            {"count": 2, "open": "x"},
            {"count": 2, "open": None, "x-mine": 1},
            {"count": 3, "open": "x", "x-mine": 1},
        ),
        ("open", None, "h/phase-9-handoff-20260131T100000Z.md", "h/phase-1-handoff-20260131T110000Z.md", LATER),
        ("open", "h/phase-1-handoff-20260131T090000Z.md", None, LATER, LATER),
        (
            "phase",
            {"objectives": [DONE | {"status": "in_progress"}], "current_objective": 1},
            {"objectives": [DONE], "current_objective": None},
            {"objectives": [DONE | {"status": "in_progress"}, NEXT], "current_objective": 1},
            {"objectives": [DONE, NEXT], "current_objective": 2},
        ),
    ],
)
def test_each_key_has_its_rule(key: str, base: object, ours: object, theirs: object, result: object) -> None:
    """Single values, sets and counts that both sides changed come to what both mean."""
    assert merged(key, base, ours, theirs) == result


@pytest.mark.parametrize("key", ["title", "priority", "context", "x-mine", "notes", "status", "revision", "acks[]"])
def test_what_no_rule_decides_is_the_preferred_sides(key: str) -> None:
    """Two new values of one key conflict: each preference gives its side's."""
    assert [merge_value(Versions("a", "b", "c"), key, prefer) for prefer in PREFERENCES] == ["b", "c"]


def test_what_turns_left_is_that_of_our_tree() -> None:
    """Each branch ended a turn: what is compared later is the tree of the side on which the merge is made."""
    here = {"base_commit": "c", "base_tree": "t", "left": {"tree": "1", "branch": "a"}, "last_seen": {"reviewer": "1"}}
    there = {**here, "left": {"tree": "2", "branch": "b"}, "last_seen": {"reviewer": "2"}}
    for base in ({}, {"base_commit": "c", "base_tree": "t", "left": {"tree": "0"}}):
        versions = Versions(base, here, there)
        assert [merge_value(versions, "delta", prefer) for prefer in PREFERENCES] == [here, here]


def test_maps_are_merged_key_by_key() -> None:
    """Keys that different sides changed, added or removed do not touch each other, at any depth."""
    base = {"a": 1, "b": {"c": 1, "d": 2}, "gone": 0}
    ours = {"a": 2, "b": {"c": 1, "d": 2, "new": 3}, "gone": 0}
    theirs = {"a": 1, "b": {"c": 9, "d": 2}}
    assert merged("x-mine", base, ours, theirs) == {"a": 2, "b": {"c": 9, "d": 2, "new": 3}}


def test_what_is_one_thing_is_not_mixed() -> None:
    """Half of one side's record with half of the other's would be a record of nothing."""
    versions = Versions({"seal": "1", "by": "a"}, {"seal": "2", "by": "a"}, {"seal": "3", "by": "b"})
    assert [merge_value(versions, "context", prefer) for prefer in PREFERENCES] == [versions.ours, versions.theirs]


def test_events_are_united_in_the_order_of_their_times() -> None:
    """No event of either side is lost; those that the common version had and one side moved away stay away."""
    old, kept = {"at": "1", "event": "old"}, {"at": "2", "event": "kept"}
    late, early = {"at": "4", "event": "late"}, {"at": "3", "event": "early"}
    assert merged("events", [old, kept], [kept, late], [old, kept, early]) == [kept, early, late]


# Features


def feature(passes: bool, at: str | None, evidence: str = "", **more: object) -> dict[str, Any]:  # noqa: FBT001 - as JSON has it
    """Return a feature that was tested."""
    return {"id": "f", "description": "d", "passes": passes, "tested_at": at, "evidence": evidence, **more}


def test_later_test_of_a_feature_counts() -> None:
    """Result, time and evidence belong together: those of the later test count, and other fields are merged beside."""
    base = {"features": [feature(passes=False, at=None)]}
    ours = {"features": [feature(passes=True, at="2", evidence="ours", notes="n")]}
    theirs = {"features": [feature(passes=False, at="3", evidence="theirs", moved_to="9")]}
    expected = feature(passes=False, at="3", evidence="theirs", notes="n", moved_to="9")
    assert merged("feature checklist", base, ours, theirs) == {"features": [expected]}


def test_failure_counts_where_the_times_are_equal() -> None:
    """Of two tests at one time the one that failed is believed."""
    base, ours, theirs = (
        {"features": [feature(passes=passes, at=at)]} for passes, at in ((False, None), (True, "2"), (False, "2"))
    )
    assert merged("feature checklist", base, ours, theirs) == theirs


def test_features_are_never_taken_away() -> None:
    """A feature that one side has removed by hand stays, and new ones of both sides are kept."""
    base = {"features": [{"id": "a"}, {"id": "b"}]}
    result = merge_value(
        Versions(base, {"features": [{"id": "b"}, {"id": "o"}]}, {"features": [{"id": "a"}, {"id": "b"}, {"id": "t"}]}),
        "feature checklist",
        "ours",
    )
    assert {each["id"] for each in result["features"]} == {"a", "b", "o", "t"}


def test_ids_given_twice_are_not_taken_apart() -> None:
    """A list in which an id stands twice is one value: nobody knows which one is meant."""
    versions = Versions({"features": []}, {"features": [{"id": "a"}, {"id": "a"}]}, {"features": [{"id": "b"}]})
    assert merge_value(versions, "feature checklist", "theirs") == versions.theirs


# Roles and phases


def test_what_was_found_blocks_a_role_that_is_done() -> None:
    """A role that one side finished and the other blocked with a finding is blocked, and the finding is kept."""
    base = {"reviewer": {"status": "in_progress", "blocking_findings": [], "drift_budget": 0}}
    ours = {"reviewer": {"status": "done", "completed_at": "5", "blocking_findings": [], "drift_budget": 0}}
    theirs = {"reviewer": {"status": "blocked", "blocking_findings": ["no test"], "drift_budget": 1}}
    result = merged("coordination", base, ours, theirs)
    assert (result["reviewer"]["status"], result["reviewer"]["findings"]) == (
        "blocked",
        [{"id": 1, "text": "no test"}],
    )
    assert result["reviewer"]["drift_budget"] == 1


def test_findings_of_both_sides_have_numbers_of_their_own() -> None:
    """Theirs that are new go behind ours; one that a side answered or cleared is answered or cleared."""
    first, second = {"id": 1, "by": "reviewer", "text": "slow"}, {"id": 2, "by": "reviewer", "text": "no test"}
    base = {"implementer": {"status": "in_progress", "findings": [first, second]}}
    mine, other = {"id": 3, "text": "no docs"}, {"id": 3, "text": "leaks"}
    ours = {"implementer": {"status": "in_progress", "findings": [first | {"answer": "faster"}, second, mine]}}
    theirs = {"implementer": {"status": "in_progress", "findings": [first, other]}}
    result = merged("coordination", base, ours, theirs)["implementer"]
    assert result["findings"] == [first | {"answer": "faster"}, other, mine | {"id": 4}]


def test_findings_of_an_older_form_are_merged_by_their_texts() -> None:
    """What either side added is there once, with a number."""
    base = {"implementer": {"status": "blocked", "blocking_findings": ["a"]}}
    ours = {"implementer": {"status": "blocked", "findings": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]}}
    theirs = {"implementer": {"status": "blocked", "blocking_findings": ["a", "c"]}}
    result = merged("coordination", base, ours, theirs)["implementer"]
    assert result == {
        "status": "blocked",
        "findings": [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}, {"id": 3, "text": "c"}],
    }


def test_later_snapshot_of_a_role_counts() -> None:
    """Snapshots of different roles are both kept; of one role's two the later one is, as a whole."""
    first, second = {"snapshot_time": "1", "tree": "a"}, {"snapshot_time": "2", "tree": "b"}
    base = {"base_commit": "c", "snapshots": {}}
    ours = {"base_commit": "c", "snapshots": {"implementer": second}}
    theirs = {"base_commit": "c", "snapshots": {"implementer": first, "reviewer": second}}
    assert merged("delta", base, ours, theirs)["snapshots"] == {"implementer": second, "reviewer": second}


def test_objectives_go_on_from_what_is_open() -> None:
    """Objectives are merged by id, approaches united, and the current one is the first of the two that is not done."""

    def phase(one: str, two: str, current: int | None, *tried: str) -> dict[str, Any]:
        return {
            "objectives": [{"id": 1, "status": one}, {"id": 2, "status": two}, {"id": 3, "status": "not_started"}],
            "current_objective": current,
            "approaches_tried": [{"approach": each, "result": "no"} for each in tried],
        }

    base = phase("in_progress", "not_started", 1)
    result = merge_value(
        Versions(base, phase("done", "in_progress", 2, "a"), phase("in_progress", "done", 3, "b")), "phase 1", "theirs"
    )
    assert [each["status"] for each in result["objectives"]] == ["done", "done", "not_started"]
    assert result["current_objective"] == 3
    assert [each["approach"] for each in result["approaches_tried"]] == ["a", "b"]

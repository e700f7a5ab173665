"""Formatting of the front matter: order, quoting, line ends."""

from __future__ import annotations

import pytest

from taskstate.formatting.formatter import format_text
from taskstate.formatting.schema_order import in_order, schema_root, with_ordered_keys

NAME = "task-101-state.md"
BODY = "---\n\n# Task #101: JWT - State\n"
KEYS = 'taskstate: 1\ntask_id: "101"\ntitle: JWT\nstatus: created\ncreated_at: "2026-01-31T12:00:00Z"\n'


def laid(front_matter: str) -> str:
    """Return a front matter in its form."""
    after = format_text(f"---\n{front_matter}{BODY}", NAME)
    assert format_text(after, NAME) == after
    assert after.startswith("---\n")
    assert after.endswith(BODY)
    return after.removeprefix("---\n").removesuffix(BODY)


def test_keys_in_order_stay() -> None:
    """A front matter in its form stays to the byte."""
    assert laid(KEYS) == KEYS


def test_keys_are_ordered_with_their_comments() -> None:
    """Keys stand in the schema's order; what stands above a key or behind its value goes with it."""
    before = 'status: created  # for now\n# who\ntask_id: "101"\ntitle: JWT\ntaskstate: 1\n'
    assert laid(before) == 'taskstate: 1\n# who\ntask_id: "101"\ntitle: JWT\nstatus: created  # for now\n'


def test_blanks_behind_a_text_of_several_lines_go() -> None:
    """Blanks at a line's end stay within a text of several lines, and go behind its last quote."""
    before = f'{KEYS}x-one: "a  \n  b"  \nx-two: |\n  c  \n  d  \n'
    assert laid(before) == f'{KEYS}x-one: "a  \n  b"\nx-two: |\n  c  \n  d  \n'


def test_remarks_that_belong_to_no_key_stay() -> None:
    """A comment set apart at the top, and one at the end, belong to no key."""
    before = "# top\n\ntitle: JWT\ntaskstate: 1\n# end\n"
    assert laid(before) == "# top\n\ntaskstate: 1\ntitle: JWT\n# end\n"


def test_keys_of_ones_own_follow_their_neighbour() -> None:
    """A key that the format does not know stands behind the one it stood behind, and its value is not touched."""
    before = "title: JWT\nx-mine: {b: 'x',  a: 2}\n# odd\nodd: 'y'\ntaskstate: 1\n"
    assert laid(before) == "taskstate: 1\ntitle: JWT\nx-mine: {b: 'x',  a: 2}\n# odd\nodd: 'y'\n"


def test_inner_maps_are_ordered_too() -> None:
    """The keys of blocks and of brackets have their order, an outer map before an inner one."""
    before = (
        f"{KEYS}audit:\n  seal: x\n  # who\n  updated_by: me\n"
        "coordination:\n  validator: {drift_budget: 0, status: pending}\n  implementer: {status: pending}\n"
    )
    assert laid(before) == (
        f"{KEYS}coordination:\n  implementer: {{status: pending}}\n  validator: {{status: pending, drift_budget: 0}}\n"
        "audit:\n  # who\n  updated_by: me\n  seal: x\n"
    )


@pytest.mark.parametrize(
    "odd",
    [
        "status: &s created\narea: *s\ntitle: JWT\n",
        "baseline: &b {status: pending}\nx-b: {<<: *b}\ntitle: 'JWT'\n",
        "evidence:\n- path: a\n  id: b\n",
        "sessions: {total: 0, recent: 0, # a remark\n  archived: 0}\n",
        "sessions: {recent: , total: 0}\n",
    ],
)
def test_what_cannot_be_moved_safely_stays(odd: str) -> None:
    """Anchors, aliases and merges, entries behind a dash, and brackets with remarks or gaps, are left alone."""
    assert laid(odd) == odd


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("task_id: 101", 'task_id: "101"'),
        ("task_id: '101'", 'task_id: "101"'),
        ('title: "JWT"', "title: JWT"),
        ("title: 'it''s'", "title: it's"),
        ("title: 'a: b'", 'title: "a: b"'),
        ("title: yes", 'title: "yes"'),
        ("title: 010", 'title: "010"'),
        ("title: 1:30", 'title: "1:30"'),
        ("title: .5", 'title: ".5"'),
        ("title: abcdef1", 'title: "abcdef1"'),
        ("title: 2026-01-31 12:00", 'title: "2026-01-31 12:00"'),
        ("created_at: 2026-01-31T12:00:00Z", 'created_at: "2026-01-31T12:00:00Z"'),
        ("created_at:   2026-01-31  # a day", 'created_at:   "2026-01-31"  # a day'),
        ("depends_on: [100, 'a']", 'depends_on: ["100", a]'),
        ("depends_on:\n- 100\n- 'a'", 'depends_on:\n- "100"\n- a'),
        ("prd: ../2-planning/auth.md", "prd: ../2-planning/auth.md"),
        ("title: what, when & why?", "title: what, when & why?"),
        ("title: |\n  a\n  b", "title: |\n  a\n  b"),
        ("title: 'a\n  b'", "title: 'a\n  b'"),
        ("archive_path: ~", "archive_path: ~"),
        ("revision: 4", "revision: 4"),
        ("x-mine: 'a'", "x-mine: 'a'"),
        ("coordination: {x-mine: {qa: 'a', status: 'b'}}", "coordination: {x-mine: {qa: 'a', status: 'b'}}"),
    ],
)
def test_quoting(before: str, after: str) -> None:
    """A text is quoted where some YAML would take it for something else, and plain where it can be."""
    assert laid(f"{before}\n") == f"{after}\n"


def test_blanks_at_line_ends() -> None:
    """Blanks at line ends go, but for those in a text of several lines and behind a comment; blank lines stay."""
    before = "taskstate: 1  \n\n  \ntitle: |+\n  a  \n  b\nstatus: created  # so \n"
    assert laid(before) == "taskstate: 1\n\n\ntitle: |+\n  a  \n  b\nstatus: created  # so \n"
    assert format_text(f"---  \n{KEYS}---\t\n\n# T\n", NAME) == f"---\n{KEYS}---\n\n# T\n"


def test_block_text_moves_as_a_whole() -> None:
    """The blank lines at the end of a text that keeps them move with it."""
    before = "title: JWT\nprd: |+\n  a\n\n  # no comment\n\nepic: E\n"
    assert laid(before) == "title: JWT\nepic: E\nprd: |+\n  a\n\n  # no comment\n\n"
    assert laid("title: JWT\narea: b\nprd: |+\n  a\n\n") == "title: JWT\nprd: |+\n  a\n\narea: b\n"


def test_order_of_unknown_keys() -> None:
    """An unknown key has the place of the known one before it; in front of all it stays in front."""
    order = ("a", "b", "c")
    assert in_order(("x", "c", "y", "a", "z"), order) == (0, 3, 4, 1, 2)
    assert in_order(("a", "x", "c"), order) == (0, 1, 2)


def test_json_is_ordered_by_its_schema() -> None:
    """Objects at every level get their order, what is somebody's own is left as it is."""
    value = {"overall_progress": "0%", "features": [{"passes": True, "id": "a", "x-b": {"passes": 1, "id": 2}}]}
    found = with_ordered_keys(value, schema_root("checklist"))
    assert list(found) == ["features", "overall_progress"]
    assert list(found["features"][0]) == ["id", "x-b", "passes"]
    assert list(found["features"][0]["x-b"]) == ["passes", "id"]

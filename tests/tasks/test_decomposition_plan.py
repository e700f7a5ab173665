from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from taskstate.syntax.json_edit import json_text
from taskstate.tasks.decomposition_plan import (
    ASSUMED,
    Pace,
    Subtask,
    guidance,
    pace_of,
    plan_subtasks,
    read_open_features,
    sizing,
    sizings,
    subtasks_of,
)

if TYPE_CHECKING:
    from taskstate.tasks.part_words import OpenFeature

SLOW = Pace(sessions=20, features=2, own=True)
QUICK = Pace(sessions=2, features=4, own=True)


def state(*features: tuple[str, str] | dict[str, object], log: str = "", head: str = "") -> TaskState:
    """Return a task with these features: id and description, or as stored in the checklist."""
    listed = [
        each if isinstance(each, dict) else {"id": each[0], "description": each[1], "passes": False, "tested_at": None}
        for each in features
    ]
    checklist = json_text({"features": listed, "overall_progress": "0%"})
    top = f'---\ntask_id: "101"\n{head}---\n\n## 3. Feature Checklist\n\n```json\n{checklist}\n```\n\n'
    return read_state(parse(f"{top}## 4. Progress Log\n\n{log}"))


def told(*ids: str, description: str = "does it") -> list[OpenFeature]:
    """Return the parts for features with these ids."""
    return list(read_open_features(state(*((each, description) for each in ids))))


def groups(parts: tuple[Subtask, ...]) -> list[str]:
    """Return the features of each subtask in one text."""
    return [" ".join(part.features) for part in parts]


@pytest.mark.parametrize(
    ("ids", "pace", "expected"),
    [
        ("", ASSUMED, []),
        ("a", ASSUMED, ["a"]),
        ("a b", ASSUMED, ["a", "b"]),
        ("a b c d e", ASSUMED, ["a b c", "d e"]),
        ("a b c", SLOW, ["a b", "c"]),
        ("a b c d", SLOW, ["a b", "c d"]),
        ("a b c d e f g h i j k l m n o p", SLOW, ["a b c d", "e f g h", "i j k l", "m n o p"]),
        ("a b c", QUICK, ["a b", "c"]),
        ("jwt-1 ui-1 jwt-2 ui-2", ASSUMED, ["jwt-1 jwt-2", "ui-1 ui-2"]),
        ("jwt-1 ui-1", ASSUMED, ["jwt-1", "ui-1"]),
        ("jwt-1 jwt-2 jwt-3 ui-1", QUICK, ["jwt-1 jwt-2", "jwt-3 ui-1"]),
        (
            "a-1 a-2 b-1 b-2 c-1 c-2 d-1 d-2 e-1 e-2 e-3 f-1 f-2",
            SLOW,
            ["a-1 a-2 b-1 b-2", "c-1 c-2", "d-1 d-2", "e-1 e-2 e-3", "f-1 f-2"],
        ),
        ("xa-1 xb-1 xc-1 xd-1", ASSUMED, ["xa-1 xb-1", "xc-1 xd-1"]),
        ("x-1 x-2 x-3 x-4 y-1 y-2 z-1", ASSUMED, ["x-1 x-2 x-3 x-4", "y-1 y-2 z-1"]),
        ("login-form login-page api-get api-put", ASSUMED, ["login-form login-page", "api-get api-put"]),
    ],
)
def test_features_are_grouped_by_prefix_and_pace(ids: str, pace: Pace, expected: list[str]) -> None:
    """A prefix stays together, a subtask has two features or more, there are at most five, and not one alone."""
    assert groups(plan_subtasks("101", told(*ids.split()), pace)) == expected


def test_features_are_grouped_by_files() -> None:
    """What touches the same file goes together, whether the feature says so or a session."""
    log = "### Session 1 - 2026-01-01 10:00\n\n**What I did:**\n\n- c-1: begun in ./src/a.py, and/or e.g. nothing\n"
    features = (("a-1", "changes `src/a.py`"), ("b-1", "see https://x.org/y.html"), ("c-1", "x"), ("d-1", "in a/b.py"))
    parts = read_open_features(state(*features, log=log))
    assert [sorted(part.files) for part in parts] == [["src/a.py"], [], ["src/a.py"], ["a/b.py"]]
    assert groups(plan_subtasks("101", parts)) == ["a-1 c-1", "b-1 d-1"]


@pytest.mark.parametrize(
    ("feature_id", "description", "phase"),
    [
        ("jwt-1", "makes a token", 1),
        ("design-1", "x", 0),
        ("jwt-1", "Design the token", 0),
        ("jwt-tests", "x", 2),
        ("x", "Write the tests of it", 2),
        ("x", "add user documentation.", 3),
        ("docs.1", "Write tests", 3),
        ("x", "adds a field", 1),
        ("x", "stores a document", 1),
        ("x", "", 1),
    ],
)
def test_phase_of_a_feature(feature_id: str, description: str, phase: int) -> None:
    """The id tells the phase, else the beginning of the description; what says nothing is implementation."""
    (part,) = read_open_features(state((feature_id, description)))
    assert part.phase == phase


def test_phases_come_one_after_the_other() -> None:
    """Design comes first, documentation last, and each waits for the one before it alone."""
    ids = ("docs-1", "docs-2", "test-1", "test-2", "jwt-1", "jwt-2", "ui-1", "ui-2", "design-1", "design-2")
    parts = plan_subtasks("101", told(*ids))
    assert [(part.id, part.work, part.depends_on) for part in parts] == [
        ("101a", "design", ()),
        ("101b", "implementation", ("101a",)),
        ("101c", "implementation", ("101a",)),
        ("101d", "tests", ("101b", "101c")),
        ("101e", "documentation", ("101d",)),
    ]


def test_what_a_feature_says_precedes_the_phases() -> None:
    """A feature that names those it waits for waits for no others; a mere word is no id."""
    features = (
        ("ui-1", "shows it; needs `api` and jwt-1. Requires care."),
        ("jwt-1", "makes it"),
        ("test-1", "tests; after ui-1"),
        ("api", "answers once a jwt-1 is there"),
        ("a", "x"),
    )
    parts = read_open_features(state(*features))
    assert [sorted(part.waits) for part in parts] == [["api", "jwt-1"], [], ["ui-1"], ["jwt-1"], []]
    result = plan_subtasks("101", parts, SLOW)
    assert groups(result) == ["jwt-1 api", "ui-1 a test-1"]
    assert [part.depends_on for part in result] == [(), ("101a",)]


def test_circle_of_features_is_cut() -> None:
    """Features that wait for each other still come in some order."""
    parts = read_open_features(state(("x-1", "after x-2"), ("x-2", "after x-1"), ("x-3", "after x-3")))
    assert [part.depends_on for part in plan_subtasks("101", parts, SLOW)] == [(), ("101a",)]


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
    assert [part.id for part in plan_subtasks(task_id, told("x", "y"), taken=taken)] == ids


@pytest.mark.parametrize(
    ("title", "features", "names"),
    [
        (
            "Vault search",
            "vault-1 Vault search of keys|vault-2 Vault search of notes|http-1 Http: search|http-2 Search all of http",
            ["Vault", "Http"],
        ),
        (
            "Search",
            "search-1 Search of keys|search-2 Search of notes|a-1 Search|b-1 Search: by name",
            ["Of keys and 1 more", "A-1; By name"],
        ),
        (
            "Shop",
            "test-1 Test the cart|test-2 Test a cart|ui-1 Cart page|ui-2 Shop page of ui",
            ["Ui page", "Tests of cart"],
        ),
        ("Shop", "a-1 Shopping|b-1 Shop: orders|c-1 Carts|d-1 Bills", ["Shopping; Orders", "Carts; Bills"]),
    ],
)
def test_names_do_not_repeat_the_title(title: str, features: str, names: list[str]) -> None:
    """A part has one name, which adds something to the title of the task that stands before it."""
    listed = [(each.split(" ")[0], each.partition(" ")[2]) for each in features.split("|")]
    parts = subtasks_of(state(*listed)._replace(title=title))
    assert [part.name for part in parts] == names


def test_ids_that_the_task_names_are_taken() -> None:
    """A subtask that there was, and one that a feature went to, keep their ids."""
    moved = {"id": "m", "description": "m", "passes": False, "tested_at": None, "moved_to": "101a"}
    parts = subtasks_of(state(moved, ("x", "x"), ("y", "y"), head='subtasks: ["101b"]\n'))
    assert [(part.id, part.features) for part in parts] == [("101c", ("x",)), ("101d", ("y",))]


@pytest.mark.parametrize(
    ("passing", "sessions", "pace"), [(0, 3, ASSUMED), (1, 0, ASSUMED), (2, 3, Pace(3, 2, own=True))]
)
def test_pace_is_that_of_the_task(passing: int, sessions: int, pace: Pace) -> None:
    """The pace is the sessions of the features that pass; without either it is assumed."""
    done: list[dict[str, object]] = [
        {"id": f"d{n}", "description": "d", "passes": True, "tested_at": None} for n in range(passing)
    ]
    log = "".join(f"### Session {n} - 2026-01-01 10:00\n\n" for n in range(1, sessions + 1))
    assert pace_of(state(*done, ("x", "x"), log=log)) == pace


@pytest.mark.parametrize(
    ("number", "pace", "sessions"), [(1, ASSUMED, 3), (2, ASSUMED, 4), (1, SLOW, 8), (1, Pace(7, 2, own=True), 4)]
)
def test_estimate_is_of_3_to_8_sessions(number: int, pace: Pace, sessions: int) -> None:
    """The estimate follows the pace, rounded up, and is that of a task that is worth being one."""
    parts = plan_subtasks("101", told(*(f"{group}-{n}" for group in "xy" for n in range(number))), pace)
    assert [part.sessions for part in parts] == [sessions, sessions]


def test_table_of_sizes() -> None:
    """The table is the promised one, and every number has its row."""
    assert guidance(20) == "sessions: 1-3 simple, 4-10 watch, 11-20 consider decomposing, over 20 must be decomposed"
    names = [sizing(each, 20).name for each in (0, 1, 3, 4, 10, 11, 20, 21, 1000)]
    assert names == ["simple"] * 3 + ["watch"] * 2 + ["consider"] * 2 + ["must"] * 2


@pytest.mark.parametrize("most", range(1, 50))
def test_table_follows_the_limit(most: int) -> None:
    """Whatever the limit, the rows follow each other without a gap, and over it a task must be decomposed."""
    rows = sizings(most)
    assert rows[0].first == 1
    assert all((before.last or 0) + 1 == after.first for before, after in pairwise(rows))
    assert (rows[-1].name, rows[-1].first, rows[-1].last) == ("must", most + 1, None)
    assert guidance(3) == "sessions: 1 watch, 2-3 consider decomposing, over 3 must be decomposed"

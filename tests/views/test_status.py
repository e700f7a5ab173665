"""The status of tasks, as text and as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from taskstate.views import status
from taskstate.views.facts import is_active
from taskstate.views.layout import Screen
from taskstate.views.role_table import role_table
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded

NAMES = ("implementer", "reviewer", "validator")
TREE = "b" * 40
BLOCKS = f"""coordination:
  implementer: {{status: done, completed_at: "2026-01-31T12:00:00Z", drift_budget: 2}}
  reviewer: {{status: blocked, session_id: s-7, blocking_findings: [no test, "a: b"]}}
  tester: {{status: pending}}
delta:
  base_commit: "{TREE}"
  snapshots:
    implementer:
      {{base_commit: "{TREE}", snapshot_time: "2026-01-31T11:00:00Z", actor: ann, tree: "{TREE}", diff_stat: 2 files}}
handoffs: {{count: 1, open: handoffs/task-101/x.md}}
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, which is in progress."""
    made = Place(tmp_path / "repository")
    made.add("Began.", next=("Write the test\nand run it", "Then rest"))
    return made


def with_blocks(place: Place, blocks: str = BLOCKS) -> Loaded:
    """Return the task with blocks of the tool's in it."""
    place.text = place.text.replace("audit:\n", f"{blocks}audit:\n", 1)
    return place.workspace.load(place.path)


def test_status_as_text(place: Place) -> None:
    """The text has roles with marks, findings, drift with its remedy, the open handoff, and the next step."""
    assert status.status_text(place.workspace, with_blocks(place)) == (
        "101  JWT Service  (in progress)\n"
        "  [x] implementer done  [!] reviewer blocked  [ ] validator  [ ] tester\n"
        "  finding of reviewer: 1. no test\n"
        "  finding of reviewer: 2. a: b\n"
        "  drift: the tree was not what implementer left (`taskstate snapshot verify 101 --role implementer --dry-run`)"
        '; `taskstate snapshot resolve 101 --note "WHY"` accepts what is there\n'
        "  open handoff: handoffs/task-101/x.md\n"
        "  next: Write the test"
    )


def test_status_as_json_values(place: Place) -> None:
    """The JSON form has the same; a role that is not configured says so."""
    told: dict[str, Any] = status.status_shape(place.workspace, with_blocks(place))
    roles = {role["role"]: role for role in told.pop("roles")}
    assert told == {
        "id": "101",
        "path": ".taskstate/tasks/task-101-state.md",
        "title": "JWT Service",
        "status": "in_progress",
        "revision": 2,
        "role": "reviewer",
        "findings": 2,
        "drift": ["implementer"],
        "attention": [
            {"label": "findings", "text": "2 open findings (`taskstate role show 101`)"},
            {
                "label": "drift",
                "text": "the tree was not what implementer left "
                "(`taskstate snapshot verify 101 --role implementer --dry-run`); "
                '`taskstate snapshot resolve 101 --note "WHY"` accepts what is there',
            },
        ],
        "handoff": "handoffs/task-101/x.md",
        "next_step": "Write the test",
    }
    assert [(name, role["configured"]) for name, role in roles.items()] == [
        *((name, True) for name in NAMES),
        ("tester", False),
    ]
    assert roles["reviewer"] == {
        "role": "reviewer",
        "configured": True,
        "status": "blocked",
        "completed_at": None,
        "session_id": "s-7",
        "findings": [{"id": 1, "text": "no test"}, {"id": 2, "text": "a: b"}],
        "drift_budget": 0,
        "snapshot": None,
    }
    assert roles["implementer"]["snapshot"] == {
        "snapshot_time": "2026-01-31T11:00:00Z",
        "actor": "ann",
        "base_commit": TREE,
        "tree": TREE,
        "diff_stat": "2 files",
    }


def test_the_roles_are_a_table(place: Place) -> None:
    """A row for each role, and the findings below, with the numbers by which they can be named."""
    assert role_table(place.workspace, with_blocks(place), Screen("")) == (
        "ROLE         STATUS   COMPLETED          SNAPSHOT           DIFF     FINDINGS  DRIFT\n"
        "implementer  done     2026-01-31 12:00Z  2026-01-31 11:00Z  2 files  -         2\n"
        "reviewer     blocked  -                  -                  -        2         -\n"
        "validator    pending  -                  -                  -        -         -\n"
        "tester       pending  -                  -                  -        -         -\n"
        "\n"
        "findings of reviewer:\n"
        "  1. no test\n"
        "  2. a: b"
    )


@pytest.mark.parametrize(
    ("words", "blocks", "shown"),
    [
        ("created", "", False),
        ("in_progress", "", True),
        ("blocked", "", True),
        ("complete", "", False),
        ("created", "coordination: {implementer: {status: in_progress}}\n", True),
        ("created", "delta: {turn: {agent: ann}}\n", True),
        ("complete", "coordination: {implementer: {status: done}}\n", False),
    ],
)
def test_tasks_at_work_are_shown(place: Place, words: str, blocks: str, shown: bool) -> None:  # noqa: FBT001 - a parameter
    """Active tasks are in progress or blocked, have an open turn, started roles, or an unresolved drift."""
    place.text = place.text.replace("status: in_progress", f"status: {words}", 1)
    with_blocks(place, blocks)
    assert is_active(place.workspace.load(place.path)) == shown


def test_without_a_step_the_first_open_feature_is_next(place: Place) -> None:
    """An open feature is the next step, by id and description; if all pass there is none."""
    place.new("7")
    fresh = place.workspace.load(place.path.with_name("task-7-state.md"))
    assert status.next_step(fresh) == "jwt-1: makes a JWT"
    text = place.text.replace('"passes": false', '"passes": true')
    place.text = text[: text.index("### Session")] + text[text.index("## 5.") :]
    assert status.next_step(place.workspace.load(place.path)) is None

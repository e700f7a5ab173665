from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.tasks.size_warning import suggestion, warning
from taskstate.views.overview import overview, task_shape
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def shape(place: Place) -> dict[str, object]:
    """Return task 101 as programs read it, through JSON."""
    data: dict[str, object] = json.loads(json.dumps(task_shape(place.workspace.load(place.path))))
    return data


def test_shape_of_a_task(place: Place) -> None:
    """A task has the promised keys, with what the file says."""
    place.new("100")
    place.text = place.text.replace("status: created", "status: blocked\npriority: P1\narea: web\ndepends_on: ['100']")
    place.fill(1, 2, 3)
    place.prove("jwt-1")
    place.check(1)
    place.archive(keep=2)
    result = shape(place)
    token = result.pop("token")
    assert isinstance(token, str)
    assert token.startswith("4-")
    assert result == {
        "id": "101",
        "path": ".taskstate/tasks/task-101-state.md",
        "kind": "task",
        "title": "JWT Service",
        "status": "blocked",
        "imported": False,
        "revision": 4,
        "size_kb": 2,
        "priority": "P1",
        "area": "web",
        "epic": None,
        "parent": None,
        "subtasks": [],
        "depends_on": ["100"],
        "created_at": "2026-01-31T12:01:00Z",
        "sessions": {"total": 3, "archived": 1, "recent": 2},
        "features": {"passing": 1, "all": 1},
        "open_features": [],
        "criteria": [
            {"number": 1, "text": "Tokens verify", "checked": True},
            {"number": 2, "text": "Tokens expire", "checked": False},
        ],
        "next_steps": ["next 3"],
        "turn": None,
        "problems": [],
    }


def test_shape_of_a_damaged_task(place: Place) -> None:
    """What cannot be read is missing from the shape, and the problems say why."""
    place.text = place.text.replace('"passes": false', '"passes": maybe').replace("title: JWT", "title: a: JWT")
    result = shape(place)
    assert (result["id"], result["title"], result["features"]) == (TASK, "", {"passing": 0, "all": 0})
    assert len(str(result["problems"])) > 20


def test_overview_says_what_matters(place: Place) -> None:
    """A person sees id, title, path, size, token, status, sessions, criteria, features and next steps."""
    place.add("One.", next=("First.\nIn two lines.", "Then."))
    place.prove("jwt-1")
    loaded = place.workspace.load(place.path)
    assert overview(loaded).split("\n") == [
        "101  JWT Service",
        f"  .taskstate/tasks/task-101-state.md, 2 KB, revision {loaded.token}",
        "  status in_progress, 1 session",
        "  acceptance criteria:",
        "    1. [ ] Tokens verify",
        "    2. [ ] Tokens expire",
        "  features, 1 of 1 pass:",
        "    [x] jwt-1  makes a JWT",
        "  next steps:",
        "    - First.",
        "      In two lines.",
        "    - Then.",
    ]


def test_overview_of_a_damaged_task_says_so(place: Place) -> None:
    """What cannot be read is reported, and the rest is shown."""
    place.text = place.text.replace('"passes": false', '"passes": maybe')
    result = overview(place.workspace.load(place.path))
    assert "  cannot be read: " in result
    assert "1. [ ] Tokens verify" in result


def warned(place: Place, **size: int) -> tuple[str, ...]:
    """Return the warning about task 101 with these limits."""
    place.configure("[size]\n" + "".join(f"{key.replace('_', '-')} = {value}\n" for key, value in size.items()))
    return warning(place.workspace, place.state)


def test_no_warning_within_the_limits(place: Place) -> None:
    """As many sessions as are allowed are none too many."""
    place.fill(1, 2)
    assert warned(place, max_sessions=2) == ()


def test_too_many_sessions_are_warned_of(place: Place) -> None:
    """The warning says how many, what is open, and the commands to run; a complete task gets none."""
    place.fill(1, 2)
    text = "task 101 is too long: 2 sessions (over 1 are too many), 2 KB"
    assert warned(place, max_sessions=1) == (
        text,
        "too few features are open to decompose it: jwt-1",
        "complete: `taskstate complete 101`",
        "continue: `taskstate start 101`",
        "dismiss until session 12: `taskstate decompose 101 --dismiss`",
    )
    place.prove()
    assert warned(place, max_sessions=1)[:2] == (text, "no feature is open")
    place.text = place.text.replace("status: created", "status: complete")
    assert warned(place, max_sessions=1) == ()


@pytest.mark.parametrize(("sessions", "is_said"), [(2, False), (3, True), (4, False), (12, False), (13, True)])
def test_too_many_sessions_are_told_every_tenth_time(place: Place, sessions: int, *, is_said: bool) -> None:
    """Of sessions that are added, the first one over the limit is told and then every tenth, so that it is read."""
    place.fill(*range(1, sessions + 1))
    place.configure("[size]\nmax-sessions = 2\n")
    assert bool(suggestion(place.workspace, place.state, added=1)) is is_said


def test_file_over_the_limit_is_warned_of(place: Place) -> None:
    """What archiving can fix names that command; where it cannot, the task is too long, unless it is complete."""
    place.fill(1, 2)
    large = "The file of task 101 is 2 KB, and the limit is 1 KB."
    keep = {"max_kb": 1, "keep_sessions": 1}
    first, largest, head = warned(place, max_kb=1)[:3]
    assert (first, head) == (large, "task 101 is too long: 2 sessions, 2 KB")
    assert largest.startswith("The largest: the front matter (1 KB), ")
    archive = "To archive older sessions: taskstate archive 101"
    assert warned(place, **keep) == (large, archive)
    place.text = place.text.replace("status: created", "status: complete")
    assert warned(place, **keep) == (large, archive)

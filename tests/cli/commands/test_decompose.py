from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.place import tree
from tests.support.terminal import seen

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

MANY = "[size]\nmax-sessions = 2\n"


def test_subtasks_are_suggested_as_a_table(cli: Cli, place: Place) -> None:
    """Each subtask has a line with its estimate, its features and what it comes after; nothing is written."""
    cli.ok("feature", "add", "101", "test-1", "verifies")
    before = tree(place.root)
    assert cli.ok("decompose", "101") == (
        "task 101: 2 open features, at 2 sessions for 1 feature (assumed: none passes yet)\n"
        "\n"
        "ID    NAME         SESSIONS  WORK            AFTER  FEATURES\n"
        "101a  Makes a JWT  3         implementation  -      jwt-1\n"
        "101b  Verifies     3         tests           101a   test-1\n"
        "\n"
        "`taskstate decompose 101 --apply` creates them\n"
    )
    assert tree(place.root) == before


def test_suggestion_in_json(cli: Cli, place: Place) -> None:
    """A program gets the pace and the subtasks."""
    data = cli.json("decompose", "#101")
    assert data == {
        "path": ".taskstate/tasks/task-101-state.md",
        "revision": place.workspace.load(place.path).token,
        "changed": False,
        "id": "101",
        "pace": {"sessions": 2, "features": 1, "own": False},
        "subtasks": [
            {
                "id": "101a",
                "name": "Makes a JWT",
                "features": ["jwt-1"],
                "sessions": 3,
                "work": "implementation",
                "depends_on": [],
            }
        ],
    }


def test_pace_is_told(cli: Cli, place: Place) -> None:
    """Where features pass, the estimate says what it is from."""
    place.add()
    place.prove()
    cli.ok("feature", "add", "101", "ui-1", "shows")
    assert cli.ok("decompose", "101").startswith("task 101: 1 open feature, at 1 session for 1 feature (as so far)\n")


def test_subtasks_are_created(cli: Cli) -> None:
    """With --apply they are there, and all lints; a second time nothing is left to move."""
    cli.ok("feature", "add", "101", "test-1", "verifies")
    assert cli.ok("decompose", "101", "--apply") == (
        ".taskstate/tasks/task-101-state.md: divided into 101a, 101b\n"
        "  task 101a, Makes a JWT: jwt-1; about 3 sessions\n"
        "  task 101b, Verifies: test-1; about 3 sessions\n"
    )
    assert cli.ok("lint") == "No findings in 3 files.\n"
    assert cli.ok("fmt", "--check") == "3 files already in form\n"
    assert "others went to 101a, 101b" in cli.refused("decompose", "101", "--apply")
    assert "no open feature" in cli.refused("decompose", "101")


def test_subtasks_in_json(cli: Cli) -> None:
    """A program gets the new revision and what was created."""
    data = cli.json("decompose", "101", "--apply")
    assert (data["changed"], data["revision"][:2], [each["id"] for each in data["subtasks"]]) == (True, "2-", ["101a"])
    assert data["notes"] == ["task 101a, Makes a JWT: jwt-1; about 3 sessions"]


def test_conditions_need_a_change(cli: Cli) -> None:
    """What only a change can heed is refused without one; a revision that is past refuses the change."""
    assert "--apply" in cli.refused("decompose", "101", "--dry-run")
    assert "--apply" in cli.refused("decompose", "101", "--expect-revision", "1")
    assert "revision" in cli.refused("decompose", "101", "--apply", "--expect-revision", "7")
    assert "task-101a-state.md" in cli.ok("decompose", "101", "--apply", "--dry-run")


@pytest.mark.parametrize(("answer", "made"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_a_person_is_asked(place: Place, answer: str, *, made: bool) -> None:
    """At a terminal the table is followed by a question, and a yes creates what the table shows."""
    command = (sys.executable, "-m", "taskstate", "decompose", "101")
    assert "Create them now" not in seen(command, cwd=place.root)[1]
    status, shown = seen(command, cwd=place.root, typed=answer)
    assert (status, "Create them now? [y/N] " in shown, "divided into 101a" in shown) == (0, True, made)
    assert (place.workspace.tasks / "task-101a-state.md").exists() is made


def test_warning_in_a_pipe_is_plain(cli: Cli, place: Place) -> None:
    """Over the limit, `session add` and `show` say on standard error what to run; quiet says nothing."""
    place.configure(MANY)
    place.fill(1, 2)
    place.prove()
    warning = (
        "task 101 is too long: 3 sessions (over 2 are too many), 2 KB\n"
        "no feature is open\n"
        "complete: `taskstate complete 101`\n"
        "continue: `taskstate start 101`\n"
        "dismiss until session 13: `taskstate decompose 101 --dismiss`\n"
    )
    add = ("session", "add", "101", "--did", "x", "--state", "s", "--next", "n")
    assert cli("show", "101").err == ""
    assert cli(*add).err == warning
    assert cli("show", "101").err == warning
    assert cli("show", "101", "--quiet").err == ""


def test_warning_in_a_terminal_is_a_box(place: Place) -> None:
    """Somebody at a terminal sees the warning in a frame."""
    place.configure(MANY)
    place.fill(1, 2, 3)
    place.prove()
    status, shown = seen((sys.executable, "-m", "taskstate", "show", "101"), cwd=place.root)
    assert status == 0
    assert shown.endswith(
        "╭───────────────────────────────────────────────────────────────╮\n"
        "│ task 101 is too long: 3 sessions (over 2 are too many), 2 KB  │\n"
        "│ no feature is open                                            │\n"
        "│ complete: `taskstate complete 101`                            │\n"
        "│ continue: `taskstate start 101`                               │\n"
        "│ dismiss until session 13: `taskstate decompose 101 --dismiss` │\n"
        "╰───────────────────────────────────────────────────────────────╯\n"
    )


def test_terminal_without_room_gets_no_box(place: Place) -> None:
    """A line that a frame would make too long for the terminal stands as it is."""
    place.new("9" * 64)
    place.configure("[size]\nmax-tokens = 1\n")
    _, shown = seen((sys.executable, "-m", "taskstate", "show", "9" * 64), cwd=place.root)
    assert re.search(rf"^The file of task {'9' * 64} is about \d+ tokens, and the limit is 1\.$", shown, re.MULTILINE)

"""What only looks reads all worktrees of a repository; what writes stays in its own, and names where a task is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.git_place import GitPlace

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

GONE = "if it was moved, `git worktree repair NEW-PATH`; if it was deleted, `git worktree prune`"


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with tasks 101 and 102."""
    made = GitPlace(tmp_path / "repository")
    made.new("102", depends_on=("101",))
    made.commit("tasks")
    return made


@pytest.fixture
def side(cli: Cli, place: GitPlace, tmp_path: Path) -> Path:
    """Return a linked worktree, in which task 101 goes on, and task 103 was created."""
    there = tmp_path / "a side"
    place.git("worktree", "add", "--quiet", "-b", "side", str(there))
    words = ("--did", "Sewed with a needle", "--state", "s", "--next", "n")
    cli.ok("session", "add", "101", *words, "--root", there)
    cli.ok("new", "103", "--title", "Only there", "--root", there)
    return there


def rows(cli: Cli, *arguments: str) -> list[tuple[str, str, str]]:
    """Return id, status and branch of what is listed."""
    return [(each["id"], each["status"], each.get("branch", "")) for each in cli.json("list", *arguments)]


def test_the_list_has_the_tasks_of_all_worktrees(cli: Cli, side: Path) -> None:
    """One that differs stands for both, the newest first, and counts as the newest; one that is the same once."""
    everything = [("101", "in_progress", "side"), ("101", "created", "main"), ("102", "created", "")]
    assert rows(cli) == [*everything, ("103", "created", "side")]
    lines = cli.ok("list").split("\n")
    assert [line.rpartition(" ")[2] for line in lines[1:5]] == ["[side]", "[main]", "Service", "[side]"]
    assert [each.get("worktree") for each in cli.json("list")] == [str(side), None, None, str(side)]
    assert rows(cli, "--status", "created") == [*everything[2:], ("103", "created", "side")]
    assert rows(cli, "--ready") == [everything[0], ("103", "created", "side")]
    path = side / ".taskstate/tasks/task-101-state.md"
    path.write_text(path.read_text().replace("status: in_progress", "status: complete"))
    assert rows(cli, "--ready") == [everything[2], ("103", "created", "side")]


def test_a_task_is_shown_as_each_worktree_has_it(cli: Cli, side: Path) -> None:
    """The newest first, and that of this worktree; to a program this one's, on which it can write, with the others."""
    for command in ("show", "status"):
        text = cli.ok(command, "101")
        assert text.index(" [side]\n") < text.index(" [main]\n")
        data = cli.json(command, "101")
        assert (data["status"], "branch" in data) == ("created", False)
        assert [(each["status"], each["branch"]) for each in data["elsewhere"]] == [("in_progress", "side")]
        assert "also [main]: created," in cli.ok(command, "101", "--root", side)
        assert "[" not in cli.ok(command, "102").split("\n")[0]
        assert cli.ok(command, "103").split("\n")[0].endswith(" [side]")
        assert cli.json(command, "103")["worktree"] == str(side)
        assert "there is no task 104" in cli.refused(command, "104")
    said = cli("show", "101", "--section", "Task Description")
    assert said.err == f"newer on side: {side}/.taskstate/tasks/task-101-state.md\n"


def test_all_worktrees_are_searched(cli: Cli, side: Path) -> None:
    """With a path that can be opened, and the branch; what several say is told once."""
    place = f"{side}/.taskstate/tasks/task-101-state.md:"
    for arguments in (("needle",), ("needle", "--task", "101")):
        text = cli.ok("search", *arguments)
        assert (text.startswith(place), text.count("\n"), text.endswith(" [side]\n")) == (True, 1, True)
    (found,) = cli.json("search", "needle")["found"]
    assert (found["worktree"], found["branch"]) == (str(side), "side")
    assert [each["task"] for each in cli.json("search", "title: ")["found"]] == ["101", "102", "103"]
    assert cli.json("search", "Only there", "--task", "103")["found"]


def test_a_command_that_needs_a_task_of_another_worktree_names_where_it_is(cli: Cli, side: Path) -> None:
    """With the path, the branch, and a command that works."""
    for command in (("edit", "103", "--priority", "P1"), ("brief", "103"), ("start", "103", "--agent", "ann")):
        said = cli.refused(*command)
        assert f"task 103 is not in this worktree, but in {side} (branch side): " in said
        assert f"`taskstate show 103 --root '{side}'`" in said


def test_on_the_board_a_task_stands_once(cli: Cli, side: Path) -> None:
    """As it is where it was written last; that it is older elsewhere is a mark."""
    cards = {each["column"]: each["tasks"] for each in cli.json("board")["columns"]}
    told = {name: [(card["id"], card["branch"]) for card in each] for name, each in cards.items() if each}
    assert told == {"ready": [("103", "side")], "waiting": [("102", "")], "in_progress": [("101", "side")]}
    assert cards["in_progress"][0]["others"] == ["older on main"]
    path = side / ".taskstate/tasks/task-102-state.md"
    path.write_bytes(b"\xff")
    cards = {each["column"]: each["tasks"] for each in cli.json("board", status=1)["columns"]}
    assert [(card["id"], card["others"]) for card in cards["waiting"]] == [("102", ["damaged on side"])]


def test_what_is_older_needs_nobody(cli: Cli, place: GitPlace, side: Path) -> None:
    """A task that was blocked here, and goes on in another worktree, is not blocked."""
    place.text = place.text.replace("status: created", "status: blocked")
    assert cli.json("status")["needs"] == []
    assert [(each["id"], each["branch"]) for each in cli.json("status")["tasks"]] == [("101", "side")]
    assert side.is_dir()


def test_a_worktree_that_is_gone_is_named(cli: Cli, place: GitPlace, side: Path) -> None:
    """Its tasks are not offered as they were before, and what is told brings them back, or says what is lost."""
    moved = side.rename(side.with_name("moved"))
    line = f"the worktree {side} (branch side) is gone: {GONE}"
    newest = "the newest state of 101, 103, written in a worktree that is gone"
    assert cli.json("status")["unknown"] == [f"not looked at: {line}", f"not looked at: {newest}"]
    assert cli.json("status")["totals"]["ready"] == 0
    views: tuple[tuple[str, ...], ...] = (("list",), ("board",), ("show", "101"))
    for view in views:
        assert cli(*view).err == f"{line}\n{newest}\n"
    for view in (("search", "title"), ("log", "101")):
        assert cli(*view).err == f"{line}\n"
    assert ["101", "created", "0/1", "0", "simple", "2", "JWT", "Service", "[out", "of", "date]"] in [
        line.split() for line in cli.ok("list").split("\n")
    ]
    assert cli.json("list", "--ready") == []
    (waiting,) = [each["tasks"] for each in cli.json("board")["columns"] if each["column"] == "waiting"]
    assert [(each["id"], each["why"]) for each in waiting] == [
        ("101", "newer in a worktree that is gone"),
        ("102", "it waits for 101"),
    ]
    assert GONE in cli.refused("edit", "103", "--priority", "P1")
    place.git("worktree", "lock", str(side))
    unlock = f"`git worktree unlock '{side}'` and `git worktree prune`"
    assert unlock in cli("list").err
    place.git("worktree", "unlock", str(side))
    place.git("worktree", "repair", str(moved))
    assert (cli("list").err, rows(cli)[0]) == ("", ("101", "in_progress", "side"))
    moved.rename(side.with_name("away"))
    place.git("worktree", "prune")
    assert "task-103-state.md: the file itself" in cli("list").err

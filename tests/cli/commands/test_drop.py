from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.support.git_place import GitPlace
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

STATE = ".taskstate/tasks/task-101-state.md"
REFUSED = 'taskstate: task 101 is dropped: `taskstate reopen 101 --note "WHY"` reopens it\n'


@pytest.fixture
def place(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101."""
    return GitPlace(tmp_path / "repository")


def test_a_task_is_dropped_and_reopened(cli: Cli, place: GitPlace) -> None:
    """The command says what it did, the second time that it was so already, and `reopen` takes the task back."""
    before = tree(place.root)
    assert "+status: dropped\n" in cli.ok("drop", "101", "--note", "no", "--dry-run")
    assert tree(place.root) == before
    assert cli.ok("drop", "101", "--note", "-", stdin="the library\ndoes it\n") == f"{STATE}: dropped\n"
    assert 'note: "the library\\ndoes it"' in place.text
    assert cli.ok("drop", "101", "--note", "again") == f"{STATE}: nothing to change\n  dropped already\n"
    data = cli.json("drop", "101", "--note", "again")
    assert (data["changed"], data["notes"]) == (False, ["dropped already"])
    assert "101  dropped" in cli.ok("list", "--status", "dropped")
    assert cli.ok("lint") == "No findings in 1 file.\n"
    assert cli.ok("reopen", "101", "--note", "still wanted") == f"{STATE}: in progress again\n"
    assert "--note" in cli("drop", "101").err


@pytest.mark.parametrize(
    "command",
    [
        "feature add 101 jwt-2 verifies",
        "feature pass 101 jwt-1 --run false",
        "feature fail 101 jwt-1",
        "criterion check 101 1",
        "role set 101 implementer --status in_progress",
        "role block 101 implementer --finding slow",
        "snapshot take 101 --role implementer",
        "snapshot verify 101 --role implementer",
        "snapshot resolve 101 --note fine",
        "phase add 101 1 --name Tokens",
        "handoff new 101 --draft",
        "handoff accept 101",
        "complete 101",
        "complete 101 --force --note x",
        "decompose 101",
    ],
)
def test_what_a_dropped_task_refuses(cli: Cli, place: GitPlace, command: str) -> None:
    """Each command refuses in one line with the way out, before it does anything."""
    cli.ok("drop", "101", "--note", "given up")
    before = tree(place.root)
    result = cli(*command.split())
    assert (result.status, result.err) == (2, REFUSED)
    assert tree(place.root) == before


def test_deleted_files_of_a_dropped_task_are_nobodys_loss(cli: Cli, place: GitPlace) -> None:
    """What no commit holds may go after `drop`; `list` says nothing and `doctor` finds nothing."""
    work(cli)
    cli.ok("drop", "101", "--note", "given up")
    delete(place)
    result = cli("list")
    assert (result.status, result.out, result.err) == (0, "no tasks\n", "")
    result = cli("doctor")
    assert result.status == 0, result.out
    cli.ok("new", "101", "--title", "Another")


def test_deleted_files_of_an_open_task_are_told(cli: Cli, place: GitPlace) -> None:
    """Without `drop` the same deletion is a loss for both commands, and the id is not free."""
    work(cli)
    delete(place)
    assert "gone, recorded" in cli("list").err
    assert cli("doctor").status == 1
    assert cli("new", "101", "--title", "Another").status == 2


def test_the_open_handoff_of_a_dropped_task_is_accepted_when_it_is_reopened(cli: Cli, place: GitPlace) -> None:
    """The document stays open while the state file names none; lint tells that only when the task is open again."""
    work(cli)
    cli.ok("drop", "101", "--note", "given up")
    assert "open: null" in place.text
    assert cli("lint").status == 0
    cli.ok("reopen", "101", "--note", "still wanted")
    assert "TS807" in cli("lint").out
    cli.ok("handoff", "accept", "101")
    assert cli("lint").status == 0


def work(cli: Cli) -> None:
    """Record a session, archive it, and hand the task over."""
    cli.ok("init")
    for did in "xy":
        cli.ok("session", "add", "101", "--did", did, "--state", "y", "--next", "z")
    cli.ok("archive", "101", "--force", "--keep", "1")
    where = ("--file", "a.txt", "--location", "top", "--goal", "done")
    cli.ok("handoff", "new", "101", "--action", "Go on.", *where)


def delete(place: GitPlace) -> None:
    """Delete state file, archive and handoffs of task 101."""
    place.path.unlink()
    place.archive_path.unlink()
    shutil.rmtree(place.workspace.state_root / "handoffs/task-101")

"""Drift of files that several tasks left is told once, and each of the tasks is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.storage.git import worktree
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.support.turns import Turns


def test_one_edit_is_one_need_of_all_paused_tasks(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working tree is read once for all of them; what accepts it is named for the first."""
    cli, place = turns.cli, turns.place
    tasks = ("101", "102", "103", "104")
    for task in tasks:
        if task != "101":
            cli.ok("new", task, "--title", "More")
        cli.ok("start", task, "--agent", "ann")
        place.write(f"src/{task}.py", task)
        cli.ok("finish", task, *turns.words("Began."), "--pause")
        place.commit(f"Task: {task}")
    place.write("a.txt", "edited\n")
    written, write_tree = [], worktree.write_tree

    def counted(area: worktree.Scratch) -> str:
        written.append(area)
        return write_tree(area)

    monkeypatch.setattr(worktree, "write_tree", counted)
    (need,) = cli.json("status")["needs"]
    assert (need["kind"], need["task"], need["others"]) == ("drift", "101", [*tasks[1:]])
    assert need["text"] == "a.txt is not what ann left (and so of 102, 103 and 1 more)"
    assert "snapshot resolve 101" in need["actions"][1]
    assert len(written) == 3  # to see whether anything differs, and for the comparisons with what is staged
    assert cli.ok("board").count("drift") == len(tasks)


@pytest.mark.parametrize("role", [(), ("--role", "implementer")])
def test_drift_is_told_with_the_way_back_that_works_as_printed(turns: Turns, role: tuple[str, ...]) -> None:
    """With roles and without, changed and deleted files are named; one that is new has no way back."""
    cli, place = turns.cli, turns.place
    cli.ok("start", TASK, "--agent", "ann", *role)
    place.write("a.txt", "begun\n")
    cli.ok("finish", TASK, *turns.words("Began."))
    place.write("a.txt", "by hand\n")
    place.write("new.txt", "by hand, too\n")
    (need,) = cli.json("status")["needs"]
    flag = "".join(f" {each}" for each in role)
    assert need["actions"][2] == f"taskstate snapshot verify {TASK}{flag} --restore a.txt"
    assert f"`{need['actions'][2]}` puts back what was left" in " ".join(cli.ok("status", TASK).split())
    assert cli(*need["actions"][2].split()[1:]).status == 1  # the new file is there still
    assert (place.root / "a.txt").read_text(encoding="utf-8") == "begun\n"
    (need,) = cli.json("status")["needs"]
    assert need["paths"] == ["new.txt"]
    assert not any("--restore" in each for each in need["actions"])

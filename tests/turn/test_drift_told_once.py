"""Drift of files that several tasks left is told once, and each of the tasks is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.storage.git import worktree

if TYPE_CHECKING:
    import pytest

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

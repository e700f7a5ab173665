"""A task that git's index has and a sparse checkout leaves out is there: what asks for other tasks finds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LEFT_OUT = ".taskstate/tasks/task-101-state.md"


def test_a_task_that_is_left_out_is_no_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Lint, what is next, the graph and the inputs know it; who wants to work on it is told how to bring it here."""
    place = GitPlace(tmp_path / "repository")
    place.new("102", depends_on=(TASK,))
    place.commit("two tasks")
    place.git("sparse-checkout", "set", "--no-cone", "/*", f"!/{LEFT_OUT}")
    assert not place.path.exists()
    monkeypatch.chdir(place.root)
    cli = Cli(place, monkeypatch, capfd)
    other = place.path.with_name("task-102-state.md")
    for arguments in ((), ("--staged",), (other,)):
        assert "No findings in" in cli.ok("lint", *arguments)
    assert "102  JWT Service: it waits for 101" in cli.ok("next")
    assert "[ ] 101  JWT Service" in cli.ok("graph")
    assert "no task" not in cli.ok("start", "102")
    assert "is committed, and only gone from here" in cli.refused("new", TASK, "--title", "Again")
    refused = cli.refused("start", TASK)
    assert "left out of this sparse checkout" in refused
    place.git(*refused.partition("`git ")[2].partition("`")[0].split())  # the cure as printed
    cli.ok("start", TASK)


def test_an_archive_that_is_left_out_is_not_called_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nothing is written without it, and the cure as printed brings it here."""
    place = GitPlace(tmp_path / "repository")
    for number in range(6):
        place.add(f"Did {number}.")
    monkeypatch.chdir(place.root)
    cli = Cli(place, monkeypatch, capfd)
    cli.ok("archive", TASK, "--force")
    place.commit("archived")
    place.git("sparse-checkout", "set", "--no-cone", "/*", "!/.taskstate/archives/")
    said = cli("session", "add", TASK, "--did", "More.", "--state", "s", "--next", "n").err
    assert "archive archives/task-101-archive.md is left out of this sparse checkout" in said
    cli.ok("doctor", "--fix")
    cli.ok("session", "add", TASK, "--did", "More.", "--state", "s", "--next", "n")

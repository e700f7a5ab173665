"""`doctor --fix` replaces a damaged file by the newest text of this branch, not by what was written on another."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import RunCli

STATE = ".taskstate/tasks/task-101-state.md"
BY_HAND = "Agreed with the client: at most 80 characters."


@pytest.fixture
def state(repository: Path, run_cli: RunCli) -> Path:
    """Return the committed state file of a task."""
    assert run_cli("init").returncode == 0
    new = ("new", "101", "--title", "T", "--description", "Its text.", "--criterion", "c1", "--feature", "f-1=does")
    assert run_cli(*new).returncode == 0
    commit(repository)
    return repository / STATE


def git(repository: Path, *arguments: str) -> str:
    """Run git, which must end well."""
    return subprocess.run(["git", *arguments], cwd=repository, check=True, capture_output=True, text=True).stdout


def commit(repository: Path) -> None:
    """Commit everything."""
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "a step")


def cut(state: Path, size: int) -> None:
    """Cut a file, as a full disk does."""
    state.write_bytes(state.read_bytes()[:size])


def body(text: str) -> str:
    """Return what is behind the front matter, where each write leaves who wrote and when."""
    return text.split("\n---\n", 1)[1]


@pytest.mark.parametrize("size", [300, 1100])
def test_another_branch_is_left_where_it_is(repository: Path, state: Path, run_cli: RunCli, size: int) -> None:
    """What a command wrote last was on another branch: what HEAD has here comes back, and nothing of the other."""
    done = run_cli("chain", "output", "set", "101", "notes", "--from", "-", stdin="A note on main.\n")
    assert done.returncode == 0, done.stderr
    commit(repository)
    git(repository, "checkout", "--quiet", "-b", "other", "HEAD~1")
    assert run_cli("feature", "pass", "101", "f-1", "--evidence", "tests pass there").returncode == 0
    commit(repository)
    git(repository, "checkout", "--quiet", "main")
    cut(state, size)
    fixed = run_cli("doctor", "--fix")
    assert fixed.returncode == 0, fixed
    assert body(state.read_text()) == body(git(repository, "show", f"HEAD:{STATE}"))


@pytest.mark.parametrize("size", [300, 1300])
def test_what_was_committed_by_hand_comes_back(repository: Path, state: Path, run_cli: RunCli, size: int) -> None:
    """HEAD's text is that of the last write and what somebody made of it."""
    said = ("--did", "Did it", "--state", "Fine", "--next", "Go on")
    assert run_cli("session", "add", "101", *said).returncode == 0
    state.write_text(state.read_text().replace("Its text.", BY_HAND))
    commit(repository)
    cut(state, size)
    assert run_cli("doctor", "--fix").returncode == 0
    assert body(state.read_text()) == body(git(repository, "show", f"HEAD:{STATE}"))


@pytest.mark.parametrize("by_hand", [False, True], ids=["unchanged since", "with code committed since"])
def test_a_later_write_is_newer_than_head(repository: Path, state: Path, run_cli: RunCli, by_hand: bool) -> None:  # noqa: FBT001
    """What was written to HEAD's text and not committed comes back, with what somebody had edited before."""
    state.write_text(state.read_text().replace("Its text.", BY_HAND))
    said = ("--did", "Did it", "--state", "Fine", "--next", "Go on")
    assert run_cli("session", "add", "101", *said).returncode == 0
    if by_hand:
        (repository / "code.py").write_text("print()\n")
        git(repository, "add", "code.py")
        git(repository, "commit", "--quiet", "--message", "code alone")
    whole = state.read_text()
    cut(state, 700)
    assert run_cli("doctor", "--fix").returncode == 0
    assert body(state.read_text()) == body(whole)

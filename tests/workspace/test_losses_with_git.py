from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.examine import examine
from taskstate.writing.losses import find_losses
from tests.support.git_place import GitPlace
from tests.writing.test_losses import did, mend

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def git(tmp_path: Path) -> GitPlace:
    """Return a git repository with task 101 in its first commit."""
    return GitPlace(tmp_path / "repository")


def test_what_a_branch_has_is_not_missed(git: GitPlace) -> None:
    """Another branch's sessions are on that branch: a checkout tells nothing, in either direction."""
    git.git("checkout", "-q", "-b", "other")
    git.add("On the other branch.")
    git.commit("other")
    git.git("checkout", "-q", "main")
    assert git.told() == ()
    assert git.add("On main.").notes[0] == "session 1 recorded"
    git.commit("main")
    git.git("checkout", "-q", "other")
    assert git.told() == ()
    git.git("checkout", "-q", "--detach", "main~1")
    assert git.told() == ()


def test_uncommitted_work_that_a_reset_removed_is_told(git: GitPlace) -> None:
    """No commit has it, so it is told and comes back, wherever HEAD is."""
    git.add("First.")
    git.commit("first")
    git.add("Second.")
    git.git("reset", "--quiet", "--hard", "HEAD~1")
    assert "session 2 is gone" in git.told()[0]
    mend(git)
    assert "Second." in did(git)


def test_what_only_the_reflog_reaches_is_a_note(git: GitPlace) -> None:
    """A deliberate reset of committed work is no alarm; doctor names the commit."""
    git.add("First.")
    commit = git.commit("first")
    git.git("reset", "--quiet", "--hard", "HEAD~1")
    assert git.told() == ()
    (loss,) = find_losses(git.workspace)
    assert (loss.items, loss.commit) == ({}, commit)
    assert commit in loss.note()
    assert [problem.note for problem in examine(git.workspace) if problem.check == "kept"] == [True]


def test_what_the_stash_has_is_told_with_the_way_back(git: GitPlace) -> None:
    """`git stash pop` is named first, and after it nothing is told."""
    git.add("First.")
    git.git("stash", "--quiet")
    assert "`git stash pop` has it" in git.told()[0]
    git.git("stash", "pop", "--quiet")
    assert git.told() == ()
    git.git("stash", "--quiet")
    git.git("stash", "drop", "--quiet")
    (told,) = git.told()
    assert "session 1 is gone" in told
    assert "stash" not in told
    mend(git)
    assert did(git) == ["First."]

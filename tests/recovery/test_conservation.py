from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.setup.repository import install_merge_driver
from taskstate.tasks.sessions import all_sessions
from tests.support.git_place import GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def branched(tmp_path: Path) -> GitPlace:
    """Return a repository on a branch that has archived two of three sessions, not committed yet."""
    git = GitPlace(tmp_path / "repository")
    install_merge_driver(git.workspace)
    for text in ("First.", "Second.", "Third."):
        git.add(text)
    git.commit("three")
    git.git("checkout", "-q", "-b", "side")
    git.archive(keep=1)
    return git


@pytest.mark.parametrize("is_tracked", [True, False])
def test_sessions_that_one_side_archived_must_stand_in_an_archive(branched: GitPlace, *, is_tracked: bool) -> None:
    """With the archive in the commit the merge goes through; without it ours stays, unmerged, with all sessions."""
    if not is_tracked:
        branched.archive_path.unlink()
    branched.commit("archived")
    branched.git("checkout", "-q", "main")
    branched.add("Fourth.")
    branched.commit("fourth")
    command = ["git", "merge", "-q", "--no-edit", "side"]
    done = subprocess.run(command, cwd=branched.root, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is is_tracked, done
    assert ("session 1, 2 would get lost" in done.stderr) is not is_tracked
    said = [text for session in all_sessions(branched.workspace, TASK) for text in session.texts["did"]]
    assert said == ["First.", "Second.", "Third.", "Fourth."]

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.archive.restore import restore
from taskstate.archive.verify import verify
from taskstate.merge.merge_files import merge_files
from taskstate.setup.repository import configure_git
from taskstate.tasks.sessions import all_sessions
from taskstate.units.three_way import Versions
from tests.support.git_place import GitPlace
from tests.support.kept_place import Repo
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def branched(tmp_path: Path) -> GitPlace:
    """Return a repository on a branch that has archived two of three sessions, not committed yet."""
    git = GitPlace(tmp_path / "repository")
    configure_git(git.workspace)
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


WAYS = {
    "rebase": (("checkout", "-q", "feature"), ("rebase", "-q", "main")),
    "merge": (("merge", "-q", "--no-edit", "feature"),),
    "merge into the branch": (("checkout", "-q", "feature"), ("merge", "-q", "--no-edit", "main")),
    "cherry-pick": (("cherry-pick", "--allow-empty", "--keep-redundant-commits", "feature~1", "feature"),),
}


@pytest.mark.parametrize("is_renumbered", [False, True])
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_the_other_side_took_over_and_archived_is_not_added_again(
    tmp_path: Path, way: tuple[tuple[str, ...], ...], *, is_renumbered: bool
) -> None:
    """A branch whose sessions main has squashed and archived, under other numbers or not, brings none of them again."""
    git = squashed(tmp_path / "repository", is_renumbered=is_renumbered)
    git.add("Later.")
    git.archive(keep=1)
    git.commit("archived")
    for command in way:
        git.git(*command)
    mains = ["Main."] if is_renumbered else []
    assert said_in(git) == ["First.", *mains, "Second.", "Third.", "Later."]
    assert not verify(git.workspace, git.workspace.load(git.path)).problems


def squashed(root: Path, *, is_renumbered: bool = False) -> GitPlace:
    """Return main with a branch's two sessions in one commit, behind a session of its own if they are renumbered."""
    git = GitPlace(root)
    configure_git(git.workspace)
    git.add("First.")
    git.commit("one")
    git.git("branch", "-q", "feature")
    if is_renumbered:
        git.add("Main.")
        git.commit("main")
    git.git("checkout", "-q", "feature")
    for text in ("Second.", "Third."):
        git.add(text)
        git.commit(text)
    git.git("checkout", "-q", "main")
    git.git("merge", "-q", "--squash", "feature")
    git.commit("squashed")
    return git


def test_what_an_older_merge_doubled_is_found_and_taken_out(tmp_path: Path) -> None:
    """Linter, `archive verify` and `doctor` name what stands in both files, and after the cure each stands once."""
    git = squashed(tmp_path / "repository", is_renumbered=True)
    git.add("Later.")
    git.archive(keep=1)
    git.commit("archived")
    path = git.workspace.relative(git.path)
    sides = (f"{git.git('show', f'{commit}:{path}')}\n" for commit in ("feature~2", "main", "feature"))
    git.path.write_bytes(merge_files(Versions(*(each.encode() for each in sides)), path).data)
    git.add("After.")
    assert [session.number for session in git.state.sessions] == [5, 6, 7, 8]
    repo = Repo(git.root, init=False)
    linted, verified, examined = (repo.run(*each).out for each in (("lint",), ("archive", "verify", TASK), ("doctor",)))
    for session in git.state.sessions[:2]:
        place = f"{path}:{git.text.count(chr(10), 0, session.span.start) + 1}:"
        message = f"session {session.number} of the Progress Log is session {session.number - 2} of the archive"
        assert f"{place}1 TS407 archive-mismatch: {message}" in linted
        assert f"{place} {message}; `taskstate doctor --fix`" in verified
        assert f"{place} {message}; `taskstate doctor --fix`" in examined
    repo.ok("doctor", "--fix")
    assert said_in(git) == ["First.", "Main.", "Second.", "Third.", "Later.", "After."]
    assert [session.number for session in git.state.sessions] == [5, 6]
    assert repo.ok("archive", "verify", TASK)
    repo.quiet()


def said_in(git: GitPlace) -> list[str]:
    """Return what the sessions of the task say, archived ones first."""
    return [text for session in all_sessions(git.workspace, TASK) for text in session.texts["did"]]


def test_what_a_side_took_back_out_of_the_archive_stays_in_the_log(tmp_path: Path) -> None:
    """The other side's archive has the restored sessions still: they are not taken for added again."""
    git = GitPlace(tmp_path / "repository")
    configure_git(git.workspace)
    for text in ("First.", "Second.", "Third."):
        git.add(text)
    git.archive(keep=1)
    git.commit("archived")
    git.git("checkout", "-q", "-b", "side")
    restore(git.workspace, TASK, git.request())
    git.commit("restored")
    git.git("checkout", "-q", "main")
    git.prove()
    git.commit("proved")
    git.git("merge", "-q", "--no-edit", "side")
    assert said_in(git) == ["First.", "Second.", "Third."]
    assert not git.archive_path.exists()
    assert len(git.state.sessions) == 3


def test_a_session_of_the_same_words_and_time_as_an_archived_one_of_its_side_is_added(tmp_path: Path) -> None:
    """Of two sessions of one minute that say the same the archive holds one, and the branch adds the other."""
    git = GitPlace(tmp_path / "repository")
    configure_git(git.workspace)
    minute = git.request()
    for text in ("First.", "The very same."):
        git.add(text, request=minute)
    git.add("Third.", request=minute)
    git.archive(keep=1)
    git.commit("archived")
    git.git("checkout", "-q", "-b", "side")
    git.add("The very same.", request=minute)
    git.commit("the same")
    git.git("checkout", "-q", "main")
    git.add("Fourth.")
    git.commit("fourth")
    git.git("merge", "-q", "--no-edit", "side")
    assert sorted(said_in(git)) == ["First.", "Fourth.", "The very same.", "The very same.", "Third."]

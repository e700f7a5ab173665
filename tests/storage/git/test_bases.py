"""The commits to compare with: where a branch was left, what was pushed, and parents."""

from __future__ import annotations

import subprocess
from itertools import count
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.git import bases

if TYPE_CHECKING:
    from pathlib import Path

_NUMBERS = count()

pytestmark = pytest.mark.slow  # it starts many processes, most of them git


def git(root: Path, *arguments: str) -> str:
    """Return what git says."""
    return subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, encoding="utf-8"
    ).stdout.strip()


def commit(root: Path, *flags: str) -> str:
    """Make an empty commit, unlike any other, and return its id."""
    git(root, "commit", "--quiet", "--allow-empty", "--message", f"work {next(_NUMBERS)}", *flags)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def origin(repository: Path, tmp_path: Path) -> str:
    """Return the only commit of a repository, which is pushed to `origin` without an upstream branch."""
    first = commit(repository)
    git(repository, "init", "--quiet", "--bare", str(tmp_path / "origin.git"))
    git(repository, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repository, "push", "--quiet", "origin", "main")
    return first


def test_a_base_is_where_a_branch_was_left(repository: Path, origin: str) -> None:
    """The newest common commit is the base, whatever came on either side."""
    git(repository, "switch", "--quiet", "--create", "work")
    mine = commit(repository)
    git(repository, "switch", "--quiet", "main")
    theirs = commit(repository)
    assert bases.base_of(repository, mine, theirs) == bases.base_of(repository, theirs, mine) == origin
    assert bases.base_of(repository, origin, theirs) == origin


def test_a_former_place_of_the_branch_is_its_own_base(repository: Path, origin: str) -> None:
    """What the branch was before it was amended is remembered by the reflog; without that the parent is the base."""
    was = commit(repository)
    now = commit(repository, "--amend")
    assert bases.base_of(repository, was, now) == was
    git(repository, "reflog", "expire", "--expire=now", "--all")
    assert bases.base_of(repository, was, now) == origin


def test_histories_apart_have_no_base(repository: Path, origin: str) -> None:
    """Nothing in common is no error."""
    git(repository, "switch", "--quiet", "--orphan", "alone")
    assert bases.base_of(repository, origin, commit(repository)) is None


def test_what_was_pushed(repository: Path, origin: str) -> None:
    """With an upstream branch or without, the newest pushed commit below a commit is found; a new one is not pushed."""
    assert bases.pushed(repository, origin) == (origin,)
    assert bases.pushed(repository, commit(repository)) == (origin,)
    git(repository, "branch", "--quiet", "--set-upstream-to", "origin/main")
    assert bases.pushed(repository, commit(repository)) == (origin,)
    git(repository, "push", "--quiet", "origin", "main")
    pushed = git(repository, "rev-parse", "HEAD")
    assert bases.pushed(repository, commit(repository, "--amend")) == (pushed,)


def test_nothing_was_pushed(repository: Path) -> None:
    """Without a remote nothing was pushed."""
    assert bases.pushed(repository, commit(repository)) == ()


def test_parents(repository: Path, origin: str) -> None:
    """The first commit has no parents, a merge several."""
    assert bases.parents(repository, origin) == ()
    git(repository, "switch", "--quiet", "--create", "work")
    mine = commit(repository)
    git(repository, "switch", "--quiet", "main")
    theirs = commit(repository)
    git(repository, "merge", "--quiet", "--no-ff", "--message", "merge", "work")
    assert bases.parents(repository, "HEAD") == (theirs, mine)

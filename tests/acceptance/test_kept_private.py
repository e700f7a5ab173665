"""What is private to the tool lies where no commit reaches; what a commit brings to such places has no effect."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import COMMITTED, LAST, STATE, TASK, Repo, happen, needs_binding, story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ALL = range(1, LAST + 1)
PRIVATE = ".taskstate/private"


def modes(folder: Path) -> set[tuple[bool, int]]:
    """Return which modes the folders and the files have, in a folder and itself."""
    return {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in [folder, *folder.rglob("*")]}


# Where it lies


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_what_is_private_lies_in_the_git_directory(tmp_path: Path, umask: int) -> None:
    """Copies, journal and caches lie in `.git/taskstate/main`, for nobody else to read, whatever the umask says."""
    before = os.umask(umask)
    try:
        repo = happen(tmp_path / "repository")
        repo.do("taskstate lint", "taskstate next", "taskstate brief 101", "archive", "taskstate doctor")
    finally:
        os.umask(before)
    assert any(path.is_file() for path in repo.common.rglob("*"))
    assert modes(repo.root / ".git" / "taskstate") == {(True, 0o700), (False, 0o600)}
    for name in ("journal", "cache", "private"):
        assert not (repo.root / ".taskstate" / name).exists(), name
    ignored = repo.git("status", "--porcelain", "--ignored").splitlines()
    assert [line for line in ignored if line.startswith("!!")] in ([], ["!! .taskstate/lock"])


def test_a_forced_secret_is_copied_to_no_place_others_read(tmp_path: Path) -> None:
    """What `--force-secrets` lets pass stands in the state file; its copies are for the owner alone."""
    repo = story(tmp_path / "repository")
    key = "AKIA" + "Q7X2MZ4LPW9RT3VB"
    given = ("--did", f"aws_access_key_id = {key}", "--state", "s", "--next", "n", "--force-secrets")
    repo.ok("session", "add", TASK, *given)
    repo.session(6)
    found = [path for path in repo.root.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    others = [path for path in found if path != repo.state]
    assert all(path.is_relative_to(repo.common) for path in others), others
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in others)


# The git directory cannot be written


def a_file(place: Path) -> None:
    """Put a file where the folder would be made."""
    place.write_text("", encoding="utf-8")


def a_link(place: Path) -> None:
    """Put a link to a folder elsewhere where the folder would be made."""
    (place.parents[2] / "elsewhere").mkdir()
    place.symlink_to(place.parents[2] / "elsewhere")


def blocked(root: Path, block: Callable[[Path], None]) -> Repo:
    """Return a repository in which something stands in the way of `.git/taskstate`, with sessions, two of them lost."""
    repo = Repo(root)
    shutil.rmtree(root / ".git" / "taskstate", ignore_errors=True)
    block(root / ".git" / "taskstate")
    assert repo.new().status == 0
    for number in range(1, COMMITTED + 1):
        repo.session(number)
    repo.commit("three")
    return repo


@pytest.mark.parametrize("block", [a_file, a_link])
def test_where_git_cannot_hold_it_private_does(tmp_path: Path, block: Callable[[Path], None]) -> None:
    """Work is kept in `.taskstate/private` then, which git ignores, for nobody else to read, and is brought back."""
    repo = blocked(tmp_path / "repository", block)
    repo.do("session 4", "session 5", "taskstate lint", f"git checkout -q -- {STATE}")
    assert modes(repo.root / PRIVATE) == {(True, 0o700), (False, 0o600)}
    assert "private" not in repo.git("status", "--porcelain", "--untracked-files=all")
    assert not any((tmp_path / "elsewhere").rglob("*"))
    repo.whole()


READ_ONLY = {
    "the git directory": ".git",
    "the folder in it": ".git/taskstate",
    "the folder of the worktree": ".git/taskstate/main",
}


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Keep a folder, and all that is in it, from being written."""
    before = {path: path.stat().st_mode for path in [folder, *folder.rglob("*")]}
    for path, mode in before.items():
        path.chmod(mode & 0o555)
    yield
    for path, mode in before.items():
        path.chmod(mode)


@pytest.mark.slow
@pytest.mark.parametrize("name", READ_ONLY.values(), ids=READ_ONLY)
def test_a_git_directory_that_cannot_be_written_is_no_hindrance(tmp_path: Path, name: str) -> None:
    """As in a sandbox: work goes on and is kept beside the tasks, what was kept before is read, and all comes back."""
    needs_binding()
    repo = story(tmp_path / "repository")
    given = ("--did", "Did 6.", "--state", "thing-6-end", "--next", "n")
    with read_only(repo.root / name):
        for command in (("session", "add", TASK, *given), ("list",), ("lint",)):
            assert repo.bound(*command).status == 0, command
    assert any(path.is_file() for path in (repo.root / PRIVATE).rglob("*"))
    repo.git("reset", "-q", "--hard")
    with read_only(repo.root / name):
        assert "doctor --fix" in repo.bound("list").err
        assert repo.bound("doctor", "--fix").status == 0
    assert [repo.count(number) for number in (*ALL, 6)] == [1] * (LAST + 1)
    assert repo.told() == []


UNFIT = ("a link", "a link in it", "tracked", "another user's")


@pytest.mark.parametrize("kind", UNFIT)
def test_a_private_folder_that_is_not_ours_is_not_used(tmp_path: Path, kind: str) -> None:
    """Where it is, or holds, a link, a tracked file or another user's, work goes on unkept, which is said."""
    repo = blocked(tmp_path / "repository", a_file)
    outside = tmp_path / "outside"
    outside.mkdir()
    private = repo.root / PRIVATE
    shutil.rmtree(private, ignore_errors=True)
    if kind == "a link":
        private.symlink_to(outside)
    else:
        (private / "main").mkdir(parents=True)
    if kind == "a link in it":
        (private / "main" / "kept").symlink_to(outside)
    elif kind == "tracked":
        repo.do(f"write {PRIVATE}/main/file text", "git add -f .taskstate/private", "git commit -qm private")
    elif kind == "another user's":
        if os.geteuid():
            pytest.skip("only root can give a folder away")
        os.chown(private, 65_534, 65_534)
    before = repo.git("ls-files", "--", PRIVATE), sorted(private.rglob("*"))
    done = repo.try_session(4)
    assert done.status == 0, done
    assert "private" in done.err
    assert (repo.git("ls-files", "--", PRIVATE), sorted(private.rglob("*"))) == before
    assert list(outside.iterdir()) == []
    assert repo.run("list").status == 0

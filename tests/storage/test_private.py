from __future__ import annotations

import os
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import files, folders
from taskstate.storage.private import Private, find_private, make_folder, refusal

if TYPE_CHECKING:
    from pathlib import Path


def run(root: Path, *arguments: str) -> None:
    """Run git in the folder `root`."""
    subprocess.run(["git", *arguments], cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture
def committed(repository: Path) -> Path:
    """Return a repository with a commit."""
    run(repository, "commit", "--quiet", "--allow-empty", "--message=begin")
    return repository


def private_of(root: Path) -> Private:
    """Return the private folders of a repository with the usual state folder."""
    return find_private(root, root / ".taskstate")


def fallback_of(root: Path) -> Path:
    """Return the private folder in the state folder, made as it is used, with a file in it."""
    folder = root / ".taskstate" / "private"
    make_folder(folder / "kept")
    (folder / "kept" / "x").write_bytes(b"x")
    return folder


def deny(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let nothing be written in a folder, for root as well."""
    really = folders.may
    monkeypatch.setattr(folders, "may", lambda path, mode: not path.is_relative_to(folder) and really(path, mode))


# Which folder


def test_private_things_lie_in_gits_folder(repository: Path) -> None:
    """There no commit reaches; the state folder gets none, and neither is made before it is used."""
    private = private_of(repository)
    assert private.write == repository / ".git" / "taskstate" / "main"
    assert private.read[0] == private.write
    assert private.refusal == ""
    assert not (repository / ".git" / "taskstate").exists()
    assert not (repository / ".taskstate").exists()


def test_without_git_they_lie_in_the_state_folder(tmp_path: Path) -> None:
    """The folder is written and read, also when it is made only after this."""
    private = private_of(tmp_path)
    assert private.write == tmp_path / ".taskstate" / "private"
    assert private.read == (private.write,)


def test_folder_in_git_that_cannot_be_written_is_read_still(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some agents' sandboxes keep `.git` read-only: the state folder is written, and both are read."""
    deny(monkeypatch, repository / ".git")
    in_git, fallback = repository / ".git" / "taskstate" / "main", repository / ".taskstate" / "private"
    fallback_of(repository)
    private = private_of(repository)
    assert (private.read, private.write) == ((in_git, fallback), fallback)


def test_earlier_fallback_is_read_beside_the_folder_in_git(repository: Path) -> None:
    """What was kept while git's folder could not be written is not forgotten."""
    fallback = fallback_of(repository)
    private = private_of(repository)
    assert private.read == (repository / ".git" / "taskstate" / "main", fallback)
    assert private.write == private.read[0]


@pytest.mark.parametrize("name", ["taskstate", "taskstate/main"])
def test_link_in_gits_folder_is_not_followed(repository: Path, tmp_path: Path, name: str) -> None:
    """The state folder is used instead."""
    link = repository / ".git" / name
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(tmp_path)
    private = private_of(repository)
    assert private.write == repository / ".taskstate" / "private"
    assert link not in private.read
    assert repository / ".git" / "taskstate" / "main" not in private.read


def test_where_nothing_can_be_used_nothing_is_written(tmp_path: Path) -> None:
    """Commands work without what is private: no folder, no cache, and the reason is known."""
    (tmp_path / ".taskstate").mkdir()
    (tmp_path / ".taskstate" / "private").symlink_to(tmp_path)
    private = private_of(tmp_path)
    assert (private.read, private.write, private.cache("x.json")) == ((), None, None)
    assert "is a link" in private.refusal


def test_cache_lies_in_the_private_folder(repository: Path) -> None:
    """Each cache is a file in its folder `cache`."""
    path = repository / ".git" / "taskstate" / "main" / "cache" / "x.json"
    assert private_of(repository).cache("x.json") == path


# The folder in the state folder, which a commit could hold


def test_own_folder_is_not_refused(tmp_path: Path) -> None:
    """A folder with plain files of this user is used."""
    assert refusal(fallback_of(tmp_path), tmp_path) == ""


def test_file_that_goes_meanwhile_refuses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another command may rename its temporary file, or remove a whole folder, while we look."""
    folder = fallback_of(tmp_path)
    really = folders.status

    def look_late(path: str) -> os.stat_result:
        if path.endswith("x"):
            (folder / "kept" / "x").unlink()
        if path.endswith("cache"):
            (folder / "cache").rmdir()
        return really(path)

    make_folder(folder / "cache")
    monkeypatch.setattr(folders, "status", look_late)
    assert refusal(folder, tmp_path) == ""


@pytest.mark.parametrize("place", [".", "kept", "kept/y", "journal/deep/z"])
def test_link_anywhere_in_it_refuses_it(tmp_path: Path, place: str) -> None:
    """A link leads to where a stranger wants something to be read, written or deleted."""
    folder = fallback_of(tmp_path)
    link = folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    if link.exists():
        link.rename(tmp_path / "moved")
    link.symlink_to(tmp_path)
    why = refusal(folder, tmp_path)
    assert why.endswith("is a link")
    assert find_private(tmp_path, tmp_path / ".taskstate").write is None


def test_tracked_file_refuses_it(repository: Path) -> None:
    """What git tracks came from somebody else's commit; files that are only there are this user's."""
    folder = fallback_of(repository)
    assert refusal(folder, repository) == ""
    run(repository, "add", "--force", ".taskstate/private/kept/x")
    assert refusal(folder, repository) == "git tracks .taskstate/private/kept/x"
    private = private_of(repository)
    assert folder not in private.read
    assert private.write == repository / ".git" / "taskstate" / "main"
    assert "git tracks" in private.refusal


def test_name_in_it_is_no_pattern_for_git(repository: Path) -> None:
    """A state folder called `*` does not make every tracked file one of its own."""
    (repository / "x").mkdir()
    (repository / "x" / "private").write_bytes(b"x")
    run(repository, "add", "x")
    folder = repository / "*" / "private"
    folder.mkdir(parents=True)
    assert refusal(folder, repository) == ""


def test_another_users_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What belongs to somebody else was not put there by this user's commands."""
    folder = fallback_of(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    assert refusal(folder, tmp_path).endswith("private belongs to another user")


# Worktrees and nested roots


def test_each_worktree_has_a_folder_of_its_own(committed: Path, tmp_path: Path) -> None:
    """It is named by git's id of the worktree and lies in the common folder; one called main is no other's."""
    run(committed, "worktree", "add", "-q", "-b", "one", str(tmp_path / "side"))
    run(committed, "worktree", "add", "-q", "-b", "two", str(tmp_path / "main"))
    common = committed / ".git" / "taskstate"
    written = [private_of(root).write or tmp_path for root in (committed, tmp_path / "side", tmp_path / "main")]
    assert [path.resolve() for path in written] == [common / "main", common / "side", common / "main~"]


def test_nested_root_has_a_folder_of_its_own(repository: Path) -> None:
    """A folder with a configuration of its own shares nothing with the root, whatever characters its path has."""
    nested = repository / "pro ject" / "a:b~"
    nested.mkdir(parents=True)
    written = private_of(nested).write
    assert written == repository / ".git" / "taskstate" / "main:pro%20ject%2Fa%3Ab~"
    assert private_of(nested.parent).write != written


def test_folders_of_removed_worktrees_are_found(committed: Path, tmp_path: Path) -> None:
    """Those of worktrees that git still has are left alone, and each root takes over its own place's."""
    for name in ("kept", "gone", "main"):
        root = tmp_path / name
        run(committed, "worktree", "add", "-q", "-b", f"branch-{name}", str(root))
        for place in (root, root / "sub"):
            place.mkdir(exist_ok=True)
            write = private_of(place).write
            assert write
            make_folder(write / "kept")
    common = committed / ".git" / "taskstate"
    (committed / "sub").mkdir()
    assert private_of(committed).removed == ()
    run(committed, "worktree", "remove", "--force", str(tmp_path / "gone"))
    assert private_of(committed).removed == (common / "gone",)
    assert private_of(committed / "sub").removed == (common / "gone:sub",)
    assert [path.resolve() for path in private_of(tmp_path / "kept").removed] == [common / "gone"]


# Making it


def test_folders_are_for_this_user_alone(tmp_path: Path) -> None:
    """The folder of each kind, and those above that are the tool's; whatever the umask, and what was there stays."""
    (tmp_path / ".git").mkdir(mode=0o755)
    before = os.umask(0)
    try:
        make_folder(tmp_path / ".git" / "taskstate" / "main" / "kept")
        make_folder(tmp_path / ".git" / "taskstate" / "main" / "kept")
        make_folder(tmp_path / ".taskstate" / "private" / "journal")
    finally:
        os.umask(before)
    own = (".git/taskstate", ".git/taskstate/main", ".git/taskstate/main/kept", ".taskstate/private")
    for name in (*own, ".taskstate/private/journal"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700, name
    assert stat.S_IMODE((tmp_path / ".git").stat().st_mode) == 0o755


def test_files_are_listed_by_folder_and_name(tmp_path: Path) -> None:
    """First those of git's folder, then those of the state folder; a missing folder has none."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        for name in ("b", "a"):
            files.create(folder / "kept" / name, b"")
    private = Private((first, tmp_path / "missing", second), first)
    names = [path.relative_to(tmp_path).as_posix() for path in private.files("kept")]
    assert names == ["first/kept/a", "first/kept/b", "second/kept/a", "second/kept/b"]
    assert list(private.files("journal")) == []


@pytest.mark.parametrize("detour", [False, True], ids=["a folder", "a file with a detour"])
def test_a_shared_folder_that_git_would_not_use_is_none(repository: Path, tmp_path: Path, detour: bool) -> None:  # noqa: FBT001
    """A file `commondir`, in a git folder that was unpacked, leads nothing out of it, however that is named."""
    outside = tmp_path / "outside"
    outside.mkdir()
    git_folder = repository / ".git"
    if detour:
        git_folder.rename(repository / "g")
        (repository / "g" / "x").mkdir()
        git_folder.write_text("gitdir: g/x/..\n", encoding="utf-8")
        git_folder = repository / "g"
    (git_folder / "commondir").write_text(f"{outside}\n", encoding="utf-8")
    private = private_of(repository)
    assert private.write
    assert private.write.is_relative_to(repository)
    assert all(each.is_relative_to(repository) for each in private.read)

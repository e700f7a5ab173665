"""Whose git directory it is: every legitimate shape is at home, and what leads to another folder's is foreign."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import GitFailed
from taskstate.storage.git import client as git
from taskstate.storage.private import Private, find_private, make_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def call(root: Path, *arguments: str) -> None:
    """Run git in the folder `root`."""
    command = ["git", "-c", "protocol.file.allow=always", *arguments]
    subprocess.run(command, cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture
def victim(repository: Path) -> Path:
    """Return a repository with a commit, in which something private was kept, and a linked worktree beside it."""
    call(repository, "commit", "--quiet", "--allow-empty", "--message=begin")
    call(repository, "worktree", "add", "-q", "-b", "side", str(repository.parent / "side"))
    written = private_of(repository).write
    assert written
    make_folder(written / "kept")
    return repository


def private_of(root: Path) -> Private:
    """Return the private folders of a repository with the usual state folder."""
    return find_private(root, root / ".taskstate")


# Each makes a working tree beside a repository, and returns it and its git directory.


def plain(victim: Path) -> tuple[Path, Path]:
    """An ordinary repository."""
    return victim, victim / ".git"


def linked(victim: Path) -> tuple[Path, Path]:
    """A worktree that git made."""
    return victim.parent / "side", victim / ".git/worktrees/side"


def moved(victim: Path) -> tuple[Path, Path]:
    """A worktree that was moved, and git was not told."""
    shutil.move(victim.parent / "side", victim.parent / "moved")
    return victim.parent / "moved", victim / ".git/worktrees/side"


def relative(victim: Path) -> tuple[Path, Path]:
    """As git 2.48 can make it: with relative links in both directions."""
    (victim / ".git/worktrees/side/gitdir").write_text("../../../../side/.git\n", encoding="utf-8")
    (victim.parent / "side/.git").write_text("gitdir: ../repository/.git/worktrees/side\n", encoding="utf-8")
    return linked(victim)


def of_a_bare_one(victim: Path) -> tuple[Path, Path]:
    """A worktree of a bare repository."""
    call(victim.parent, "clone", "-q", "--bare", str(victim), "bare.git")
    call(victim.parent / "bare.git", "worktree", "add", "-q", "../work", "main")
    return victim.parent / "work", victim.parent / "bare.git/worktrees/work"


def submodule(victim: Path) -> tuple[Path, Path]:
    """A submodule, whose name git has to quote in its configuration."""
    call(victim.parent, "clone", "-q", str(victim), "above")
    call(victim.parent / "above", "submodule", "add", "-q", str(victim), 'su b "c"; d')
    return victim.parent / "above" / 'su b "c"; d', victim.parent / 'above/.git/modules/su b "c"; d'


def separated_later(victim: Path) -> tuple[Path, Path]:
    """A repository that was used, and whose git directory was then put elsewhere."""
    call(victim, "init", "-q", "--separate-git-dir", str(victim.parent / "store"))
    return victim, victim.parent / "store"


def separate_and_linked(victim: Path) -> tuple[Path, Path]:
    """A git directory elsewhere that names its working tree."""
    root, git_dir = separate(victim)
    call(root, "config", "core.worktree", str(root))
    return root, git_dir


def link_in_its_place(victim: Path) -> tuple[Path, Path]:
    """A repository that was used, and whose git directory was then moved behind a link."""
    (victim / ".git").rename(victim.parent / "store")
    (victim / ".git").symlink_to("../store")
    return victim, victim.parent / "store"


def separate(victim: Path) -> tuple[Path, Path]:
    """A clone whose git directory lies elsewhere from the beginning."""
    call(victim.parent, "clone", "-q", "--separate-git-dir", "store", str(victim), "clone")
    return victim.parent / "clone", victim.parent / "store"


HOME = (
    *(plain, linked, moved, relative, of_a_bare_one, submodule),
    *(separated_later, separate_and_linked, link_in_its_place),
)


@pytest.mark.parametrize("make", HOME)
def test_a_git_directory_of_any_legitimate_shape_is_at_home(
    victim: Path, make: Callable[[Path], tuple[Path, Path]]
) -> None:
    """What is private lies in it, and git is asked."""
    root, git_dir = make(victim)
    private = private_of(root)
    assert private.write is not None
    assert private.write.is_relative_to(git_dir.parents[1] if git_dir.parent.name == "worktrees" else git_dir)
    assert (private.foreign, private.unlinked) == ("", "")
    assert git.toplevel(root) == root
    assert git.run(["rev-parse", "--absolute-git-dir"], root)


def test_working_tree_that_is_reached_by_a_link_is_at_home(victim: Path, tmp_path: Path) -> None:
    """It is the folder that counts and not what it is called."""
    (tmp_path / "link").symlink_to(victim.parent / "side")
    assert git.foreign(tmp_path / "link") is None
    assert not private_of(tmp_path / "link").unlinked


def test_where_nothing_links_what_is_private_lies_beside_the_tasks(victim: Path) -> None:
    """A git directory that was elsewhere from the beginning serves git, and nothing private is put into it."""
    root, git_dir = separate(victim)
    private = private_of(root)
    assert private.read == (root / ".taskstate" / "private",) == (private.write,)
    assert (private.foreign, private.unlinked) == ("", str(git_dir))
    assert git.head(root)


@pytest.mark.parametrize("own", [True, False], ids=["a store", "of another folder"])
def test_git_directory_that_the_environment_names_is_used_by_git_alone(
    victim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, own: bool
) -> None:
    """GIT_DIR is the user's own word; nothing private lies in what names no working tree, or names another."""
    root = tmp_path / "files"
    root.mkdir()
    if own:
        call(tmp_path, "clone", "-q", "--bare", str(victim), "store")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "store" if own else victim / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(root))
    assert git.toplevel(root) == root
    assert git.head(root)
    assert private_of(root).write == root / ".taskstate" / "private"


# Each makes a folder whose `.git` leads to somebody else's.


def named(folder: Path, git_dir: Path) -> None:
    """Let the `.git` of a folder be a file that names a git directory."""
    (folder / ".git").write_text(f"gitdir: {git_dir}\n", encoding="utf-8")


def file_that_names_it(victim: Path, folder: Path) -> None:
    """One line suffices."""
    named(folder, victim / ".git")


def file_with_a_detour(victim: Path, folder: Path) -> None:
    """The same in other words."""
    named(folder, victim / ".git/objects/..")


def link_to_it(victim: Path, folder: Path) -> None:
    """A link does the same."""
    (folder / ".git").symlink_to(victim / ".git")


def folder_with_a_shared_one(victim: Path, folder: Path) -> None:
    """A git directory of its own, whose configuration and history are the other one's."""
    call(folder, "init", "-q")
    (folder / ".git/commondir").write_text(f"{victim / '.git'}\n", encoding="utf-8")


def made_up_worktree(victim: Path, folder: Path) -> None:
    """The folder of a worktree that git did not make."""
    call(folder, "init", "-q", "x/worktrees")
    (folder / "x/worktrees/.git").rename(folder / "x/worktrees/y")
    (folder / "x/worktrees/y/commondir").write_text(f"{victim / '.git'}\n", encoding="utf-8")
    named(folder, folder / "x/worktrees/y")


def file_that_names_a_worktrees(victim: Path, folder: Path) -> None:
    """The git directory of a linked worktree."""
    named(folder, victim / ".git/worktrees/side")


def worktrees_behind_a_link(victim: Path, folder: Path) -> None:
    """The same through a link."""
    (folder / "worktrees").symlink_to(victim / ".git/worktrees")
    named(folder, folder / "worktrees/side")


def copied_worktree(victim: Path, folder: Path) -> None:
    """A copy of a linked worktree, which would write the index of the first one."""
    folder.rmdir()
    shutil.copytree(victim.parent / "side", folder)


def file_that_names_a_submodules(victim: Path, folder: Path) -> None:
    """The git directory of a submodule."""
    named(folder, submodule(victim)[1])


def file_that_names_a_separate_one(victim: Path, folder: Path) -> None:
    """A git directory elsewhere that was used where it was before."""
    named(folder, separated_later(victim)[1])


def file_that_names_a_linked_one(victim: Path, folder: Path) -> None:
    """A git directory elsewhere that names its working tree."""
    named(folder, separate_and_linked(victim)[1])


def file_that_names_a_link(victim: Path, folder: Path) -> None:
    """The `.git` of another folder, which is a link there."""
    link_in_its_place(victim)
    shutil.rmtree(victim.parent / "store/taskstate")
    named(folder, victim / ".git")


FOREIGN = (
    *(file_that_names_it, file_with_a_detour, link_to_it, folder_with_a_shared_one, made_up_worktree),
    *(file_that_names_a_worktrees, worktrees_behind_a_link, copied_worktree, file_that_names_a_submodules),
    *(file_that_names_a_separate_one, file_that_names_a_linked_one, file_that_names_a_link),
)


@pytest.mark.parametrize("make", FOREIGN)
@pytest.mark.parametrize("below", ["", "a/b"])
def test_what_leads_to_another_folders_git_directory_is_foreign(
    victim: Path, tmp_path: Path, make: Callable[[Path, Path], None], below: str
) -> None:
    """Such a folder, and each in it, has no git and nothing private but its own, and no git that is run finds one."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    make(victim, folder)
    root = folder / below
    root.mkdir(parents=True, exist_ok=True)
    found = git.foreign(root)
    assert found
    assert found.top == folder
    private = private_of(root)
    assert (private.read, private.write) == ((root / ".taskstate" / "private",), root / ".taskstate" / "private")
    assert private.foreign == found.git_dir
    assert (git.toplevel(root), git.folders(root), git.head(root)) == (None, None, None)
    with pytest.raises(GitFailed, match="not a git repository"):
        git.run(["ls-files"], root)


def test_configuration_of_another_folders_git_directory_is_not_read(victim: Path, tmp_path: Path) -> None:
    """Not even the name of the user."""
    call(victim, "config", "user.name", "Only In This Repository")
    assert git.user_name(victim) == "Only In This Repository"
    named(tmp_path, victim / ".git")
    assert git.user_name(tmp_path) != "Only In This Repository"


def test_the_environment_does_not_lead_to_it_either(
    victim: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook in such a folder is told by git where the git directory is."""
    folder = tmp_path / "hostile"
    folder.mkdir()
    named(folder, victim / ".git")
    monkeypatch.setenv("GIT_DIR", str(victim / ".git"))
    assert (git.toplevel(folder), git.head(folder)) == (None, None)


def test_what_is_around_a_foreign_folder_is_not_its_repository(victim: Path) -> None:
    """The search ends there, as git's does."""
    (victim / "in").mkdir()
    named(victim / "in", victim / ".git/worktrees/side")
    assert git.toplevel(victim / "in") is None


def test_the_usual_repository_costs_two_looks(victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every start of git asks whose the directory is; a plain `.git` has no `commondir`, which says it all."""
    looks: list[str] = []
    really = os.lstat

    def look(path: str, **options: int) -> os.stat_result:
        looks.append(os.fspath(path))
        return really(path, **options)

    monkeypatch.setattr(os, "lstat", look)
    assert git.toplevel(victim) == victim
    assert {each.rpartition("/")[2] for each in looks} <= {".git", "commondir"}
    assert len(looks) <= 2

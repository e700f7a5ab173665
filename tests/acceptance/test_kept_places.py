"""Where a repository may lie, and what may be wrong with its folders: work goes on, and what is lost there is told."""

from __future__ import annotations

import errno
import re
import shutil
from itertools import cycle, islice
from typing import TYPE_CHECKING

import pytest

from tests.support.crashing import fail_from, forks, killed
from tests.support.kept_place import ARCHIVE, LAST, STATE, TASK, Repo, Story, needs_binding, story

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ALL = range(1, LAST + 1)


def kept_in(folder: Path) -> list[Path]:
    """Return the files that are kept in a folder."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file()]


# Other ways to have a repository


def bare_worktree(tmp_path: Path) -> tuple[Repo, Path]:
    """Return a worktree of a bare repository, and where its work is kept."""
    origin = story(tmp_path / "origin")
    origin.do("commit five", f"git clone -q --bare . {tmp_path / 'bare.git'}")
    origin.git("-C", tmp_path / "bare.git", "worktree", "add", "-q", tmp_path / "work", "main")
    return Repo(tmp_path / "work", init=False), tmp_path / "bare.git" / "taskstate" / "work"


def submodule(tmp_path: Path) -> tuple[Repo, Path]:
    """Return a submodule, and where its work is kept."""
    origin = story(tmp_path / "origin")
    origin.commit("five")
    above = Repo(tmp_path / "above")
    above.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(origin.root), "sub")
    above.commit("submodule")
    return Repo(above.root / "sub", init=False), above.root / ".git/modules/sub/taskstate/main"


def linked_worktree(tmp_path: Path) -> tuple[Repo, Path]:
    """Return a linked worktree, and where its work is kept."""
    origin = story(tmp_path / "origin")
    origin.do("commit five", f"git worktree add -q -b side {tmp_path / 'linked'}")
    return Repo(tmp_path / "linked", init=False), origin.root / ".git" / "taskstate" / "linked"


def separate(tmp_path: Path) -> tuple[Repo, Path]:
    """Return a repository whose git directory lies elsewhere, and where its work is kept."""
    repo = story(tmp_path / "repository")
    repo.do("commit five", f"git init -q --separate-git-dir {tmp_path / 'elsewhere'}")
    return repo, tmp_path / "elsewhere" / "taskstate" / "main"


PLACES = (bare_worktree, submodule, linked_worktree, separate)


@pytest.mark.parametrize("make", PLACES)
def test_work_is_kept_in_the_common_directory(tmp_path: Path, make: Callable[[Path], tuple[Repo, Path]]) -> None:
    """Worktrees, submodules and git directories elsewhere: work is kept there, told when gone, and brought back."""
    repo, kept = make(tmp_path)
    repo.name_author()
    repo.ok("init")
    repo.session(6)
    assert kept_in(kept)
    assert not (repo.root / ".taskstate/private").exists()
    repo.do(f"git checkout -q -- {STATE}")
    repo.whole(range(1, 7))


def without_git(root: Path) -> Repo:
    """Return a repository without git, in which sessions were written."""
    root.mkdir()
    repo = Repo(root, init=False)
    repo.ok("init")
    assert repo.new().status == 0
    for number in ALL:
        repo.session(number)
    return repo


@pytest.mark.parametrize("loss", ["rm", "stale", "half"])
def test_without_git_work_is_kept_beside_the_tasks(tmp_path: Path, loss: str) -> None:
    """Without git a stale save, half a file or none at all is told or refused just so, and mended."""
    repo = without_git(tmp_path / "repository")
    before = repo.text
    repo.session(6)
    if loss == "rm":
        repo.do(f"rm {STATE}")
    else:
        repo.text = before if loss == "stale" else before[: before.index("### Session 4 ")]
    assert "doctor --fix" in repo.run("list").err
    assert repo.run("doctor").status == 1
    repo.ok("doctor", "--fix")
    assert [repo.count(number) for number in range(1, 7)] == [1] * 6
    assert repo.run("list").err == ""
    assert kept_in(repo.root / ".taskstate/private")


def test_git_that_comes_later_finds_what_was_kept_without(tmp_path: Path) -> None:
    """Who recovers reads both places: what was kept before `git init` still counts."""
    repo = without_git(tmp_path / "repository")
    repo.do("git init -q -b main", f"rm {STATE}")
    assert len(repo.told()) == 1
    repo.run("doctor", "--fix")
    assert [repo.count(number) for number in ALL] == [1] * LAST


@pytest.mark.parametrize("lost_before", [True, False], ids=["lost, then moved", "moved, then lost"])
@pytest.mark.parametrize("way", ["moved", "copied"])
def test_a_repository_takes_what_was_kept_along(tmp_path: Path, way: str, *, lost_before: bool) -> None:
    """Moved or copied with its `.git`, a repository tells and mends its losses at the new place."""
    first = story(tmp_path / "repository")
    if lost_before:
        first.git("reset", "-q", "--hard")
    move = shutil.move if way == "moved" else shutil.copytree
    move(first.root, tmp_path / "elsewhere")
    repo = Repo(tmp_path / "elsewhere", init=False)
    if not lost_before:
        repo.quiet()
        repo.git("reset", "-q", "--hard")
    repo.whole()


def test_a_copy_goes_its_own_way(tmp_path: Path) -> None:
    """What is done in a copy is nothing to the original, and the reverse."""
    first = story(tmp_path / "repository")
    shutil.copytree(first.root, tmp_path / "copy")
    copy = Repo(tmp_path / "copy", init=False)
    copy.do("session copied", "git reset -q --hard")
    first.session("first")
    first.quiet()
    copy.ok("doctor", "--let-go", TASK)
    first.git("reset", "-q", "--hard")
    copy.silent()
    first.whole([*ALL, "first"])
    assert first.count("copied") == 0


def test_two_clones_keep_apart(tmp_path: Path) -> None:
    """What is lost or let go in one clone is not told in the other."""
    first = story(tmp_path / "repository")
    second = first.clone(tmp_path / "second")
    second.session("second")
    first.git("reset", "-q", "--hard")
    second.silent()
    second.git("reset", "-q", "--hard")
    first.ok("doctor", "--let-go", TASK)
    first.silent()
    second.whole([1, 2, 3, "second"])


# Linked worktrees that go


def with_worktree(tmp_path: Path) -> tuple[Repo, Repo]:
    """Return a repository with all committed, and a linked worktree on a branch of its own."""
    repo = story(tmp_path / "repository")
    repo.do("commit five", f"git worktree add -q -b side {tmp_path / 'linked'}")
    return repo, Repo(tmp_path / "linked", init=False)


REMOVED: dict[str, tuple[str, ...]] = {
    "remove --force": ("git worktree remove --force {}",),
    "rm, prune": ("rm {}", "git worktree prune"),
    "remove --force, branch -D": ("git worktree remove --force {}", "git branch -qD side"),
}


@pytest.mark.parametrize("steps", REMOVED.values(), ids=REMOVED)
@pytest.mark.parametrize("way", ["--fix", "--let-go"])
def test_a_worktree_removed_with_its_work_is_told_in_the_main_one(
    tmp_path: Path, steps: tuple[str, ...], way: str
) -> None:
    """Sessions that only a removed worktree held are told in the main worktree; both ways out keep the rest."""
    repo, linked = with_worktree(tmp_path)
    linked.session("linked")
    repo.do(*(step.format(linked.root) for step in steps))
    repo.tells()
    if way == "--let-go":
        repo.ok("doctor", "--let-go", TASK)
        repo.silent()
        return
    fixed = repo.run("doctor", "--fix")
    proposals = (repo.root / f".taskstate/artifacts/task-{TASK}").rglob("*")
    proposed = any("thing-linked-end" in path.read_text(encoding="utf-8") for path in proposals if path.is_file())
    assert (repo.count("linked"), fixed.status) == (1, 0) or (proposed, fixed.status) == (True, 1)
    assert [repo.count(number) for number in ALL] == [1] * LAST


GOING: dict[str, tuple[str, ...]] = {
    "nothing was done there": ("git worktree remove --force {}",),
    "it is still there": ("linked",),
    "it was committed": ("linked", "commit", "git worktree remove --force {}"),
    "it was moved": ("linked", "git worktree move {} {}-moved"),
}


@pytest.mark.parametrize("steps", GOING.values(), ids=GOING)
def test_a_worktree_without_a_loss_is_not_told(tmp_path: Path, steps: tuple[str, ...]) -> None:
    """What stands in another worktree, or in a branch, is nothing that is gone."""
    repo, linked = with_worktree(tmp_path)
    for step in steps:
        if step == "linked":
            linked.session("linked")
        elif step == "commit":
            linked.commit("linked")
        else:
            repo.do(step.format(linked.root, linked.root))
    repo.silent()


def test_each_worktree_tells_its_own(tmp_path: Path) -> None:
    """What was lost in a linked worktree is told and mended there."""
    repo, linked = with_worktree(tmp_path)
    linked.do("session linked", f"git checkout -q -- {STATE}")
    linked.whole([*ALL, "linked"])
    repo.silent()


# A folder above that has a configuration


@pytest.mark.parametrize("first", ["init", "new"])
def test_a_configuration_above_git_is_not_ours(tmp_path: Path, first: str) -> None:
    """A repository inside a folder with a `taskstate.toml` is one of its own, and the outer one stays as it is."""
    outer = without_git(tmp_path / "outer")
    before = outer.tree()
    inner = Repo(outer.root / "inner", init=False)
    inner.root.mkdir()
    inner.git("init", "-q", "-b", "main")
    inner.name_author()
    if first == "init":
        inner.ok("init")
        assert (inner.root / "taskstate.toml").exists()
        assert inner.new().status == 0
        inner.session("inner")
        assert inner.count("inner") == 1
    else:
        inner.new()
    assert {name: data for name, data in outer.tree().items() if not name.startswith("inner/")} == before


# Permissions, space, and writers that were killed

READ_ONLY: dict[str, tuple[Story, str, int]] = {
    "the state file": (Story(), STATE, 0o444),
    "the state file of archived sessions": (Story(archived=True), STATE, 0o444),
    "the archive": (Story(archived=True), ARCHIVE, 0o444),
    "the folder of a new archive": (Story(), ".taskstate/archives", 0o555),
}


@pytest.mark.slow
@pytest.mark.parametrize(("how", "name", "mode"), READ_ONLY.values(), ids=READ_ONLY)
def test_what_cannot_be_written_stops_only_itself(tmp_path: Path, how: Story, name: str, mode: int) -> None:
    """An archiving that cannot be finished writes nothing, and nobody else is held up by it."""
    needs_binding()
    repo = story(tmp_path / "repository", how)
    repo.do("session 6", "taskstate new 7 --title T --description d --criterion c --feature a=b")
    before = repo.tree()
    (repo.root / name).chmod(mode)
    refused = repo.bound("archive", TASK, "--force", "--keep", "1")
    assert (refused.status, repo.tree()) == (2, before), refused
    for command in (("list",), ("show", TASK), ("lint",), ("doctor",)):
        assert repo.bound(*command).status == 0, command
    assert repo.bound("session", "add", "7", "--did", "x", "--state", "s", "--next", "n").status == 0
    (repo.root / name).chmod(0o755)
    repo.archive()
    assert [repo.count(number) for number in range(1, 7)] == [1] * 6


@pytest.mark.parametrize("number", range(1, 40, 5))
def test_a_full_disk_stops_only_what_it_cuts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Wherever the space ends in an archiving, other tasks go on, and nothing is lost or doubled."""
    repo = story(tmp_path / "repository")
    assert repo.new("7").status == 0
    with monkeypatch.context() as patch:
        fail_from(number, errno.ENOSPC, patch)
        assert repo.run("archive", TASK, "--force", "--keep", "1").status in {0, 2}
        assert repo.run("show", "7").status == 0
    repo.session("seven", "7")
    repo.session("later")
    repo.run("doctor", "--fix")
    assert [repo.count(each) for each in (*ALL, "later")] == [1] * (LAST + 1)
    repo.quiet()


@forks
@pytest.mark.slow
def test_what_a_killed_writer_leaves_goes_with_the_next_command(tmp_path: Path) -> None:
    """Wherever an archiving is killed, the next write ends it or undoes it, and sweeps up after it."""
    number = 1
    while True:
        repo = story(tmp_path / f"killed-{number}")
        if not killed(repo.archive, number):
            break
        repo.session("later")
        assert [repo.count(each) for each in (*ALL, "later")] == [1] * (LAST + 1)
        assert [path for path in repo.root.rglob("*.tmp") if "objects" not in path.parts] == []
        repo.quiet()
        number += 2
    assert number > 5


# What is kept is damaged, or from a newer version

KEPT_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda data: data[: len(data) // 2],
    "empty": lambda _: b"",
    "NUL": lambda data: b"\0" * len(data),
    "garbage": lambda data: bytes(255 - each for each in data),
    "JSON of another kind": lambda _: b'{"version": 1, "items": 3, "": [null]}\n',
}
NEWER: dict[str, Callable[[bytes], bytes]] = {
    "newer": lambda data: re.sub(rb'("(?:[a-z_]*version|taskstate[a-z_]*|format|schema)": ?)\d+', rb"\g<1>999", data),
}


ANY_KEPT_DAMAGE = KEPT_DAMAGES | NEWER


@pytest.mark.parametrize("damage", ANY_KEPT_DAMAGE.values(), ids=ANY_KEPT_DAMAGE)
def test_damage_to_what_is_kept_is_told_and_work_goes_on(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """The tasks are what counts: commands read and write them, and say that what was kept beside them is of no use."""
    repo = story(tmp_path / "repository")
    before = {path: path.read_bytes() for path in kept_in(repo.common)}
    assert before
    for path, data in before.items():
        path.write_bytes(damage(data))
    if all(path.read_bytes() == data for path, data in before.items()):
        pytest.skip("what is kept names no version")
    said = repo.run("list")
    assert (said.status, "Traceback" in said.err) == (0, False)
    checked = repo.run("doctor")
    assert said.err or checked.status == 1 or "kept" in checked.out
    repo.session("later")
    assert [repo.count(each) for each in (*ALL, "later")] == [1] * (LAST + 1)


@pytest.mark.parametrize("damage", KEPT_DAMAGES.values(), ids=KEPT_DAMAGES)
def test_after_damage_work_is_kept_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    """What is written after the damage is told when it is gone, and comes back."""
    repo = story(tmp_path / "repository")
    for path in kept_in(repo.common):
        path.write_bytes(damage(path.read_bytes()))
    repo.session("later")
    repo.run("doctor", "--fix")
    repo.do(f"git checkout -q -- {STATE}")
    repo.whole([1, 2, 3, "later"])


@pytest.mark.parametrize("start", range(2))
def test_damage_to_one_kept_file_loses_nothing_that_stands(tmp_path: Path, start: int) -> None:
    """Whichever single file is damaged, after a loss as well, commands go on and the cure takes nothing away."""
    first = story(tmp_path / "repository")
    damages = islice(cycle(ANY_KEPT_DAMAGE.values()), 3 * start, None)
    for number, (path, damage) in enumerate(zip(kept_in(first.common), damages, strict=False)):
        shutil.copytree(first.root, tmp_path / str(number))
        repo = Repo(tmp_path / str(number), init=False)
        one = repo.root / path.relative_to(first.root)
        one.write_bytes(damage(one.read_bytes()))
        repo.git("reset", "-q", "--hard")
        assert repo.run("list").status == 0
        repo.session("later")
        repo.run("doctor", "--fix")
        assert [repo.count(each) for each in (1, 2, 3, "later")] == [1] * 4
        assert max(repo.count(each) for each in (4, 5)) <= 1
    assert kept_in(first.common)

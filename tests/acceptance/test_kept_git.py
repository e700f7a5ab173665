"""What git's own commands take away of acknowledged work is told and comes back; what they keep is not told."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import ARCHIVE, COMMITTED, LAST, PLAIN, STATE, STORIES, Story, said, story

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from _pytest.mark.structures import ParameterSet

Steps = tuple[str, ...]
Commands = tuple[tuple[str, ...], ...]
CLEAN = ("clean", "-qfd")
HARD = ("reset", "-q", "--hard")
OTHER = ("branch", "-q", "other")

# Whatever stood in the working tree alone is gone after these; HEAD stays.
LOSSES: dict[str, Commands] = {
    "reset --hard": (HARD,),
    "reset --hard, clean": (HARD, CLEAN),
    "checkout -- .": (("checkout", "-q", "--", "."),),
    "checkout -f": (("checkout", "-qf"),),
    "checkout of the file": (("checkout", "-q", "HEAD", "--", STATE),),
    "restore": (("restore", "."),),
    "restore --staged --worktree": (("add", "-A"), ("restore", "--staged", "--worktree", "--source=HEAD", ".")),
    "switch --discard-changes": (("switch", "-q", "--discard-changes", "main"),),
    "read-tree -u --reset": (("read-tree", "-u", "--reset", "HEAD"),),
    "add, reset --hard": (("add", "-A"), HARD),
    "add, reset --hard, gc": (("add", "-A"), HARD, ("gc", "-q", "--prune=now")),
    "stash, drop": (("stash", "-q"), ("stash", "drop", "-q")),
    "stash -u, drop, gc": (("stash", "-q", "-u"), ("stash", "clear"), ("gc", "-q", "--prune=now")),
    "checkout, clean -x": (("checkout", "-q", "--", "."), ("clean", "-qfdx")),
    "checkout -f of another branch": (OTHER, ("checkout", "-qf", "other")),
}


def told_in_turn(ways: Iterable[str]) -> Iterator[ParameterSet]:
    """Yield each way with one of the stories, taken in turn, and the first way with all of them."""
    first, *others = ways
    yield from (pytest.param(how, first, id=f"{first}-{name}") for name, how in STORIES.items())
    turns = cycle(STORIES.items())
    yield from (pytest.param(how, way, id=f"{way}-{name}") for way, (name, how) in zip(others, turns, strict=False))


@pytest.mark.parametrize(("how", "way"), [*told_in_turn(LOSSES)])
def test_what_git_takes_away_is_told_and_comes_back(tmp_path: Path, how: Story, way: str) -> None:
    """Work that no commit holds is told after any command of git's that destroys it, and `doctor --fix` returns it."""
    repo = story(tmp_path / "repository", how)
    for command in LOSSES[way]:
        repo.git(*command)
    repo.whole()
    assert repo.in_place().count(said("proof")) == 1


@pytest.mark.parametrize("how", STORIES.values(), ids=STORIES)
@pytest.mark.parametrize(
    "commands",
    [(("reset", "-q", "--hard", "HEAD~1"),), (("branch", "other", "HEAD~1"), ("checkout", "-qf", "other"))],
    ids=["reset --hard HEAD~1", "checkout -f of an older branch"],
)
def test_what_no_commit_held_is_told_after_head_moved(tmp_path: Path, how: Story, commands: Commands) -> None:
    """A HEAD that moved hides nothing: what was never committed is told and comes back, and nothing is doubled."""
    repo = story(tmp_path / "repository", how)
    for command in (*commands, CLEAN):
        repo.git(*command)
    repo.tells()
    repo.run("doctor", "--fix")
    assert [repo.count(number) for number in range(COMMITTED + 1, LAST + 1)] == [1, 1]
    assert repo.count(1) == repo.count(2) == 1
    assert repo.count(COMMITTED) <= 1
    assert repo.told() == []


@pytest.mark.parametrize("how", STORIES.values(), ids=STORIES)
def test_a_story_alone_is_quiet(tmp_path: Path, how: Story) -> None:
    """Work that stands where it was written is told by no command."""
    repo = story(tmp_path / "repository", how)
    assert [repo.count(number) for number in range(1, LAST + 1)] == [1] * LAST
    repo.quiet()


TRACKED = Story(tracked=True)
# Sessions that only the archive held: whether an archive was tracked before, and what was done to it
ARCHIVE_LOSSES: dict[str, tuple[Story, Steps]] = {
    "clean": (PLAIN, ("git clean -qfd",)),
    "rm": (PLAIN, (f"rm {ARCHIVE}",)),
    "folder": (PLAIN, ("rm .taskstate/archives",)),
    "commit without it": (PLAIN, (f"rm {ARCHIVE}", f"git add {STATE}", "git commit -qm state")),
    "checkout of a tracked archive": (TRACKED, ("git checkout -q -- .taskstate/archives",)),
    "restore of a tracked archive": (TRACKED, (f"git restore -- {ARCHIVE}",)),
    "rm of a tracked archive": (TRACKED, (f"rm {ARCHIVE}",)),
    "an older archive": (TRACKED, (f"git checkout -q HEAD~2 -- {ARCHIVE}",)),
}


@pytest.mark.parametrize(("how", "steps"), ARCHIVE_LOSSES.values(), ids=ARCHIVE_LOSSES)
def test_what_the_archive_held_is_told_and_comes_back(tmp_path: Path, how: Story, steps: Steps) -> None:
    """An archive that is taken away, or back to an older one, is missed, though the state file stands."""
    repo = story(tmp_path / "repository", how)
    if how.tracked:
        repo.do("archive", "commit archived", "session 6", "commit six")
    repo.do("session 7", "archive", *steps)
    repo.whole([*range(1, LAST + 1), *([6] if how.tracked else []), 7])


HANDOFF = "handoff new 101 --action thing-handoff-end --file app.py --location 'line 1' --goal Works --context fact"
# How an item comes about, and what is seen of it then
ITEMS: dict[str, tuple[Steps, str]] = {
    "a session": (("session 6",), "thing-6-end"),
    "a proof": (("taskstate feature pass 101 jwt-2 --evidence thing-more-end",), "thing-more-end"),
    "another proof": (("taskstate feature pass 101 jwt-1 --evidence thing-new-end",), "thing-new-end"),
    "a check": (("taskstate criterion check 101 1",), "- [x] Tokens verify"),
    "an event": (("taskstate complete 101 --force --note thing-event-end",), "thing-event-end"),
    "a handoff": ((f"taskstate {HANDOFF}",), "thing-handoff-end"),
    "an accepted handoff": ((f"taskstate {HANDOFF}", "taskstate handoff accept 101"), "thing-handoff-end"),
}
DESTROYED: dict[str, Steps] = {
    "checkout, clean": ("git checkout -q -- .", "git clean -qfd"),
    "add, reset, gc": ("git add -A", "git reset -q --hard", "git gc -q --prune=now"),
}


@pytest.mark.parametrize(("item", "destroyed"), [*zip(ITEMS, cycle(DESTROYED.values()), strict=False)], ids=ITEMS)
def test_every_kind_of_item_is_told_and_comes_back(tmp_path: Path, item: str, destroyed: Steps) -> None:
    """Not only sessions are counted: proofs, checks, events and handoffs are told by themselves."""
    steps, seen = ITEMS[item]
    repo = story(tmp_path / "repository")
    repo.do("commit five")
    before = repo.everything().count(seen)
    repo.do(*steps)
    assert repo.everything().count(seen) > before
    repo.do(*destroyed)
    assert repo.everything().count(seen) == before
    repo.tells()
    repo.ok("doctor", "--fix")
    assert repo.everything().count(seen) == before + 1
    repo.quiet()


STASHES: dict[str, tuple[Steps, str]] = {
    "stash": (("git stash -q",), "git stash pop -q"),
    "stash -u": (("git stash -q -u",), "git stash pop -q"),
    "add, stash": (("git add -A", "git stash -q"), "git stash pop -q"),
    "stash of the file": (("git stash push -q .taskstate",), "git stash pop -q"),
    "below another stash": (
        ("git stash -q", "write app.py 2", "git stash -q", "git gc -q --prune=now"),
        "git stash pop -q stash@{1}",
    ),
}


@pytest.mark.parametrize(("how", "way"), [*told_in_turn(STASHES)])
def test_what_the_stash_holds_is_told_with_its_way_back(tmp_path: Path, how: Story, way: str) -> None:
    """Work in the stash is told with `git stash pop`, by `list` and by `doctor`; popped, it is whole and quiet."""
    repo = story(tmp_path / "repository", how)
    steps, pop = STASHES[way]
    repo.do(*steps)
    assert "git stash pop" in repo.run("list").err
    checked = repo.run("doctor")
    assert "git stash pop" in checked.out + checked.err
    repo.do(pop)
    assert [repo.count(number) for number in range(1, LAST + 1)] == [1] * LAST
    repo.quiet()


@pytest.mark.parametrize("stash", ["git stash push -q app.py", "git stash -q", "git stash -q -u"])
def test_verify_names_the_stash(tmp_path: Path, stash: str) -> None:
    """`snapshot verify` says of work that lies in the stash how it comes back."""
    repo = story(tmp_path / "repository")
    repo.do("commit five", "taskstate role set 101 implementer --status in_progress", "write app.py stashed")
    repo.do("taskstate snapshot take 101 --role implementer", stash)
    checked = repo.run("snapshot", "verify", "101", "--role", "implementer")
    assert "stash@{0}" in checked.out or "git stash pop" in checked.err


BOTH_SIDES = (
    "git checkout -qb side",
    "write app.py side",
    "session side",
    "commit side",
    "git checkout -q main",
    "write app.py main",
    "session main",
    "commit main",
)
# In the middle of each, a session is added, and goes with the rest.
ABORTED: dict[str, tuple[Steps, Steps]] = {
    "merge": (("fails merge -q side",), ("git merge --abort",)),
    "rebase": (("fails rebase -q side",), ("git rebase --abort",)),
    "rebase, skipped": (("fails rebase -q side",), ("git rebase --skip",)),
    "cherry-pick": (("fails cherry-pick side",), ("git cherry-pick --abort",)),
    "reset in a merge": (("fails merge -q side",), ("git reset -q --hard",)),
}


@pytest.mark.slow
@pytest.mark.parametrize(("begun", "ended"), ABORTED.values(), ids=ABORTED)
def test_a_session_between_begin_and_abort_is_told(tmp_path: Path, begun: Steps, ended: Steps) -> None:
    """What was written while git waited for a conflict elsewhere is gone with the abort, told, and comes back."""
    repo = story(tmp_path / "repository")
    repo.do("commit five", *BOTH_SIDES, *begun)
    repo.do("session between", "git add -A", *ended)
    assert repo.count("between") == 0
    repo.tells()
    repo.ok("doctor", "--fix")
    assert repo.count("between") == 1
    assert repo.told() == []


ON_SIDE = ("git checkout -qb side", "session side", "commit side")
# All was committed, and only the reflog still knows the commit.
REFLOG: dict[str, Steps] = {
    "reset": ("git reset -q --hard HEAD~1",),
    "reset, twice": ("git reset -q --hard HEAD~1", "git reset -q --hard HEAD~1"),
    "branch -D": (
        "git checkout -qb side",
        "session side",
        "commit side",
        "git checkout -q main",
        "git branch -qD side",
    ),
    "amend": (f"git checkout -q HEAD~1 -- {STATE}", "git commit -q --allow-empty --amend -m other"),
    "rebase --onto": ("write app.py 2", "git commit -qam app", "git rebase -q --onto HEAD~2 HEAD~1"),
    "detached": ("git checkout -q --detach", *ON_SIDE[1:], "git checkout -q main"),
    "branch -f": ("git checkout -q --detach HEAD~1", "git branch -qf main", "git checkout -q main"),
}


@pytest.mark.parametrize("steps", REFLOG.values(), ids=REFLOG)
def test_what_the_reflog_reaches_is_a_note_of_doctor(tmp_path: Path, steps: Steps) -> None:
    """Committed work that was reset on purpose is told by no command; `doctor` notes the commit and is content."""
    repo = story(tmp_path / "repository")
    repo.do("commit five")
    repo.do(*steps)
    repo.silent()
    checked = repo.run("doctor")
    reached = set(repo.git("log", "--all", "HEAD", "--format=%h").split())
    known = set(repo.git("log", "--reflog", "--format=%h").split()) - reached
    assert any(commit in checked.out + checked.err for commit in known), checked


def test_what_not_even_the_reflog_reaches_is_told(tmp_path: Path) -> None:
    """A commit that is gone for good accounts for nothing."""
    repo = story(tmp_path / "repository")
    repo.do(
        "commit five", "git reset -q --hard HEAD~1", "git reflog expire --expire=now --all", "git gc -q --prune=now"
    )
    repo.whole()

"""Both commands of a turn fill the Git History: with what names the task, and with what was committed in the turn."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.storage.git import movement, process
from taskstate.tasks.git_history import MAX_LISTED

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.support.git_place import GitPlace
    from tests.support.turns import Turns


def subjects(place: GitPlace) -> list[str]:
    """Return the subjects that the section lists, from above."""
    section = place.state.section("Git History")
    assert section
    return re.findall(r"(?m)^- `[0-9a-f]{10}` - (.*)$", section.body.of(place.text))


def test_three_roles_and_their_commits(turns: Turns) -> None:
    """What a turn commits is listed at its end, with or without a name; between turns only what names the task."""
    place = turns.place
    turns.start("implementer")
    for text in ("one", "two"):
        place.write("a.txt", text)
        place.commit(f"Wrote {text}, see #7")
    assert turns.finish("Built it.")
    assert subjects(place) == ["Wrote two, see #7", "Wrote one, see #7"]
    place.commit("Record the turn")
    place.commit("Slugs for task 101")
    place.commit("Merge pull request #101 from elsewhere")
    turns.start("reviewer")
    assert subjects(place)[0] == "Slugs for task 101"
    place.commit("Task 102 goes first\n\nTask: 102")
    turns.finish("Read it.")
    assert not place.state.sessions[-1].texts().get("commits")
    turns.start("validator")
    turns.finish("Ran it.")
    assert subjects(place) == ["Slugs for task 101", "Wrote two, see #7", "Wrote one, see #7"]


def test_what_others_made_counts_only_with_a_name(turns: Turns, tmp_path: Path) -> None:
    """A pull in the turn brings in what others committed; a rebase makes the turn's own commits anew."""
    place = turns.place
    turns.start()
    other = place.clone(tmp_path / "other")
    place.git("remote", "add", "origin", other.root.as_uri())
    other.write("b.txt", "theirs")
    other.commit("Theirs (#101)")
    other.commit("Theirs for TASK-101")
    place.write("a.txt", "ours")
    place.git("commit", "--quiet", "--no-verify", "--message=Ours", "a.txt")
    place.git("stash", "--include-untracked")
    place.git("pull", "--quiet", "--rebase", "origin", "main")
    place.git("stash", "pop")
    turns.finish("Built it.", "--pause")
    assert subjects(place) == ["Ours", "Theirs for TASK-101"]


def test_the_list_stays_short(turns: Turns) -> None:
    """Older commits go to the archive together with older events, in the write that ends the turn."""
    place = turns.place
    turns.start()
    for number in range(MAX_LISTED + 3):
        place.commit(f"Step {number}")
    turns.finish("Built it.")
    assert subjects(place) == [f"Step {number}" for number in reversed(range(3, MAX_LISTED + 3))]
    assert re.findall(r"Step \d+", place.archived) == ["Step 2", "Step 1", "Step 0"]
    turns.cli.ok("lint", place.path, place.archive_path)
    assert "nothing to change" in turns.cli.ok("git-history", "sync", "101")


def test_one_look_at_the_log(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git is asked once where there are commits since the base, and not at all where there are none."""
    asked: list[str] = []
    run = process._run  # noqa: SLF001 - every start of git goes through it

    def counting(args: list[str], *rest: object, **more: object) -> object:
        asked.extend(each for each in args[:1] if each == "log")
        return run(args, *rest, **more)  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(process, "_run", counting)
    turns.start()
    assert asked == []
    turns.place.commit("one")
    turns.finish("Built it.")
    assert (asked, subjects(turns.place)) == (["log"], ["one"])


def test_git_says_the_same_as_the_file_of_the_reflog(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another store of references it is told alike; within one second the order tells what came first."""
    begun, stamp = "2001-09-09T01:46:40Z", {"GIT_COMMITTER_DATE": "@1000000000 +0000"}
    made = []
    for message in ("one", "two"):
        place.git("commit", "--quiet", "--allow-empty", f"--message={message}", env=stamp)
        made.append(place.git("rev-parse", "HEAD"))
    place.git("checkout", "--quiet", made[0])
    told = movement.made_here(place.root, begun, made[0]), movement.made_here(place.root)
    assert told[0] == {made[1]}
    assert told[1] >= {*made}
    assert movement.made_here(place.root, "2100-01-01T00:00:00Z") == frozenset()
    monkeypatch.setattr(movement, "small_file", lambda _: None)
    assert told == (movement.made_here(place.root, begun, made[0]), movement.made_here(place.root))

"""Another clone has what git holds: it sees what was committed, and says of the rest that it is not here."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import Cli
from tests.support.place import TASK
from tests.support.turns import PASSING, Turns

if TYPE_CHECKING:
    from tests.cli.conftest import Said

ROLE = ("--role", "implementer")


class Colleague:
    """Somebody with a clone of the repository of `turns`."""

    def __init__(self, turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
        self.turns, self.monkeypatch = turns, monkeypatch

    def clone(self, *how: str) -> Turns:
        """Clone the repository, and go there."""
        place = self.turns.place.clone(self.turns.place.root.with_name("clone"), *how)
        self.monkeypatch.chdir(place.root)
        return Turns(Cli(place, self.monkeypatch, self.turns.cli.capfd))


@pytest.fixture
def colleague(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> Colleague:
    """Return somebody with another clone."""
    return Colleague(turns, monkeypatch)


def is_honest(said: Said | str) -> None:
    """Nothing is called lost, and nothing is said of content that is not known."""
    text = said if isinstance(said, str) else said.out + said.err
    for words in ("lost", "broken", "none, is none", "stash", "edited by hand"):
        assert words not in text, text


@pytest.mark.parametrize("how", [(), ("--depth=1",)], ids=["full", "shallow"])
def test_a_reviewer_elsewhere_sees_what_was_committed(turns: Turns, colleague: Colleague, how: tuple[str, ...]) -> None:
    """Diffs, comparison and restoring work from git, wherever the objects of the snapshot are."""
    turns.place.write("gone.txt", "begun with\n")
    turns.place.commit("before")
    turns.build()
    (turns.place.root / "gone.txt").unlink()
    expected = turns.cli.ok("snapshot", "diff", TASK, *ROLE)
    turns.place.git("checkout", "gone.txt")
    turns.place.commit("the work")
    other = colleague.clone(*how)
    assert not (other.place.root / ".taskstate/artifacts").exists()
    assert "TS704" not in other.cli("lint").out
    verified = other.cli("snapshot", "verify", TASK, *ROLE)
    is_honest(verified)
    assert (verified.status, "is as implementer left it" in verified.out) == (0, True)
    if how:  # the commit that the work began with is not here
        assert "git fetch --unshallow" in other.cli.refused("snapshot", "diff", TASK, *ROLE)
        other.place.git("fetch", "--quiet", "--unshallow")
    assert other.cli.ok("snapshot", "diff", TASK, *ROLE) == expected
    if how:
        return
    started = other.start("reviewer")
    is_honest(started)
    assert f"`taskstate snapshot diff {TASK} --role implementer`" in started
    assert "TS704" not in other.cli("lint").out
    other.place.write("a.txt", "reviewed\n")
    assert "+reviewed" in other.cli.ok("snapshot", "diff", TASK, *ROLE, "--type", "now")
    other.cli.ok("snapshot", "verify", TASK, *ROLE, "--restore", "a.txt")
    assert (other.place.root / "a.txt").read_text() == "built\n"
    other.place.write("a.txt", "reviewed\n")
    other.finish("Reviewed it.")
    assert "-built\n+reviewed" in other.cli.ok("snapshot", "diff", TASK, "--role", "reviewer", "--type", "incremental")


def test_what_was_never_committed_is_said_to_be_elsewhere(turns: Turns, colleague: Colleague) -> None:
    """A clone whose files are those of git says what is missing, and that it is not committed; it blames nobody."""
    turns.build()
    turns.place.git("add", ".taskstate")
    turns.place.git("commit", "--quiet", "--message=only the state file")
    other = colleague.clone()
    for command in (("snapshot", "diff", TASK, *ROLE), ("snapshot", "verify", TASK, *ROLE), ("start", TASK)):
        said = other.cli(*command)
        is_honest(said)
        assert re.search("no commit in this clone has|which is not in this clone", said.out + said.err), (command, said)
        assert "git pull" in said.out + said.err
        assert said.status == (1 if command[1] == "verify" else 2)
    turns.place.git("add", "a.txt")
    turns.place.git("commit", "--quiet", "--message=the work")
    other.place.git("pull", "--quiet")  # the cure that was named
    assert other.cli.ok("snapshot", "diff", TASK, *ROLE).endswith("+built\n")
    other.start("reviewer", agent="bob")


def test_unknown_content_is_called_unknown(turns: Turns, colleague: Colleague) -> None:
    """Of a tree that no commit here has, it is said that nobody here can tell which files differ, and how it comes."""
    turns.build()
    turns.place.git("add", ".taskstate")
    turns.place.git("commit", "--quiet", "--message=only the state file")
    other = colleague.clone()
    other.place.write("a.txt", "something else\n")
    said = other.cli("snapshot", "verify", TASK, *ROLE)
    is_honest(said)
    assert (said.status, "which files differ cannot be told" in said.out) == (1, True)


def test_a_snapshot_that_a_later_role_went_on_from_is_compared_with_that(turns: Turns) -> None:
    """It never drifts, nothing is counted, and no command writes the earlier work over the later."""
    turns.build()
    turns.start("reviewer")
    turns.place.write("a.txt", "reviewed\n")
    turns.finish("Reviewed it.")
    tree = turns.place.snapshot()["tree"]
    verified = turns.cli.json("snapshot", "verify", TASK, *ROLE)
    assert (verified["drift"], verified["superseded_by"]) == (False, "reviewer")
    assert [each["path"] for each in verified["files"]] == ["a.txt"]
    assert turns.place.budget() == 0
    refused = turns.cli.refused("snapshot", "verify", TASK, *ROLE, "--restore", "a.txt")
    assert (turns.place.root / "a.txt").read_text() == "reviewed\n"
    turns.place.write("a.txt", "by hand\n")
    assert "compares the working tree" in turns.cli.ok("snapshot", "verify", TASK, *ROLE)
    turns.cli.ok("snapshot", "resolve", TASK, "--note", "meant")
    assert turns.place.snapshot()["tree"] == tree
    assert "+built" in turns.cli.ok("snapshot", "diff", TASK, *ROLE)
    cure = refused.partition("`taskstate ")[2].partition("`")[0].replace('"WHY"', "why").split()
    turns.cli.ok(*cure)
    turns.cli.ok("snapshot", "verify", TASK, *ROLE, "--restore", "a.txt")
    assert (turns.place.root / "a.txt").read_text() == "built\n"


def test_an_open_turn_that_came_with_a_commit_is_told_as_that(turns: Turns, colleague: Colleague) -> None:
    """Where it began it is resumed without a word more; elsewhere it may still go on there, and that is said once."""
    turns.start()
    turns.place.commit("with the open turn")
    assert "began it in another clone" not in turns.start()
    other = colleague.clone()
    assert "ann (somebody) began it in another clone, and it came with a commit: let it end there" in other.start()
    assert "began it in another clone" not in other.start()


def test_start_says_that_the_checks_are_not_allowed_here(turns: Turns, colleague: Colleague) -> None:
    """Trust stays in the clone where it was given: who begins elsewhere hears it before the work, in one line."""
    turns.check(PASSING)
    turns.build()
    turns.place.commit("the work")
    other = colleague.clone()
    (line,) = [each for each in other.start("reviewer").splitlines() if "nobody has allowed the checks" in each]
    assert f"`taskstate trust {TASK}`" in line
    assert "nobody has allowed the checks" in other.start("reviewer")
    other.place.trust()
    assert "nobody has allowed" not in other.start("reviewer")

"""The entry of a turn tells the whole turn, by each kind of ending; the page on turns shows what a run writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.merging import merge_texts
from tests.support.place import TASK
from tests.support.turns import FAILING, FINDING, PASSING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.turns import Turns

PAGE = Path(__file__).parents[2] / "docs" / "turn.md"
OUTPUT = "### Summary\n\nTokens are issued.\n\n### Files Created/Modified\n\n- `a.txt`\n"
HANDOFF = ("--action", "Write the rest.", "--file", "a.txt", "--location", "line 1", "--goal", "It is done.")


def entry(turns: Turns) -> str:
    """Return the newest entry, with an id for each commit and a moment for each time."""
    text = turns.place.state.sessions[-1].entry
    text = re.sub(r"`[0-9a-f]{10}`", "`4b82c1d0aa`", text)
    return re.sub(r"\d{4}-\d\d-\d\dT?[\d:-]*Z?(?: \d\d:\d\d)?", "2026-01-31 14:05", text)


def _handed_over(turns: Turns) -> None:
    turns.start()
    turns.cli.ok("handoff", "new", TASK, *HANDOFF)
    turns.finish("Wrote half of it.", "--pause")


def _done(turns: Turns) -> None:
    turns.start(agent="bea")
    turns.place.write("a.txt", "built\n")
    turns.place.commit("Issue tokens")
    turns.finish("Wrote the rest.", "--pass", "jwt-1", "--check", "1")


def _sent_back(turns: Turns) -> None:
    turns.start(agent="cai")
    turns.finish("Read the diff.", *FINDING)


def _answered(turns: Turns) -> None:
    turns.start(agent="ann")
    turns.finish("Made it fast.", "--answer", "1=It takes a second now")


def _cleared(turns: Turns) -> None:
    turns.place.write("a.txt", "built, by hand\n")
    turns.start("reviewer", "--accept-drift", "a typo that ann fixed", agent="cai")
    turns.finish("Read the diff.")


def _waived(turns: Turns) -> None:
    turns.start(agent="dan")
    turns.place.write("check.sh", FAILING)
    waived = ("--waive", "sh", "--note", "it fails without a network")
    turns.finish("Ran all.", *waived)


def _completed(turns: Turns) -> None:
    turns.cli.ok("role", "reopen", TASK, "validator", "--note", "one more look")
    turns.start(agent="dan")
    turns.place.write("check.sh", PASSING)
    turns.place.write("out.md", OUTPUT)
    turns.finish("Ran all again.", "--check", "2", "--complete", "--output", "out.md")


STORY: tuple[tuple[str, Callable[[Turns], object]], ...] = (
    (
        "given up",
        lambda turns: (turns.start("implementer"), turns.finish("Tried it.", "--abandon", "--note", "no time")),
    ),
    ("paused", lambda turns: (turns.start("implementer"), turns.finish("Read it.", "--pause"))),
    ("handed over", _handed_over),
    ("done", _done),
    ("sent back", _sent_back),
    ("answered", _answered),
    ("cleared, drift accepted", _cleared),
    ("waived", _waived),
    ("completed", _completed),
)


@pytest.mark.slow
def test_the_page_shows_what_a_run_writes(turns: Turns) -> None:
    """Each ending has its lines there, below those of the words; none of these entries is longer than 16 lines."""
    turns.check(PASSING)
    written = {}
    for name, step in STORY:
        step(turns)
        written[name] = entry(turns)
    assert max(each.count("\n") + 1 for each in written.values()) <= 16
    assert "No findings" in turns.cli.ok("lint")
    part = PAGE.read_text(encoding="utf-8").split("\n## The entry of a turn\n", 1)[1].split("\n## ", 1)[0]
    whole, endings = re.findall(r"(?ms)^```\w+\n(.*?)^```$", part)
    assert whole.rstrip("\n") == written["sent back"]
    rows = [row for name, each in written.items() for row in _rows(name, each)]
    assert endings.splitlines() == rows


def _rows(name: str, text: str) -> list[str]:
    """Return the lines below the words of an entry, the first one behind the name of its ending."""
    lines = list(filter(None, text.split("**Next steps:** Go on.")[1].split("\n")))
    return [f"{shown:26}{line}" for shown, line in zip([name, *[""] * len(lines)], lines, strict=False)]


def test_an_entry_is_completed_and_not_doubled(turns: Turns) -> None:
    """Words that were recorded by a `finish` that found a regression, and committed, are completed by the next one."""
    turns.check(PASSING)
    turns.start("implementer")
    turns.place.write("check.sh", FAILING)
    turns.fails("Built it.", "--verified", "by hand")
    turns.place.write("check.sh", PASSING)
    turns.place.commit("Build it, deadbeef1 undone")
    said = turns.place.state.sessions[-1].entry
    turns.finish("Built it.", "--verified", "by hand")
    told = turns.place.state.sessions[-1]
    assert (turns.sessions, said in turns.place.text) == (1, False)
    assert told.texts()["verification"] == ("by hand", "1 check passed")
    assert re.fullmatch(r"`[0-9a-f]{10}`", told.entry.split("**Commits:** ")[1].split("\n")[0])
    assert "No findings" in turns.cli.ok("lint")


def test_a_short_entry_stays_short(turns: Turns) -> None:
    """Two commits, or findings, stand on one line and are read back as two; a finding is cut at a word's end."""
    long = "src/tagger/parse.py: #a//b gives a alone and loses the b that stands behind the two slashes"
    turns.start("implementer")
    for name in ("one", "two"):
        turns.place.commit(f"Step {name}")
    turns.finish("Built it.")
    told = turns.place.state.sessions[-1].texts()["commits"]
    assert re.findall(r"`\w{10}` (Step \w+)", "|".join(told)) == ["Step one", "Step two"]
    assert re.search(r"(?m)^\*\*Commits:\*\* `\w{10}` Step one; `\w{10}` Step two$", turns.place.text)
    turns.start(agent="cai")
    turns.finish("Read it.", *FINDING, "--finding", long)
    assert turns.place.state.sessions[-1].texts()["findings"] == ("raised 1: It is slow", f"raised 2: {long}")
    assert entry(turns).count("\n") < 16
    turns.start(agent="ann")
    turns.fails("Fixed it.", "--answer", "1=Fast")
    turns.finish("Fixed both.", "--answer", "1=Fast", "--answer", "2=Kept")
    first, last = (each.texts() for each in turns.place.state.sessions[-2:])
    assert (first["agent"], first["outcome"], last["outcome"]) == ("ann (implementer)", ("the turn goes on",), ())
    assert last["findings"][1] == f"answered 2 ({long[:79]}\u2026): Kept"
    assert "No findings" in turns.cli.ok("lint")


@pytest.mark.parametrize("count", [2, 9])
def test_commits_that_were_said_count_once(turns: Turns, count: int) -> None:
    """What a refused `finish` recorded on one line is found again in the list that the end has made of it."""
    turns.start("implementer")
    for number in range(count):
        turns.place.commit(f"Step {number}")
    given = [each for rev in ("HEAD", "HEAD~1") for each in ("--commit", turns.place.git("rev-parse", rev)[:10])]
    turns.fails("Built it.", "--pass", "jwt-1", *given)
    turns.finish("Built it.", *given)
    turns.finish("Built it.", *given)
    assert turns.sessions == 1


def test_commits_that_were_autosaved_are_not_told_again(turns: Turns) -> None:
    """What a session of the turn that recorded nothing left is named by what was put together of it, and no more."""
    turns.start("implementer")
    turns.place.commit("Step 1")
    commit = turns.place.git("rev-parse", "HEAD")[:10]
    turns.place.add("Left it.", agent="claude one (autosaved)", commits=(commit,))
    turns.place.commit("Step 2")
    turns.finish("Built it.")
    told = [each.texts().get("commits", ()) for each in turns.place.state.sessions[-2:]]
    assert [len(each) for each in told] == [1, 1]
    assert told[1][0].endswith("Step 2")


def _refused(turns: Turns, *, is_committed: bool = True) -> None:
    """Record a word in a turn that its check keeps open, commit it, and mend the check."""
    turns.check(PASSING)
    turns.start()
    turns.place.write("check.sh", FAILING)
    turns.fails("Built.")
    if is_committed:
        turns.place.commit("The middle of a long piece of work on tokens")
    turns.place.write("check.sh", PASSING)


def test_an_older_form_that_comes_back_makes_way(turns: Turns) -> None:
    """What an editor saved from before the end is told as gone, and brought back once, as the end has left it."""
    _refused(turns)
    before = turns.place.text
    turns.finish("Built.")
    complete = turns.place.state.sessions[-1].entry
    turns.place.text = before
    assert "doctor --fix" in turns.cli("show", TASK).err
    turns.cli.ok("doctor", "--fix")
    assert [each.entry for each in turns.place.state.sessions] == [complete]
    turns.finish("Built.")
    assert [each.entry for each in turns.place.state.sessions] == [complete]


def test_words_that_somebody_edited_are_the_same_words(turns: Turns) -> None:
    """What a hand adds to recorded words stays, and the same `finish` completes that entry; a later turn adds one."""
    _refused(turns, is_committed=False)
    turns.place.text = turns.place.text.replace("Built.", "Built, and by hand more.", 1)
    turns.cli.ok("criterion", "check", TASK, "1")
    turns.finish("Built.")
    assert turns.sessions == 1
    assert turns.place.state.sessions[0].did == ("Built, and by hand more.",)
    assert turns.place.state.sessions[0].texts()["verification"] == ("1 check passed",)
    turns.start()
    turns.finish("Built.", "--pause")
    assert turns.sessions == 2


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_turn_that_ended_on_one_side_of_a_merge_is_ended(turns: Turns, *, is_ours: bool) -> None:
    """Of a session that the other side has as it was recorded first, the completed form stays; the turn is over."""
    base = turns.place.text
    _refused(turns)
    before = turns.place.text
    turns.finish("Built.")
    complete = turns.place.state.sessions[-1].entry
    sides = (turns.place.text, before)
    text, conflicts = merge_texts(base, *(sides if is_ours else sides[::-1]))
    turns.place.text = text
    assert ([each.entry for each in turns.place.state.sessions], turns.turn) == ([complete], None)
    assert (conflicts, "turn-paused" in text) == (0, False)
    turns.cli.ok("lint")


def test_a_turn_that_nobody_ended_stays_open_in_a_merge(turns: Turns) -> None:
    """A turn of the other side stays where this one has no session of it."""
    base = turns.place.text
    _refused(turns)
    ours = base.replace("Tokens", "Some tokens")
    assert "started_at:" in merge_texts(base, ours, turns.place.text)[0]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_session_by_hand_is_completed(turns: Turns, end: str) -> None:
    """What somebody wrote into the file in this turn gets who and what the turn knows, and stays as it is."""
    turns.start("implementer")
    own = (
        "### Session 1 - 2026-01-31 14:05\n\n**What I did:**\n\n* It.\n\n**Current state:** So.\n\n**Next steps:** On."
    )
    log = turns.place.text.split("## 4. Progress Log\n")[1].split("## 5.")[0]
    turns.place.path.write_bytes(turns.place.text.replace(log, f"\n{own}\n\n").replace("\n", end).encode())
    turns.cli.ok("finish", TASK, "--pause")
    head, body = own.split("\n\n", 1)
    data = turns.place.path.read_bytes()
    assert f"{head}\n\n**By:** ann (implementer)\n\n{body}\n\n**Outcome:** paused\n" in data.decode().replace(
        "\r\n", "\n"
    )
    assert data.count(b"\r\n") == (data.count(b"\n") if end == "\r\n" else 0)


def test_commits_that_others_made_are_not_the_turns(turns: Turns) -> None:
    """A merge that brings commits of another branch lists none of them; more than eight are counted."""
    turns.start("implementer")
    theirs = turns.place.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "Their work")
    turns.place.git("merge", "--quiet", "--ff-only", theirs)
    for number in range(11):
        turns.place.write("a.txt", f"{number}\n")
        turns.place.commit(f"Step {number} <!-- of it")
    turns.finish("Built it.")
    commits = turns.place.state.sessions[-1].texts()["commits"]
    assert [each.split(" ", 1)[1] for each in commits] == [
        *(f"Step {number} <\\!-- of it" for number in range(3, 11)),
        "and 2 more before these",
    ]

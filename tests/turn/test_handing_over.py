"""A turn that is paused is handed over in the same command: nothing that was said is asked for again."""

from __future__ import annotations

import os
import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest

from taskstate.handoff import token_count
from taskstate.merge.merge_files import merge_files
from taskstate.units.three_way import Versions
from tests.support.place import TASK, tree
from tests.support.turns import FINDING, PASSING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Said
    from tests.support.turns import Turns

PAUSE = ("--pause", "--handoff")


def document(turns: Turns) -> str:
    """Return the text of the open handoff document."""
    path = turns.place.workspace.state_root / str(turns.place.values["handoffs"]["open"])
    return path.read_text(encoding="utf-8")


def test_from_pause_to_successor_in_two_commands(turns: Turns) -> None:
    """What was said once is on the document and on the successor's page, which has all that its `finish` asks for."""
    turns.cli.ok("new", "900", "--kind", "permanent", "--title", "Shared", "--description", "Keep it.")
    turns.build()
    turns.start()
    turns.cli.ok("finish", TASK, *turns.words("Read it."), *FINDING)
    turns.start()
    turns.place.write("a.txt", "built\nfaster\n")
    turns.place.write("b.txt", "new\n")
    os.utime(turns.place.root / "a.txt", (1, 1))
    said = turns.finish("Half.", *PAUSE, "--issue", "Not measured: no clock")
    assert re.search(r"\nhanded over: \.taskstate/handoffs/task-101/phase-1-handoff-\w+\.md\nnext: .* start 101 ", said)
    assert (turns.turn, turns.role("implementer")) == (None, "in_progress")
    assert turns.place.state.sessions[-1].texts()["outcome"] == ("handed over",)
    text = document(turns)
    parts = [
        "Go on.",
        "- File: `b.txt`",
        "- Location: all of it is new",
        "feature jwt-1",
        "After: Half.",
        "Not measured",
    ]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert turns.cli("lint").status == 0
    assert turns.place.state.sessions[-1].field("outcome") == ("handed over",)
    page = turns.start(agent="bob")
    assert page.count("You take over task #101 ") == 1
    parts = ["Go on.", "After: Half.", "`b.txt`", "finding 1: It is slow", "criterion 1: ", "feature jwt-1: ", "PT-v1"]
    assert [page.index(part) for part in parts] == sorted(page.index(part) for part in parts)
    assert "show 900" in page
    assert token_count.count(page) <= 700
    turns.finish("All.", "--answer", "1=Faster", "--check", "1", "--pass", "jwt-1", "--evidence", "seen")
    assert turns.role("implementer") == "done"


@pytest.mark.parametrize("words", ["Fixed `slow.py`, a lot.", "Fixed slow.py a lot."])
def test_the_file_that_the_words_name_goes_before_the_newest(turns: Turns, words: str) -> None:
    """It is where the work goes on, and the places of its changes are told."""
    turns.place.write("slow.py", "".join(f"line {number}\n" for number in range(60)))
    turns.place.write("lock.txt", "1\n")
    turns.place.commit("both")
    turns.start()
    lines = (turns.place.root / "slow.py").read_text(encoding="utf-8").splitlines()
    lines[9], lines[49] = "other", "another"
    turns.place.write("slow.py", "\n".join(lines) + "\n")
    os.utime(turns.place.root / "slow.py", (1, 1))
    turns.place.write("lock.txt", "2\n")
    turns.place.write("with\ttab", "x")
    turns.place.commit("work of the turn")
    turns.finish(words, "--pause")
    said = turns.cli.ok("handoff", "new", TASK, "--draft")
    assert said.endswith(f"next, for the successor: `taskstate start {TASK}`\n")
    assert "- File: `slow.py`\n- Location: changed around line 10, 50\n" in document(turns)


def test_a_turn_that_changed_nothing_names_no_place(turns: Turns) -> None:
    """Where an earlier turn of the same role was paused, its change is not told as one of this turn."""
    turns.start("implementer")
    turns.place.write("a.txt", "half\n")
    turns.finish("Half.", *PAUSE)
    assert "- File: `a.txt`\n- Location: changed around line 1\n" in document(turns)
    turns.start()
    turns.finish("Read it.", *PAUSE)
    assert "- Location: None.\n" in document(turns)


@pytest.mark.parametrize("content", [b"\0\1" * 600_000, b"\0\1"])
def test_a_file_without_lines_has_no_place_in_it(turns: Turns, content: bytes) -> None:
    """A binary or very large file is named alone; what was deleted is no file to go on with."""
    turns.place.write("gone.txt", "x\n")
    turns.place.commit("a file")
    turns.start()
    turns.place.write("image.bin", content)
    (turns.place.root / "gone.txt").unlink()
    turns.finish("Half.", *PAUSE)
    assert "- File: `image.bin`\n- Location: " in document(turns)
    assert "around" not in document(turns)


def test_without_git_there_is_no_file_to_name(turns: Turns) -> None:
    """The document says so, and the successor's page leaves it out."""
    (turns.place.root / ".git").rename(turns.place.root.parent / "gone")
    turns.start()
    turns.place.write("a.txt", "half\n")
    turns.finish("Half.", *PAUSE)
    assert "- File: None.\n- Location: None.\n" in document(turns)
    assert "- File:" not in turns.start()


def nothing_next(turns: Turns) -> Said:
    """Pause without a next step."""
    return turns.cli("finish", TASK, "--did", "Half.", "--state", "s", "--next", "None", *PAUSE)


def handed_over_already(turns: Turns) -> Said:
    """Pause where a document is open that was written in this turn."""
    turns.place.add()
    turns.cli.ok("handoff", "new", TASK, "--draft")
    return turns.fails("Half.", *PAUSE)


@pytest.mark.parametrize(
    ("refused", "cure"),
    [
        (nothing_next, 'handoff new 101 --draft --action "STEP"'),
        (handed_over_already, "`taskstate handoff accept 101` takes it over first"),
    ],
)
def test_what_cannot_be_handed_over_leaves_the_turn_open(turns: Turns, refused: object, cure: str) -> None:
    """The session is recorded once, one line says what to do, and no document is half-written."""
    assert callable(refused)
    turns.start()
    said = refused(turns)
    assert (said.status, said.err.count("\n"), cure in said.err) == (1, 1, True)
    assert "your session is recorded (once)" in said.out
    assert turns.turn["agent"] == "ann"
    assert turns.place.text.count("Half.") >= 1


def test_the_same_words_hand_over_once(turns: Turns) -> None:
    """Given again the command changes nothing; a pause that handed nothing over names the command that does."""
    turns.start()
    turns.finish("Half.", *PAUSE)
    before = tree(turns.place.root)
    assert "says this already" in turns.finish("Half.", *PAUSE)
    assert tree(turns.place.root) == before
    turns.start()
    turns.finish("The rest.", "--pause")
    error = turns.cli.refused("finish", TASK, *turns.words("The rest."), *PAUSE)
    command = re.search(r"not done: --handoff: `taskstate ([^`]+)` does it", error)
    assert command
    turns.cli.ok(*command[1].split())
    assert "After: The rest." in document(turns)


# Two branches


def merged(turns: Turns, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
    """Bring together what two sides did from here, with the documents of both."""
    path, folder = turns.place.path, turns.place.workspace.state_root / "handoffs"
    base, texts = path.read_bytes(), []
    documents: dict[Path, bytes] = {}
    for side in (ours, theirs):
        path.write_bytes(base)
        shutil.rmtree(folder, ignore_errors=True)
        side()
        texts.append(path.read_bytes())
        documents |= {each: each.read_bytes() for each in folder.rglob("*.md")}
    for each, data in documents.items():
        each.parent.mkdir(parents=True, exist_ok=True)
        each.write_bytes(data)
    made = merge_files(Versions(base, *texts), path.name)
    assert not made.conflicts
    path.write_bytes(made.data)


def test_a_turn_of_another_branch_is_no_successor(turns: Turns) -> None:
    """A reviewer whose turn is open gets no page of a handoff among implementers, and takes nothing over."""

    def reviews() -> None:
        turns.start("implementer")
        turns.finish("Built it.")
        turns.start("reviewer", agent="cai")

    def goes_on() -> None:
        turns.start("implementer", agent="bea")
        turns.finish("Half.", *PAUSE)
        turns.start(agent="bea")

    merged(turns, reviews, goes_on)
    assert "You take over" not in turns.start(agent="cai")
    turns.finish("Read it.", "--pause")
    assert "took over" not in turns.place.text


def test_two_branches_that_both_hand_over_take_one_call_more(turns: Turns) -> None:
    """Each document is accepted, nothing is said of work in no handoff, and the page names what else was taken over."""

    def hands_over(did: str, path: str) -> None:
        turns.start("implementer")
        turns.place.write(path, "new\n")
        turns.finish(did, *PAUSE)
        time.sleep(1)  # a document is named after its second, and accepted later than it was written

    merged(turns, lambda: hands_over("One.", "b.txt"), lambda: hands_over("Two.", "c.txt"))
    said = turns.cli.ok("handoff", "list", TASK)
    assert said.count("open  ") == 2
    assert "in no handoff" not in said
    page = turns.start()
    first, second = (each["handoff_path"] for each in turns.cli.json("handoff", "list", TASK))
    assert f"Read `{second}`" in page
    assert f": `taskstate handoff list {TASK}` names both documents.\n" in page
    assert "TS807" not in turns.cli("lint").out
    turns.finish("On.", "--pause")
    times = re.findall(r"handoff of (\S+ \S+)", turns.place.state.sessions[-1].agent)
    assert [re.sub(r"\D", "", each) for each in times] == [re.sub(r"\D", "", each[-20:]) for each in (first, second)]


# Features that pass


def test_a_pause_lets_a_feature_pass_by_a_run_of_the_checks(turns: Turns) -> None:
    """As at the end of the work: the run is the evidence, and without --pass a pause runs nothing."""
    turns.check(f"echo run >> ../ran\n{PASSING}")
    turns.start("implementer")
    turns.finish("Half.", "--pause")
    ran = turns.place.root.parent / "ran"
    assert ran.read_text().count("run") == 1, "the baseline"
    turns.start()
    said = turns.finish("Half of the rest.", *PAUSE, "--pass", "jwt-1")
    assert "checks: 1 of 1 pass\njwt-1 passes\npaused: implementer is still in progress\n" in said
    assert ran.read_text().count("run") == 2
    assert '"command": "sh check.sh"' in turns.place.text
    assert "criterion 1 is met" in document(turns), "what has passed is no goal"


@pytest.mark.parametrize("ending", [("--pause",), FINDING, ("--abandon", "--note", "n")])
def test_no_feature_passes_by_checks_that_fail(turns: Turns, ending: tuple[str, ...]) -> None:
    """The line says what to do, the turn stays open, and without --pass it ends."""
    turns.build()
    turns.check("test -e good\n")
    turns.start("reviewer", "--accept-drift", "a check")
    said = turns.fails("Read it.", *ending, "--pass", "jwt-1")
    assert (
        "--pass needs a run in which all checks pass, or --evidence: sh check.sh fails; without --pass the" in said.err
    )
    assert '"passes": true' not in turns.place.text
    turns.finish("Read it.", *ending)
    assert turns.turn is None


def test_a_pause_without_commands_wants_evidence(turns: Turns) -> None:
    """Nothing can prove the feature, and the cure that is named works with the same words."""
    turns.start()
    assert '--evidence "HOW"' in turns.fails("Half.", "--pause", "--pass", "jwt-1").err
    turns.finish("Half.", "--pause", "--pass", "jwt-1", "--evidence", "by hand")
    assert (turns.sessions, turns.turn, '"passes": true' in turns.place.text) == (1, None, True)


def test_a_pause_runs_nothing_that_is_not_trusted(turns: Turns) -> None:
    """Then the feature does not pass, and the line says how it can."""
    turns.place.write("check.sh", "touch ../ran\n")
    turns.place.configure('[validation]\n"*" = ["sh check.sh"]\n')
    turns.start()
    said = turns.fails("Half.", "--pause", "--pass", "jwt-1")
    assert "taskstate trust" in said.err
    assert not (turns.place.root.parent / "ran").exists()
    assert '"passes": true' not in turns.place.text

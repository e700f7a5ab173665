"""A turn ends with its session, its checks, its snapshot and what comes next; what was said is recorded in any case."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.merge.front_matter import front_matter_text
from taskstate.workspace.workspace import Workspace
from tests.support.cures import filled
from tests.support.place import TASK, tree
from tests.support.turns import CHECK, FAILING, FINDING, PASSING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded
    from tests.support.turns import Turns

OUTPUT = "### Summary\n\nTokens are issued.\n\n### Files Created/Modified\n\n- `a.txt`\n"


def test_a_role_is_done_and_the_next_one_named(turns: Turns) -> None:
    """Session, snapshot, role and the tree that is left are written, and no turn is open any more."""
    turns.start("implementer")
    turns.place.write("a.txt", "built\n")
    said = turns.finish("Built it.")
    assert f"next: `taskstate start {TASK} --role reviewer`" in said
    assert (turns.role("implementer"), turns.turn, turns.sessions) == ("done", None, 1)
    assert turns.delta["left"]["tree"] == turns.place.snapshot()["tree"]
    assert turns.delta["left"]["branch"] == "main"


@pytest.mark.parametrize("ending", [(), ("--pause",)])
def test_the_file_is_parsed_once(turns: Turns, monkeypatch: pytest.MonkeyPatch, ending: tuple[str, ...]) -> None:
    """What a step of a turn returns is what the next one takes: only the first one parses what lies on disk."""
    parsed, load = list[bool](), Workspace.load

    def counted(workspace: Workspace, path: Path, known: Loaded | None = None, **more: Any) -> Loaded:  # noqa: ANN401
        loaded = load(workspace, path, known, **more)
        parsed.append(loaded is not known)
        return loaded

    monkeypatch.setattr(Workspace, "load", counted)
    turns.start("implementer")
    turns.cli.ok("list")  # which looks whether anything is gone
    turns.place.write("a.txt", "built\n")
    parsed.clear()
    turns.finish("Built it.", *ending)
    assert parsed.count(True) == 1


def test_what_is_written_while_the_checks_run_stays(turns: Turns) -> None:
    """The end of a turn is planned on the file as it is then, and not as its session left it."""
    turns.check(f"echo '- Theirs.' >> .taskstate/tasks/task-{TASK}-state.md\n{PASSING}")
    turns.start()  # runs them, too
    turns.finish("Built it.")
    assert (turns.place.text.count("- Theirs."), turns.sessions, turns.turn) == (2, 1, None)


def test_a_turn_that_changed_nothing_ends_like_any_other(turns: Turns) -> None:
    """A review leaves no files."""
    turns.build()
    turns.start()
    assert "--role validator" in turns.finish("Read it.")
    assert turns.role("reviewer") == "done"


def test_without_a_turn_the_words_are_kept_in_a_file(turns: Turns) -> None:
    """The error names the one command that records them, which does; the state file is as before."""
    text = turns.place.text
    error = turns.fails("Worked unseen.", status=2).err
    assert error.count("\n") == 1
    assert turns.place.text == text
    command = re.search(r"`taskstate (session add \S+ --from (\S+))`", error)
    assert command
    turns.cli.ok(*command[1].split())
    assert (turns.sessions, turns.place.state.sessions[-1].agent) == (1, turns.place.values["audit"]["updated_by"])
    assert "Worked unseen." in turns.place.text


BOB = ("--actor", "bob")


@pytest.mark.parametrize("other", [("--agent", "bob"), BOB, ("--agent", "ann", *BOB)])
def test_another_agent_ends_no_turn_without_a_word(turns: Turns, other: tuple[str, ...]) -> None:
    """Another actor, or another agent by name, is refused; the command that is named ends it with the words kept."""
    turns.start("implementer")
    error = turns.fails("Stepped in.", *other, status=2).err
    assert "the turn is ann" in error
    assert turns.turn["agent"] == "ann"
    command = re.search(r"`taskstate (finish [^`]+)`", error)
    assert command
    turns.cli.ok(*filled(command[1]), *other)
    assert (turns.turn, turns.role("implementer"), turns.events[-1]) == (None, "done", "turn-taken-over")
    assert "Stepped in." in turns.place.text
    assert not [*turns.place.root.rglob("session-*.json")]


def test_a_kept_session_that_was_recorded_is_left_out(turns: Turns) -> None:
    """Its file goes with that: who gives it again is told so, and the turn ends without it."""
    turns.build()
    turns.start("reviewer")
    turns.finish("Too slow.", *FINDING)
    turns.start()
    found = re.search(r"`taskstate (finish [^`]+)`", turns.fails("Stepped in.", *BOB, status=2).err)
    assert found
    words, answer = filled(found[1]), ("--answer", "1=It is fast")
    assert "finding 1 has no answer" in turns.cli(*words).err
    assert "leave --from out" in turns.cli(*words, *answer).err
    at = words.index("--from")
    turns.cli.ok(*words[:at], *words[at + 2 :], *answer)
    assert turns.place.text.count("**What I did:** Stepped in.") == 1


def test_a_turn_is_its_actor_s_and_its_agent_s(turns: Turns) -> None:
    """Who began it ends it without a name or with the same one, and needs no reason; the session bears its name."""
    for agent in ((), ("--agent", "ann"), ("--agent", "ann", "--take-over", "no need")):
        turns.start()
        turns.finish(f"Went on {len(agent)}.", "--pause", *agent)
    assert turns.turn is None
    assert "turn-taken-over" not in turns.events
    assert re.findall(r"\*\*By:\*\* (\w+)", turns.place.text) == ["ann"] * 3


def test_who_takes_over_is_named_in_the_session(turns: Turns) -> None:
    """The words of who ends the turn of another are not the other's."""
    turns.start()
    turns.finish("Stepped in.", "--pause", "--take-over", "ann is gone", *BOB)
    assert re.findall(r"\*\*By:\*\* (\w+)", turns.place.text) == ["bob"]
    assert "note: ann is gone, from: ann" in turns.place.text


@pytest.mark.parametrize(
    "ending", [("complete", TASK, "--force", "--note", "enough"), ("drop", TASK, "--note", "not wanted")]
)
def test_a_task_that_ends_with_a_turn_open_says_whose(turns: Turns, ending: tuple[str, ...]) -> None:
    """Its own agent is not told, another one is."""
    turns.start()
    said = turns.cli.ok(*ending, "--dry-run", "--format", "json")
    assert "works on it" not in said
    assert "ann works on it since" in turns.cli.ok(*ending, *BOB)


def test_without_words_nothing_ends(turns: Turns) -> None:
    """It is refused and changes nothing, unless the agent wrote a session into the file by hand in this turn."""
    turns.start()
    assert "nothing was recorded in this turn" in turns.cli.refused("finish", TASK)
    turns.place.fill(1)
    turns.cli.ok("finish", TASK)
    assert (turns.turn, turns.sessions) == (None, 1)


def test_a_session_from_before_the_turn_is_not_enough(turns: Turns) -> None:
    """Only what was recorded since `start` counts."""
    turns.place.fill(1)
    turns.start()
    assert "nothing was recorded in this turn" in turns.cli.refused("finish", TASK)


@pytest.mark.parametrize("ending", [(), ("--pause",)])
def test_the_same_words_twice_are_one_session(turns: Turns, ending: tuple[str, ...]) -> None:
    """The second call succeeds and changes nothing on the disk."""
    turns.start("implementer")
    turns.finish("Built it.", *ending)
    before = tree(turns.place.root)
    assert "the turn has ended, and session 1 says this already" in turns.finish("Built it.", *ending)
    assert tree(turns.place.root) == before


def test_the_same_words_with_more_are_no_success(turns: Turns) -> None:
    """What is asked besides, and was not done, is named; what was done may be said again."""
    turns.start("implementer")
    turns.finish("Built it.", "--check", "1")
    turns.finish("Built it.", "--check", "1")
    before = tree(turns.place.root)
    more = ("--check", "1", "--pass", "jwt-1", "--evidence", "seen", "--complete")
    refused = turns.cli.refused("finish", TASK, *turns.words("Built it."), *more)
    assert "not done: --pass jwt-1, --complete" in refused
    assert f"`taskstate start {TASK}` begins a turn" in refused
    assert tree(turns.place.root) == before


def test_the_same_words_in_two_turns_are_two_sessions(turns: Turns) -> None:
    """Only within one turn do they count once."""
    turns.start()
    turns.finish("Went on.")
    turns.start()
    turns.finish("Went on.")
    assert turns.sessions == 2


@pytest.mark.parametrize("end", [("drop", TASK, "--note", "n"), ("complete", TASK, "--force", "--note", "n")])
def test_a_turn_of_a_task_that_ended_meanwhile(turns: Turns, end: tuple[str, ...]) -> None:
    """What was done is recorded or kept, and no traceback or half-done role is left."""
    turns.start("implementer")
    turns.cli.ok(*end)
    error = turns.fails("Built it.", status=2).err
    assert 'no turn is open: `taskstate reopen 101 --note "WHY"` and then `taskstate start 101` begins one' in error
    kept = any(b"Built it." in path.read_bytes() for path in turns.place.workspace.state_root.rglob("*.json"))
    assert kept or "Built it." in turns.place.text
    assert turns.role("implementer") != "done"


def test_a_file_that_does_not_parse_is_an_error(turns: Turns) -> None:
    """The line is named, with status 2, and the file is as before."""
    turns.start()
    turns.place.text = turns.place.text.replace("---\n", "---\n: [\n", 1)
    text = turns.place.text
    assert "task-101-state.md is damaged: line 2: " in turns.fails("Built it.", status=2).err
    assert turns.place.text == text


def test_a_pass_that_no_command_wrote_is_refused_before_anything_is_recorded(turns: Turns) -> None:
    """The words are kept and nothing counts; both cures let the turn end, and leave nothing to tell."""
    turns.start()
    text = turns.place.text
    turns.place.text = text.replace('"passes": false', '"passes": true', 1)
    forged = turns.place.text
    error = turns.fails("Built it.", status=2).err
    assert "TS303 this feature passes, but `tested_at` does not say when it was tested" in error
    assert "or set `passes` to false; the session is kept: `taskstate session add 101 --from " in error
    assert turns.place.text == forged
    turns.place.text = text
    turns.finish("Built it.")
    assert turns.cli("list").err == ""
    turns.start()
    turns.place.text = turns.place.text.replace('"passes": false', '"passes": true', 1)
    turns.finish("Proved it.", "--pass", "jwt-1", "--evidence", "ran it")
    assert turns.cli("list").err == ""


# Checks


def test_a_regression_keeps_the_turn_open(turns: Turns) -> None:
    """Exit status 1, the session recorded once, the failing output shown; when it is mended, the same words end it."""
    turns.check(PASSING)
    turns.start("implementer")
    turns.place.write("check.sh", FAILING)
    for _ in range(2):
        said = turns.fails("Built it.", "--pass", "jwt-1")
        assert "expected 1, got 2" in said.out
        assert f"{CHECK}: " in said.err
        assert (turns.sessions, turns.role("implementer")) == (1, "in_progress")
    assert turns.turn["agent"] == "ann"
    assert '"passes": true' not in turns.place.text
    turns.place.write("check.sh", "echo better\n")
    turns.finish("Built it.", "--pass", "jwt-1")
    assert (turns.sessions, turns.role("implementer")) == (1, "done")
    assert '"passes": true' in turns.place.text


def test_what_failed_before_is_no_regression(turns: Turns) -> None:
    """It does not keep the role from being done, but proves no feature."""
    turns.check(FAILING)
    turns.start("implementer")
    assert "--pass needs a run in which all checks pass" in turns.fails("Built it.", "--pass", "jwt-1").err
    turns.finish("Built it.")
    assert (turns.sessions, turns.role("implementer")) == (1, "done")


def test_a_waived_regression_is_an_event_and_proves_nothing(turns: Turns) -> None:
    """A reason is needed, `--pass` then wants evidence of its own, and the event names the check."""
    turns.check(PASSING)
    turns.start("implementer")
    turns.place.write("check.sh", FAILING)
    assert "--note" in turns.fails("Built it.", "--waive", CHECK, status=2).err
    waive = ("--waive", CHECK, "--note", "the server is down")
    assert turns.fails("Built it.", *waive, "--pass", "jwt-1").status == 1
    assert turns.fails("Built it.", "--waive", "nothing", "--note", "n").err.count("\n") == 1
    turns.finish("Built it.", *waive, "--pass", "jwt-1", "--evidence", "by hand")
    assert "regression-waived" in turns.events
    assert "the server is down" in turns.place.text
    assert (turns.sessions, turns.role("implementer")) == (1, "done")


def test_a_check_that_changes_a_tracked_file_is_named(turns: Turns) -> None:
    """The turn is not done though the check passes; new files are only told."""
    turns.check(PASSING)
    turns.start("implementer")
    turns.place.write("check.sh", "echo x >>a.txt\n")
    said = turns.fails("Built it.")
    assert "the checks changed 1 tracked file: a.txt" in said.err
    assert turns.role("implementer") == "in_progress"
    turns.place.write("check.sh", "echo x >new.txt\n")
    assert "the checks left new.txt behind" in turns.finish("Built it.")


def test_commands_that_nobody_trusts_are_not_run(turns: Turns) -> None:
    """The turn stays open until they are trusted, or a log is given; with a log a feature wants evidence."""
    turns.place.configure('[validation]\n"*" = ["touch ran"]\n')
    turns.place.commit("a check")
    turns.start("implementer")
    said = turns.fails("Built it.")
    assert "`taskstate trust 101`" in said.err
    assert (turns.sessions, turns.turn["agent"]) == (1, "ann")
    log = turns.place.root.parent / "log"
    log.write_text("===== 3 passed in 0.01s =====\n", encoding="utf-8")
    assert "--evidence" in turns.fails("Built it.", "--qa-log", str(log), "--pass", "jwt-1").err
    turns.finish("Built it.", "--qa-log", str(log))
    assert not (turns.place.root / "ran").exists()
    assert (turns.sessions, turns.role("implementer")) == (1, "done")


def test_a_turn_that_somebody_ended_meanwhile(turns: Turns) -> None:
    """The session is recorded, which is said, and that the turn stays open is not."""
    turns.check(PASSING)
    turns.start("implementer")
    turns.place.write("check.sh", f"{sys.executable} -m taskstate finish {TASK} --pause --did x --state y --next z\n")
    said = turns.fails("Built it.")
    assert "somebody else ended this turn meanwhile" in said.err
    assert "recorded" in said.out
    assert "stays open" not in said.out


def test_without_commands_a_feature_wants_evidence(turns: Turns) -> None:
    """Nothing was run that could prove it."""
    turns.start()
    assert "--pass needs --evidence" in turns.fails("Built it.", "--pass", "jwt-1").err
    turns.finish("Built it.", "--pass", "jwt-1", "--evidence", "seen", "--check", "1")
    assert (turns.sessions, '"passes": true' in turns.place.text) == (1, True)
    assert "- [x] Tokens verify" in turns.place.text


@pytest.mark.parametrize(
    ("wrong", "lines"),
    [
        (("--pass", "x", "--evidence", "e"), 1),
        (("--check", "9"), 1),
        (("--answer", "7=done"), 1),
        (("--keep", "7", "--send-back", "implementer", "--finding", "It is slow"), 1),
        (("--pass", "x", "--pass", "y", "--evidence", "e", "--check", "9", "--check", "1"), 4),
    ],
)
def test_what_does_not_exist_is_refused_before_anything_is_recorded(
    turns: Turns, wrong: tuple[str, ...], lines: int
) -> None:
    """A slip changes nothing, and all slips are named at once: other words with the right numbers are one session."""
    turns.build()
    turns.start("reviewer")
    before, session = turns.place.text, turns.sessions
    said = turns.fails("Read it, with a slip.", *wrong, status=2)
    assert (said.err.count("\n"), turns.place.text) == (lines, before)
    turns.finish("Read it.")
    assert (turns.sessions, turns.role("reviewer")) == (session + 1, "done")


# Other endings


def test_a_paused_role_goes_on_from_its_first_turn(turns: Turns) -> None:
    """What it did before the pause is in its own diff, and does not count as drift."""
    turns.build()
    turns.start("reviewer")
    first = turns.turn["tree"]
    turns.place.write("a.txt", "half\n")
    turns.finish("Half.", "--pause")
    assert (turns.role("reviewer"), turns.turn) == ("in_progress", None)
    assert "not what the last turn left" not in turns.start(agent="bob")
    turns.place.write("src/b.py", "b = 2\n")
    turns.finish("The rest.")
    assert turns.place.snapshot("reviewer")["start_tree"] == first
    diff = turns.cli.ok("snapshot", "diff", TASK, "--role", "reviewer", "--type", "incremental")
    assert "+half" in diff
    assert "+b = 2" in diff
    assert "start_tree" not in turns.delta["left"]


def test_a_turn_that_is_given_up(turns: Turns) -> None:
    """A reason is needed; the role is pending again, the files stay, and an event says why."""
    turns.start("implementer")
    turns.place.write("a.txt", "half\n")
    assert "--note" in turns.cli.refused("finish", TASK, "--abandon")
    turns.cli.ok("finish", TASK, "--abandon", "--note", "wrong way")
    assert (turns.role("implementer"), turns.turn, turns.sessions) == ("pending", None, 0)
    assert (turns.place.root / "a.txt").read_text() == "half\n"
    assert turns.events[-1] == "turn-abandoned"
    before = turns.place.text
    assert "no turn is open" in turns.cli.ok("finish", TASK, "--abandon", "--note", "wrong way")
    assert turns.place.text == before


def test_a_turn_answers_for_what_changed_in_it_alone(turns: Turns) -> None:
    """What was there before it is drift of another task; so is again what an abandoned one changed, and is named."""
    turns.build()
    verify, other = ("snapshot", "verify", TASK, "--role", "implementer", "--dry-run"), ("102", "--agent", "bob")
    turns.place.new("102")
    turns.place.write("src/b.py", "by hand\n")
    turns.cli.ok("start", *other)
    turns.place.write("src/c.py", "bob's\n")
    notes = turns.cli.json(*verify, status=1)["notes"]
    assert [each.partition(" (")[0] for each in notes] == ["counted as work of the open turn of task 102"]
    turns.cli.ok("finish", *other, *turns.words("Wrote it."))
    told = turns.cli.json(*verify, status=1)
    assert [each["path"] for each in (*told["files"], *told["explained"])] == ["src/b.py", "src/c.py"]
    turns.cli.ok("start", *other)
    turns.place.write("src/d.py", "half\n")
    assert [each["path"] for each in turns.cli.json(*verify, status=1)["files"]] == ["src/b.py"]
    turns.cli.ok("finish", *other, "--abandon", "--note", "wrong way")
    assert [each["path"] for each in turns.cli.json(*verify, status=1)["files"]] == ["src/b.py", "src/d.py"]
    assert "src/d.py" in turns.cli.ok("snapshot", "diff", "102", "--type", "now")
    assert "src/d.py is not what bob left" in turns.cli.ok("status")
    turns.cli.ok("snapshot", "resolve", "102", "--note", "half is fine")
    assert "src/d.py" not in turns.cli.ok("status")


def test_work_is_sent_back_and_answered(turns: Turns) -> None:
    """The next start is of the earlier role, begins with the finding, and is done only when it has an answer."""
    turns.build()
    turns.start()
    assert "--role implementer" in turns.finish("Read it.", *FINDING)
    begun = turns.start()
    assert begun.startswith(f"task {TASK}, implementer")
    assert "It is slow" in begun
    turns.place.write("a.txt", "fast\n")
    assert "finding 1 has no answer" in turns.fails("Made it fast.").err
    turns.finish("Made it fast.", "--answer", "1=It has an index")
    assert "It has an index" in turns.start()
    turns.finish("Looked again.")
    assert (turns.role("implementer"), turns.role("reviewer"), turns.sessions) == ("done", "done", 4)
    assert "It is slow" not in str(turns.place.values["coordination"])


def test_a_finding_that_is_kept_is_answered_again(turns: Turns) -> None:
    """With `--keep` it stays when the work is sent back once more; new ones get the next number."""
    turns.build()
    turns.start()
    turns.finish("Read it.", *FINDING)
    turns.start()
    turns.finish("Tried.", "--answer", "1=no time")
    turns.start()
    cure = "taskstate finish 101 --send-back implementer --keep 1"
    assert f"`{cure}`" in turns.fails("Read it again.", "--keep", "1").err
    assert f"`{cure}`" in turns.cli.refused("finish", TASK, "--pause", "--keep", "1")
    assert (turns.role("reviewer"), turns.turn["role"]) == ("in_progress", "reviewer")
    turns.cli.ok(*cure.split()[1:])
    assert (turns.role("implementer"), turns.role("reviewer")) == ("in_progress", "pending")
    turns.start()
    turns.finish("Tried again.", "--answer", "1=no time")
    turns.start()
    turns.finish("And again.", *FINDING[:2], "--finding", "It is long", "--keep", "1")
    said = turns.start()
    assert "It is slow" in said
    assert "It is long" in said
    both = turns.fails("Fixed.").err
    assert both.endswith(': add --answer 1="WHAT WAS DONE" --answer 2="WHAT WAS DONE"\n')
    assert "finding 1 has no answer" in turns.fails("Fixed.", "--answer", "2=cut").err
    turns.finish("Fixed.", "--answer", "1=an index", "--answer", "2=cut")
    assert turns.role("implementer") == "done"


def test_who_cannot_send_back(turns: Turns) -> None:
    """Work without a role, and a role that is not later, are refused; the session is recorded."""
    turns.start()
    assert turns.fails("Read it.", *FINDING).err.count("\n") == 1
    turns.finish("Read it.")
    turns.start("implementer")
    assert "does not come after" in turns.fails("Read it too.", *FINDING).err
    assert (turns.sessions, turns.role("implementer")) == (2, "in_progress")


def test_the_last_turn_completes_the_task(turns: Turns) -> None:
    """The Chain Output is filled from a file, and the task is complete in the same step."""
    turns.start()
    proof = ("--pass", "jwt-1", "--evidence", "seen", "--check", "1", "--check", "2")
    output = turns.place.root.parent / "output.md"
    output.write_text(OUTPUT, encoding="utf-8")
    turns.place.write("a.txt", "built\n")
    said = turns.finish("All.", *proof, "--complete", "--output", str(output))
    assert f"task {TASK} is complete\nnext: commit, with `task {TASK}` in the message\n" in said
    turns.place.commit(f"Tokens for task {TASK}")
    assert "1 commit listed" in turns.cli.ok("git-history", "sync", TASK)
    assert (turns.place.state.status, turns.turn, turns.sessions) == ("complete", None, 1)
    assert "Tokens are issued." in turns.place.text


def test_a_last_turn_that_did_not_complete(turns: Turns) -> None:
    """Where it says that nothing comes next, each command that the linter names mends that in one step."""
    turns.start()
    proof = ("--pass", "jwt-1", "--evidence", "seen", "--check", "1,2")
    turns.cli.ok("finish", TASK, "--did", "All.", "--state", "Done", "--next", "Nothing", *proof)
    turns.cli.ok("chain", "output", "set", TASK, "Summary", "--from", "-", stdin="Tokens are issued.\n")
    turns.cli.ok("chain", "output", "set", TASK, "Configuration Required", "--from", "-", stdin="None.\n")
    told = turns.cli("lint").out
    assert "TS406" in told
    record, complete, block = re.findall(r"`taskstate (.*?)`", told[told.index("TS406") :])
    text = turns.place.text
    for command in (record, block, complete):
        turns.place.text = text
        turns.cli.ok(*filled(command))
        assert "TS406" not in turns.cli("lint").out
    assert turns.place.state.status == "complete"


def test_what_completion_misses_leaves_the_turn_open(turns: Turns) -> None:
    """All gaps are listed, the session is recorded, which is said each time, and nothing else is written."""
    turns.start("implementer")
    turns.fails("All.", "--complete")
    said = turns.fails("All.", "--complete")
    assert "your session is recorded (once)" in said.out
    first, *gaps = said.err.splitlines()
    assert "taskstate complete 101 --force" in first
    assert gaps
    assert all(line.startswith("- ") for line in gaps)
    assert "Tokens verify" in said.err or "criteri" in said.err
    assert (turns.sessions, turns.turn["agent"], turns.role("implementer")) == (1, "ann", "in_progress")
    assert turns.place.state.status == "in_progress"


@pytest.mark.parametrize(
    "flags",
    [
        ("--pause", "--abandon"),
        ("--complete", "--send-back", "implementer", "--finding", "x"),
        ("--send-back", "implementer"),
        ("--send-back", "implementer", "--finding", "WHAT"),
        ("--finding", "x"),
        ("--output", "-"),
        ("--check", "one"),
        ("--answer", "one"),
        ("--waive", "x"),
        ("--pause", "--complete"),
        ("--handoff",),
        ("--handoff", "--complete"),
    ],
)
def test_flags_that_do_not_go_together(turns: Turns, flags: tuple[str, ...]) -> None:
    """One line, status 2, and nothing changed."""
    turns.start("implementer")
    turns.cli.refused("finish", TASK, *turns.words("Built it."), *flags)


def test_a_dry_run_ends_nothing(turns: Turns) -> None:
    """The session is shown, the checks do not run, and the disk is as before."""
    turns.check("touch ../ran\n")
    turns.start("implementer")
    (turns.place.root.parent / "ran").unlink()
    before = tree(turns.place.root)
    turns.finish("Built it.", "--dry-run")
    assert tree(turns.place.root) == before
    assert not (turns.place.root.parent / "ran").exists()


def test_a_task_with_three_roles_has_little_front_matter_and_goes_on_after_it_was_complete(turns: Turns) -> None:
    """No hash is there twice for one fact; completing purges what was left, and reopened work is watched again."""
    for role in ("implementer", "reviewer", "validator"):
        turns.start(role)
        turns.place.write("a.txt", f"{role}\n")
        turns.finish(f"Did it as {role}.")
    head = front_matter_text(turns.place.state.document)
    assert "events" not in turns.place.values["audit"]
    assert len(head) < 2_000
    assert len(re.findall(r"\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b", head)) <= 17
    turns.cli.ok("complete", TASK, "--force", "--note", "a trial")
    assert turns.delta == {"base_commit": turns.delta["base_commit"]}
    assert [turns.role(role) for role in ("implementer", "reviewer", "validator")] == ["done"] * 3
    assert "TS702" not in turns.cli("lint").out
    assert (
        "is complete, and what reviewer left is purged" in turns.cli("snapshot", "diff", TASK, "--role", "reviewer").err
    )
    turns.place.commit("all of it")
    turns.cli.ok("reopen", TASK, "--note", "more to do")
    assert "TS702" not in turns.cli("lint").out
    turns.cli.ok("role", "reopen", TASK, "reviewer", "--note", "look again")
    turns.start("reviewer")
    turns.place.write("a.txt", "again\n")
    turns.finish("Looked again.")
    turns.place.write("a.txt", "by hand\n")
    assert "a.txt" in turns.refused("validator")
    assert "-validator" in turns.cli.ok("snapshot", "diff", TASK, "--role", "reviewer")

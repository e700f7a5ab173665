"""A turn begins as a whole, or not at all: what is in the way is said at once, with its cure."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.place import TASK, tree

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.turns import Turns


def test_a_turn_is_one_line_of_the_front_matter(turns: Turns) -> None:
    """Role, agent, branch, HEAD, tree and the last session stand in it, and the base of the work is pinned."""
    head = turns.place.git("rev-parse", "HEAD")
    said = turns.start("implementer")
    turn = turns.turn
    assert (turn["role"], turn["agent"], turn["branch"], turn["session"]) == ("implementer", "ann", "main", 0)
    assert (turn["head"], turns.delta["base_commit"]) == (head, head)
    assert turn["tree"] == turns.place.base_tree
    assert turns.role("implementer") == "in_progress"
    assert f"branch main at {head[:10]}" in said
    assert "jwt-1" in said


def test_what_is_not_committed_is_listed_at_the_first_start(turns: Turns) -> None:
    """It counts as the first role's work, and so is part of its diff."""
    turns.place.write("a.txt", "early\n")
    assert "not committed, so part of this work: a.txt" in turns.start("implementer")
    turns.finish("Kept it.")
    assert "early" in turns.cli.ok("snapshot", "diff", TASK, "--role", "implementer")


def test_a_role_out_of_order_is_refused(turns: Turns) -> None:
    """The cure names the `start` of the role that comes first."""
    for role in ("reviewer", "validator"):
        error = turns.refused(role)
        assert error.count("\n") == 1
        assert f"`taskstate start {TASK} --role " in error
    turns.build()
    assert "reviewer" in turns.refused("validator")
    assert turns.start().startswith(f"task {TASK}, reviewer")


def test_an_unreadable_file_is_damaged_though_nothing_is_gone(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    """That nothing is gone is remembered of a file to which lines were added; the cure is that of a damaged one."""
    monkeypatch.setattr("taskstate.writing.notices.is_quiet", lambda *_: True)
    turns.place.text = turns.place.text.replace("---\n", "---\n: [ }\n", 1)
    assert "is damaged: line 2: " in (said := turns.refused())
    assert "`taskstate doctor --fix`" in said


def test_when_every_role_is_done_the_way_out_is_named(turns: Turns) -> None:
    """Without `--role` there is no turn to begin any more."""
    turns.build()
    for role in ("reviewer", "validator"):
        turns.start()
        turns.finish(f"Looked as {role}.")
    error = turns.refused()
    assert f'every role is done: `taskstate role reopen {TASK} validator --note "WHY"` reopens the last one' in error
    assert f"`taskstate complete {TASK}` ends the task, or lists what is missing" in error


def _without_git(turns: Turns) -> None:
    shutil.rmtree(turns.place.root / ".git")


def _without_commits(turns: Turns) -> None:
    _without_git(turns)
    turns.place.git("init", "--quiet", "--initial-branch=main")


@pytest.mark.parametrize("bare", [_without_git, _without_commits])
def test_where_nothing_watches_the_tree_a_turn_goes_all_the_same(turns: Turns, bare: Callable[[Turns], None]) -> None:
    """It is said once, and three roles can work to the end."""
    bare(turns)
    said = turns.start("implementer")
    assert said.count("drift is not noticed here") == 1
    turns.place.write("a.txt", "work\n")
    assert "start 101 --role reviewer" in turns.finish("Built it.")
    turns.start()
    turns.finish("Read it.")
    assert (turns.role("implementer"), turns.role("reviewer"), turns.sessions) == ("done", "done", 2)


def test_a_detached_head_is_no_obstacle(turns: Turns) -> None:
    """There is no branch, which is said, and the turn goes on."""
    turns.place.git("checkout", "--quiet", "--detach")
    assert "no branch (detached HEAD) at " in turns.start("implementer")
    assert turns.turn.get("branch") is None
    turns.finish("Worked.")
    turns.place.git("checkout", "--quiet", "-b", "other")
    assert "the last turn was on no branch" in turns.start()


def test_the_middle_of_a_merge_is_in_the_way(turns: Turns) -> None:
    """It has to be finished first, whether the turn begins or ends; the words of a session are recorded."""
    place = turns.place
    place.git("checkout", "--quiet", "-b", "other")
    place.write("a.txt", "theirs\n")
    place.commit("theirs")
    place.git("checkout", "--quiet", "main")
    place.git("merge", "--quiet", "--no-commit", "--no-ff", "other")
    assert "merge" in turns.refused("implementer")
    place.git("merge", "--abort")
    turns.start("implementer")
    place.git("merge", "--quiet", "--no-commit", "--no-ff", "other")
    assert "merge" in turns.fails("Merged.").err
    assert (turns.sessions, turns.role("implementer")) == (1, "in_progress")
    place.git("commit", "--quiet", "--no-edit")
    turns.finish("Merged.")
    assert (turns.sessions, turns.role("implementer")) == (1, "done")


@pytest.mark.parametrize("role", ["", "implementer"])
def test_a_second_agent_is_refused_and_can_take_over(turns: Turns, role: str) -> None:
    """With a reason the turn is its own, and an event says whose it was."""
    turns.start(role)
    error = turns.refused(role, agent="bob")
    assert "ann" in error
    assert "--take-over" in error
    turns.start(role, "--take-over", "ann never came back", agent="bob")
    assert turns.turn["agent"] == "bob"
    assert turns.events[-1] == "turn-taken-over"
    assert "from: ann" in turns.place.text
    assert "bob" in turns.refused(role, agent="ann")


def test_an_agent_of_another_actor_is_another_agent(turns: Turns) -> None:
    """Two people whose clients give the same name do not go on with each other's turn."""
    turns.start(agent="claude")
    assert "a turn of claude (somebody) is open" in turns.refused("", "--actor", "bob", agent="claude")


def test_who_works_on_a_task_is_told(turns: Turns) -> None:
    """`next`, `list` and `show` say whose turn is open, and another actor is not sent there."""
    turns.place.new("7")
    turns.start()
    for command in (("next", "--count", "5"), ("list", "--ready"), ("show", TASK)):
        assert "ann works on it since 2" in turns.cli.ok(*command)
    assert turns.cli.json("list")[1]["turn"]["agent"] == "ann"
    turns.cli.monkeypatch.setenv("TASKSTATE_ACTOR", "bob")
    said = turns.cli("next")
    assert said.out.startswith("7 ")
    assert f"task {TASK}: ann works on it since" in said.err
    turns.finish("Stopped.", "--pause", "--take-over", "ann is gone")
    assert "works on it" not in turns.cli.ok("list")


def test_what_was_left_before_a_take_over_stays_part_of_the_role(turns: Turns) -> None:
    """The role's change begins with the first turn, not with the one that took over."""
    turns.start("implementer")
    tree_then = turns.turn["tree"]
    turns.place.write("a.txt", "half\n")
    turns.start("implementer", "--take-over", "gone", agent="bob")
    turns.place.write("src/b.py", "b = 2\n")
    turns.finish("The other half.")
    snapshot = turns.place.snapshot()
    assert snapshot.get("start_tree", turns.place.base_tree) == tree_then
    diff = turns.cli.ok("snapshot", "diff", TASK, "--role", "implementer")
    assert "+half" in diff
    assert "+b = 2" in diff


def test_ones_own_turn_of_another_role_is_ended_first(turns: Turns) -> None:
    """The cure is `finish`, not taking over from oneself."""
    turns.start()
    assert f"`taskstate finish {TASK} --did " in turns.refused("implementer")


def test_resuming_changes_nothing(turns: Turns) -> None:
    """The file is the same byte for byte, nothing is refused, and what changed meanwhile is shown."""
    turns.start("implementer")
    turns.place.write("a.txt", "work\n")
    before = tree(turns.place.root)
    said = turns.start()
    assert "resumed: the turn is open since" in said
    assert "changed since: " in said
    assert "not what the last turn left" not in said
    assert tree(turns.place.root) == before


def _complete(turns: Turns) -> None:
    turns.cli.ok("complete", TASK, "--force", "--note", "far enough")


def _dropped(turns: Turns) -> None:
    turns.cli.ok("drop", TASK, "--note", "not wanted")


def _unparsed(turns: Turns) -> None:
    turns.place.text = turns.place.text.replace("---\n", "---\n: [\n", 1)


@pytest.mark.parametrize("end", [_complete, _dropped, _unparsed])
def test_no_turn_on_a_task_that_cannot_be_worked_on(turns: Turns, end: Callable[[Turns], None]) -> None:
    """Complete, dropped, or not to be parsed: one line, status 2, nothing changed."""
    end(turns)
    assert turns.refused().count("\n") == 1
    assert turns.refused("implementer").count("\n") == 1


def test_a_dry_run_begins_nothing(turns: Turns) -> None:
    """The difference has the turn, and the disk is as before."""
    before = tree(turns.place.root)
    assert "turn:" in turns.cli.ok("start", TASK, "--role", "implementer", "--dry-run")
    assert tree(turns.place.root) == before


# Drift


def test_a_drift_that_was_counted_is_told_once(turns: Turns) -> None:
    """What `snapshot verify` has counted stands in the way as one thing, with its files and the one cure that works."""
    turns.build()
    turns.place.write("a.txt", "by hand\n")
    assert turns.cli("snapshot", "verify", TASK, "--role", "implementer").status == 1
    error = turns.refused("reviewer")
    assert "no turn begins, 1 thing is in the way" in error
    assert error.count("the working tree is not what") == 1
    assert "+by hand" in error
    assert "--accept-drift" not in error
    turns.cli.ok("snapshot", "resolve", TASK, "--note", "a typo")
    turns.start("reviewer")


@pytest.mark.parametrize("status", [0, 1])
def test_a_formatter_that_is_a_check_has_run_before_the_snapshot(turns: Turns, status: int) -> None:
    """What the commit hook would change is changed before the snapshot is taken; the turn stays open once."""
    place, formatter = turns.place, f"grep -q ' = ' a.txt && exit 0\nsed -i 's/=/ = /' a.txt\nexit {status}\n"
    turns.check(formatter)
    hook = place.root / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n(\n{formatter}) && git diff --quiet a.txt\n", encoding="utf-8")
    hook.chmod(0o755)
    place.write("a.txt", "x = 1\n")
    place.git("add", "--all")
    place.git("commit", "--quiet", "--message=formatted")
    turns.start("implementer")
    place.write("a.txt", "x=2\n")
    assert "changed 1 tracked file: a.txt" in turns.fails("Built it.").err
    turns.cli.ok("finish", TASK)
    place.git("add", "--all")
    place.git("commit", "--quiet", "--message=built")
    assert place.git("show", "HEAD:a.txt") == "x = 2"
    assert "drift" not in turns.start("reviewer")


def test_drift_refuses_a_change_of_role_and_is_shown_as_a_diff(turns: Turns) -> None:
    """The reviewer sees the lines that nobody explains; a reason goes on from there and leaves an event."""
    turns.build()
    turns.place.write("a.txt", "by hand\n")
    error = turns.refused()
    assert "-built" in error
    assert "+by hand" in error
    assert f"`taskstate start {TASK} --role reviewer --agent ann --accept-drift" in error
    turns.start("reviewer", "--accept-drift", "a typo")
    assert "drift-accepted" in turns.events
    assert "note: a typo" in turns.place.text
    turns.finish("Read it.")
    assert turns.role("reviewer") == "done"


def test_a_long_drift_is_cut(turns: Turns) -> None:
    """At most 60 lines are shown, and the command for all of them."""
    turns.build()
    turns.place.write("a.txt", "".join(f"line {number}\n" for number in range(500)))
    error = turns.refused()
    assert f"more lines: `taskstate snapshot diff {TASK} --type now`" in error
    assert error.count("\n") < 70
    assert "+line 499" in turns.cli.ok("snapshot", "diff", TASK, "--type", "now")


def test_what_is_taken_back_is_no_drift(turns: Turns) -> None:
    """Equal content counts, wherever HEAD is."""
    turns.build()
    turns.place.write("a.txt", "by hand\n")
    turns.refused()
    turns.place.write("a.txt", "built\n")
    turns.place.commit("the work")
    assert "not what the last turn left" not in turns.start()


@pytest.mark.parametrize("role", ["", "implementer"])
def test_alone_or_in_one_role_drift_is_shown_and_does_not_refuse(turns: Turns, role: str) -> None:
    """The diff stands above the brief; nobody need accept it, and an event says which files they were."""
    turns.start(role)
    turns.place.write("a.txt", "half\n")
    turns.finish("Half.", "--pause")
    turns.place.write("a.txt", "by hand\n")
    said = turns.start(role)
    assert "the working tree is not what the last turn left" in said
    assert "+by hand" in said
    assert turns.events == ["drift-found"]


def test_what_is_shown_can_be_put_back_by_the_command_as_printed(turns: Turns) -> None:
    """The turn has begun, and its own work stays; the session says what was changed in no turn."""
    turns.start()
    turns.place.write("a.txt", "left\n")
    turns.finish("Left it.", "--pause")
    turns.place.write("a.txt", "by hand\n")
    said = turns.start()
    assert "this is the tree" not in said
    command = re.findall(r"go on, and it counts as this turn's; or put it back: `taskstate (.*)`", said)
    turns.place.write("own.txt", "own\n")
    put_back = turns.cli.ok(*shlex.split(command[0]))
    assert put_back.startswith("put back a.txt; what it replaced: ")
    assert "the open turn is at work on what the last turn left\n  added    own.txt" in put_back
    assert (turns.place.root / "a.txt").read_text(encoding="utf-8") == "left\n"
    turns.finish("Went on.", "--pause")
    assert "- changed before it began, in no turn: a.txt\n- paused" in turns.place.text
    assert "changed in no turn: a.txt" in turns.cli.ok("log")


def test_of_many_files_that_changed_in_no_turn_some_are_named(turns: Turns) -> None:
    """They are counted; and those that came are deleted by hand."""
    turns.start()
    turns.finish("Nothing.", "--pause")
    for number in range(7):
        turns.place.write(f"new-{number}.txt", f"{number}\n")
    assert "it counts as this turn's; or delete what you do not want\n" in turns.start()
    turns.finish("Went on.", "--pause")
    assert "in no turn: new-0.txt, new-1.txt, new-2.txt and 4 more" in turns.place.text


def test_a_file_that_was_moved_comes_back_where_it_was(turns: Turns) -> None:
    """The command names it as it was called then."""
    turns.start()
    turns.place.write("long.txt", "".join(f"{number}\n" for number in range(50)))
    turns.finish("Left it.", "--pause")
    (turns.place.root / "long.txt").rename(turns.place.root / "moved.txt")
    command = re.findall(r"put it back: `taskstate (.*)`", turns.start())
    assert turns.cli.ok(*shlex.split(command[0])).startswith("put back long.txt\n")
    assert (turns.place.root / "long.txt").is_file()


def test_without_a_role_nothing_is_left_before_the_first_turn(turns: Turns) -> None:
    """A snapshot is of a role; what a turn left needs none, and is compared after it, too."""
    assert "no turn has left a working tree yet" in turns.cli.refused("snapshot", "verify", TASK)
    turns.start()
    turns.finish("Nothing.", "--pause")
    assert turns.cli.ok("snapshot", "verify", TASK) == "the working tree is as the last turn left it\n"
    turns.place.write("a.txt", "by hand\n")
    drifted = turns.cli("snapshot", "verify", TASK)
    assert (drifted.status, "--restore a.txt`, or accept" in drifted.out) == (1, True)


@pytest.mark.parametrize("hook_first", [False, True])
def test_a_commit_hook_that_rewrites_files(turns: Turns, *, hook_first: bool) -> None:
    """What it rewrote after `finish` is drift, which says so and what to do; run before `finish` it leaves none."""
    hook = turns.place.write(".git/hooks/pre-commit", "#!/bin/sh\nsed -i 's/  */ /g' a.txt && git diff --quiet\n")
    hook.chmod(0o755)
    turns.start("implementer")
    turns.place.write("a.txt", "built   here\n")
    if hook_first:
        turns.place.git("add", "a.txt")
        subprocess.run([hook], cwd=turns.place.root, check=False)
    turns.finish("Built it.")
    turns.place.git("add", "--all")
    subprocess.run(["git", "commit", "-m", "Built"], cwd=turns.place.root, check=False)
    if hook_first:
        assert "Nothing needs you" in turns.cli.ok("status")
        turns.start("reviewer")
    else:
        assert "a.txt is not what ann left, perhaps by a commit hook" in turns.cli.ok("status")
        assert "run `pre-commit run` before `finish`" in turns.refused("reviewer")


def test_all_that_is_in_the_way_is_said_at_once(turns: Turns) -> None:
    """An open turn, a role that is not due, and drift are named together, each with its cure."""
    turns.build()
    turns.start("reviewer", agent="bob")
    turns.finish("Half of it.", "--pause")
    turns.start("reviewer", agent="bob")
    turns.place.write("a.txt", "by hand\n")
    error = turns.refused("validator")
    assert "3 things are in the way" in error
    for cure in ("--take-over", "--accept-drift", "--role reviewer"):
        assert cure in error
    assert "+by hand" in error
    assert "take it back" not in error  # it is the work of the turn that is open


def test_what_an_open_turn_did_is_in_nobody_elses_way(turns: Turns) -> None:
    """Elsewhere it came by commits: there is nothing to take back, and whoever takes over goes on with it."""
    turns.build()
    turns.start("reviewer")
    turns.finish("It is slow.", "--send-back", "implementer", "--finding", "slow")
    turns.start(agent="ann")
    turns.place.write("a.txt", "fast\n")
    turns.place.commit("half of it")
    error = turns.refused(agent="bob")
    assert "let it finish, or take it over: `taskstate start 101 --role implementer --agent bob --take-over " in error
    assert "the working tree" not in error
    turns.start("", "--take-over", "ann is ill", agent="bob")


def test_a_stale_citation_is_in_the_way_and_can_be_accepted(turns: Turns) -> None:
    """The first start seals what is cited; after a change only `--accept-stale` goes on, as an event."""
    place = turns.place
    place.write("rules.md", "# Rules\n\n## Tokens\n\nThey expire.\n")
    cited = '{"file": "rules.md", "section": "tokens", "requirement": "r"}'
    place.text = place.text.replace("## 2. ", f"### Standards\n\n```json\n[\n  {cited}\n]\n```\n\n## 2. ", 1)
    place.commit("rules")
    turns.start()
    turns.finish("Began.")
    place.write("rules.md", "# Rules\n\n## Tokens\n\nThey never expire.\n")
    place.commit("other rules")
    assert "--accept-stale" in turns.refused()
    turns.start("", "--accept-stale", "read them")
    assert "read them" in place.text
    turns.finish("Went on.")
    turns.start()


# The baseline


def test_the_baseline_is_taken_once(turns: Turns) -> None:
    """At the first turn the checks run, failing ones are named, and later turns run nothing."""
    turns.check(FAILING_ONCE)
    said = turns.start("implementer")
    assert "baseline: 0 of 1 checks pass; failing already: sh check.sh" in said
    count = (turns.place.root.parent / "runs").read_text()
    turns.finish("Worked.", "--pause")
    assert "- baseline" not in turns.start()
    assert (turns.place.root.parent / "runs").read_text() == count


FAILING_ONCE = "echo x >>../runs\nexit 1\n"


def test_no_baseline_of_a_tree_that_is_not_the_base(turns: Turns) -> None:
    """It is said that each failing check will count, and the command that takes one after all, which it does."""
    turns.check("exit 0\n")
    turns.place.write("a.txt", "early\n")
    said = turns.start("implementer")
    assert "no baseline: the working tree has changed since the base commit" in said
    assert "baseline" not in turns.place.values
    assert "a baseline taken now is late, and needs a reason: `taskstate qa baseline 101 --note" in said
    assert "taskstate trust" not in said
    turns.cli.ok("qa", "baseline", "101", "--note", "late")
    assert turns.place.values["baseline"]["late"] is True


def test_late_baseline_of_commands_that_nobody_trusts(turns: Turns) -> None:
    """The command that is named would be refused, so what a person does before it is named, too."""
    turns.check("exit 0\n")
    turns.cli.ok("trust", "--revoke")
    turns.place.write("a.txt", "early\n")
    assert "; before it, a person runs `taskstate trust 101`" in turns.start("implementer")


def test_no_baseline_of_commands_that_nobody_trusts(turns: Turns) -> None:
    """They are not run, which is said; the turn has begun all the same."""
    turns.place.configure('[validation]\n"*" = ["touch ran"]\n')
    turns.place.commit("a check")
    said = turns.start("implementer")
    assert "nobody has allowed `touch ran` to run" in said
    assert not (turns.place.root / "ran").exists()
    assert turns.turn["role"] == "implementer"


@pytest.mark.parametrize("begin", ["start", "role", "block"])
def test_whatever_begins_work_sets_the_status(turns: Turns, begin: str) -> None:
    """A turn without a role, a role, and a role that begins with a finding take a created task to in_progress."""
    commands = {
        "start": ("start", TASK),
        "role": ("role", "set", TASK, "implementer", "--status", "in_progress"),
        "block": ("role", "block", TASK, "implementer", "--finding", "It is slow"),
    }
    turns.cli.ok(*commands[begin])
    assert turns.place.values["status"] == "in_progress"


def test_without_criteria_the_status_stays(turns: Turns) -> None:
    """A task in progress may have no placeholders there, so `start` says what is missing."""
    turns.cli.ok("new", "7", "--title", "T", "--description", "D")
    assert "the status stays `created` until something is written under Acceptance Criteria" in turns.cli.ok(
        "start", "7"
    )
    assert turns.cli.json("show", "7")["status"] == "created"
    assert turns.cli.ok("edit", "7", "--description", "What it is for").count("in_progress") == 0
    assert "the task is now in_progress" in turns.cli.ok("criterion", "add", "7", "It works")
    assert turns.cli.json("show", "7")["status"] == "in_progress"


def test_before_its_first_turn_a_task_stays_created(turns: Turns) -> None:
    """To write what it is about is no work on it."""
    turns.cli.ok("new", "7", "--title", "T", "--description", "D")
    assert "in_progress" not in turns.cli.ok("criterion", "add", "7", "It works")
    assert turns.cli.json("show", "7")["status"] == "created"


def test_drift_is_accepted_for_the_tree_that_was_shown_alone(turns: Turns) -> None:
    """The refusal names the tree; while it was looked at it may have changed, and then nothing begins."""
    turns.build()
    turns.place.write("a.txt", "by hand\n")
    shown = turns.refused("reviewer").partition("the working tree: ")[2].split()[0]
    turns.place.write("a.txt", "and once more\n")
    accept = ("--accept-drift", "meant so", "--expect-tree")
    error = turns.refused("reviewer", *accept, shown)
    assert "is not the one that was looked at" in error
    assert "`taskstate snapshot diff 101 --type now" in error
    assert "say why: --accept-drift" in turns.refused("reviewer", "--expect-tree", shown)
    turns.place.write("a.txt", "by hand\n")
    turns.start("reviewer", *accept, shown)


OPEN, TESTED = '"passes": false, "tested_at": null', '"passes": true, "tested_at": "2026-01-31T12:00:00Z"'
UNTESTED = '"passes": true, "tested_at": null'
# What no command writes, and what is said of it where a turn is to begin: old, new, and what is said.
FAULTS = {
    "other words in a session": ("Built it.", "Built all of it.", "`taskstate session restore 101 1 --from HEAD`"),
    "a pass that nobody tested": (OPEN, UNTESTED, "test it and run `taskstate feature pass 101 jwt-1"),
    "a fence that cannot be read": (OPEN, '"passes": fa', "nothing of this JSON is read until then"),
}


@pytest.mark.parametrize(("old", "new", "said"), FAULTS.values(), ids=FAULTS)
def test_what_lint_refuses_is_in_the_way(turns: Turns, old: str, new: str, said: str) -> None:
    """The line is that of lint, with its cure; a turn that goes on is told it, and reads on."""
    turns.build()
    turns.place.commit("built")
    text = turns.place.text
    turns.place.text = text.replace(old, new, 1)
    assert said in turns.refused()
    turns.place.text = text
    turns.start()
    turns.place.text = turns.place.text.replace(old, new, 1)
    assert said in turns.start()


def test_a_pass_without_evidence_is_told(turns: Turns) -> None:
    """It is a warning of lint: a turn begins all the same, and the cure is on its page."""
    turns.place.text = turns.place.text.replace(OPEN, TESTED, 1)
    said = turns.start()
    assert "TS311 this feature passes, but it has no `evidence`" in said
    assert "`taskstate feature pass 101 jwt-1 --evidence TEXT`" in said

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.model import Call, Step
from tests.clients.recording import compacting
from tests.clients.room import STATE
from tests.clients.table import CLAUDE, CODEX, OLDER_CLAUDE
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.clients.room import Room

PROTOCOL = "Work here is kept in one state file per task"
REMINDER = f"The turn on task {TASK} is open and its work in no session"


def test_the_first_request_has_the_brief_and_the_protocol(room: Room) -> None:
    """After `init --agent` alone, the model reads the task at hand, how to begin, and how work is kept here."""
    session = room.play(Step("Done."))
    session.holds(0, f"The current task is {TASK}", "makes a JWT", f"`taskstate start {TASK}`", PROTOCOL)
    assert session.status == 0, session.said[-2000:]


def test_a_stop_without_a_session_is_held_up_once(room: Room) -> None:
    """The model is reminded once of the changed file, and may then stop, whatever it did: there is no loop."""
    room.taskstate("start", TASK, "--agent", "ann")
    write = room.call("write", path="src/new.py", content="x = 1")
    session = room.play(Step(calls=[write]), Step("Done."), Step("Done anyway."), Step("A third time."))
    session.holds(2, REMINDER, "src/new.py", f"`taskstate finish {TASK}")
    assert len(session.requests["main"]) == 3
    assert session.status == 0, session.said[-2000:]


def test_a_stop_after_a_session_is_not_held_up(room: Room) -> None:
    """Work that is recorded needs no word."""
    room.taskstate("start", TASK, "--agent", "ann")
    write = room.call("write", path="src/new.py", content="x = 1")
    finish = room.call("shell", command=f"taskstate finish {TASK} --did D --state S --next N --pause")
    session = room.play(Step(calls=[write]), Step(calls=[finish]), Step("Done."))
    assert len(session.requests["main"]) == 3
    assert room.place.numbers() == [(1, False)], session.new(2)


def test_a_damaged_file_does_not_silence_the_reminder(room: Room) -> None:
    """That work is in no session is seen from git, also where the state file cannot be read any more."""
    room.taskstate("start", TASK, "--agent", "ann")
    room.place.write("src/new.py", "x = 1\n")
    damage = room.call("shell", command=f"sed -i 's/^delta:/delta3:/' {STATE}")
    session = room.play(Step(calls=[damage]), Step("Done."), Step("Done anyway."))
    session.holds(2, "src/new.py")
    assert len(session.requests["main"]) == 3


def test_a_session_on_a_damaged_file_begins_with_its_mending(room: Room) -> None:
    """The model reads whose turn is open and what mends the file, in place of an empty brief, and that works."""
    room.taskstate("start", TASK, "--agent", "ann")
    room.place.text = room.place.text.replace("title: ", "title: a: ")
    session = room.play(Step(calls=[room.call("shell", command="taskstate doctor --fix")]), Step("Done."))
    session.holds(0, f"The current task is {TASK}: ann works on it since ", "`taskstate doctor --fix` first", PROTOCOL)
    assert f"# Task {TASK}" not in session.all(0)
    session.holds(1, "the open turn", "back")


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE, CODEX], ids=str, indirect=True)
def test_what_is_not_recorded_is_told_after_a_compaction(room: Room) -> None:
    """A context that was full and compacted by itself begins again with its recovery, and what is in no session."""
    room.taskstate("new", "P1", "--kind", "permanent", "--title", "Shared")
    room.taskstate("start", TASK, "--agent", "ann")
    session = compacting(room)
    assert "compaction" in [each.event for each in session.hooks], session.said[-2000:]
    texts = [session.new(number) for number in range(len(session.requests["main"]))]
    told = [each for each in texts if "Your context was compacted" in each]
    assert len(told) == 1, texts
    assert [each for each in ("`taskstate permanent recover", "src/new.py") if each not in told[0]] == [], told


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE], ids=str, indirect=True)
def test_a_compaction_by_hand_is_the_same(room: Room) -> None:
    """After `/compact` the session that is continued reads what is not recorded yet."""
    room.taskstate("start", TASK, "--agent", "ann")
    room.play(Step(calls=[room.call("write", path="src/new.py", content="x = 1")]), Step("Done."), Step("Done."))
    compacted = room.play(Step("<summary>SUMMARY</summary>"), prompt="/compact", more=["--continue"])
    assert [each.event for each in compacted.hooks].count("compaction") == 1, compacted.said[-2000:]
    session = room.play(Step("Done."), more=["--continue"])
    assert "Your context was compacted" in session.all(0)
    assert "Not recorded yet: changed are src/new.py" in session.all(0)


def test_a_sub_agent_is_told_and_held_to_the_same(room: Room) -> None:
    """It reads the task at hand where its client has an event for that, and is refused what its caller is refused."""
    room.taskstate("new", "P1", "--kind", "permanent", "--title", "Shared")
    room.taskstate("start", TASK, "--agent", "ann")
    room.configure(model="invented")  # with it Codex has sub-agents of the first kind
    head = room.place.git("rev-parse", "HEAD")
    wait = "for i in $(seq 100); do [ -e ../over ] && break; sleep 0.2; done"  # Codex runs it beside its caller
    commands = (f"sed -i 's/^status: .*/status: nearly/' {STATE}", "git commit -qam 'TASK-101 work'", "touch ../over")
    session = room.play(
        Step(calls=[room.call("agent", script="part")]),
        Step(calls=[room.call("shell", command=wait)]),
        Step("Done."),
        Step("Done."),
        part=[*(Step(calls=[room.call("shell", command=each)]) for each in commands), *room.client.reports],
    )
    if room.client.name != "gemini":  # it has no such event
        session.holds(0, "Permanent task P1", f"Current task: {TASK}", script="part")
    session.holds(2, "Not committed", "TS101", script="part")
    assert room.place.git("rev-parse", "HEAD") == head


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE], ids=str, indirect=True)
def test_a_sub_agent_in_a_worktree_works_on_the_same_task(room: Room) -> None:
    """Hooks and commands run there and see whose turn it is; the main tree is neither changed nor taken for changed."""
    room.taskstate("start", TASK, "--agent", "ann")
    room.place.commit("Begin the turn")
    agent = room.call("agent", script="part")
    agent = Call(agent.tool, agent.given | {"isolation": "worktree"})
    look = room.call("shell", command="pwd; taskstate next; taskstate lint; echo x >src/new.py")
    session = room.play(
        Step(calls=[agent]), Step("Done."), Step("Done."), part=[Step(calls=[look]), Step("Looked."), Step("Looked.")]
    )
    session.holds(0, f"Current task: {TASK}, ann works on it in the worktree main", script="part")
    session.holds(1, ".claude/worktrees/", f"task {TASK}: ann works on it in the worktree main", script="part")
    assert {".claude/worktrees/" in each.folder for each in session.hooks if "agent_id" in each.given} == {True}
    assert REMINDER not in session.all(-1)
    assert not (room.place.root / "src/new.py").exists()

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.clients.model import Step
from tests.clients.room import Room
from tests.clients.table import CLAUDE, CLIENTS, CODEX, GEMINI, OLDER_CLAUDE
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path

    from tests.clients.table import Client

# Each mode of a client in which something may be written; its other modes only read.
WRITING = [
    *((client, mode) for client in (CLAUDE, OLDER_CLAUDE) for mode in client.modes if mode != "plan"),
    *((CODEX, mode) for mode in CODEX.modes if mode != "read-only"),
    *((GEMINI, mode) for mode in GEMINI.modes if mode != "plan"),
]


def begun(room: Room) -> Step:
    """Return the step before the first call of the server: a client does not always wait until it is there."""
    return Step(calls=[room.call("read")], delay=3)


def finish(client: Client) -> Step:
    """Return a step that records a session by the tool of the server."""
    given = {"did": ["Wrote it."], "state": "Half.", "next": ["Go on."], "pause": True}
    return Step(calls=[client.mcp("finish", id=TASK, **given)])


@pytest.mark.parametrize(("client", "mode"), WRITING, ids=str)
def test_tools_run_headless_in_each_mode(client: Client, mode: str, tmp_path: Path) -> None:
    """After `init --allow` nobody has to be asked: a turn is begun and finished by the server's tools."""
    room = Room(client, tmp_path, "--allow")
    start = Step(calls=[client.mcp("start", id=TASK, agent="ann")])
    session = room.play(begun(room), start, finish(client), Step("Done."), Step("Held up."), mode=mode)
    session.holds(-2, "makes a JWT")
    assert room.place.numbers() == [(1, False)], session.new(-1)
    assert "Held up." not in session.said


@pytest.mark.parametrize(("client", "mode"), [(CLAUDE, "plan"), (CODEX, "read-only"), (GEMINI, "plan")], ids=str)
def test_a_mode_that_only_reads_is_not_held_up(client: Client, mode: str, tmp_path: Path) -> None:
    """What the mode does not let through is refused by the client; the file is as it was, and the stop is free."""
    room = Room(client, tmp_path, "--allow")
    room.taskstate("start", TASK, "--agent", "ann")
    write = room.call("write", path="src/new.py", content="x = 1")
    session = room.play(Step(calls=[write]), Step("Done."), Step("Done."), mode=mode)
    assert not (room.place.root / "src/new.py").exists()
    assert len(session.requests["main"]) == 2, session.new(2)


@pytest.mark.parametrize(("client", "mode"), [(CLAUDE, "acceptEdits"), (GEMINI, "auto_edit")], ids=str)
def test_a_stop_does_not_demand_what_is_not_allowed(client: Client, mode: str, tmp_path: Path) -> None:
    """Without that leave the model is not held up for a command that it may not run; the person is told, once."""
    room = Room(client, tmp_path, "--quiet")
    room.taskstate("start", TASK, "--agent", "ann")
    write = room.call("write", path="src/new.py", content="x = 1")
    session = room.play(Step(calls=[write]), Step("Done."), Step("Done."), mode=mode)
    assert len(session.requests["main"]) == 2, session.new(2)
    told = [each.answer for each in session.hooks if each.event == "stop" and "--allow" in json.dumps(each.answer)]
    assert len(told) == 1, f"{client}: {[each.answer for each in session.hooks]}"


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_a_number_is_taken_where_a_text_of_digits_is(client: Client, tmp_path: Path) -> None:
    """A model writes 101 as often as "101"; the page arrives as lines, and not as JSON in JSON."""
    room = Room(client, tmp_path, "--quiet")
    session = room.play(begun(room), Step(calls=[client.mcp("brief", id=int(TASK))]), Step("Done."))
    session.holds(-1, f"# Task {TASK}: JWT Service", "makes a JWT")
    assert "\\n" not in session.new(-1), session.new(-1)


@pytest.mark.parametrize("client", CLIENTS, ids=str)
def test_name_of_the_agent_reaches_the_server(client: Client, tmp_path: Path) -> None:
    """Who begins a turn in the shell ends it by a tool: `TASKSTATE_ACTOR` comes to both."""
    room = Room(client, tmp_path, "--quiet")
    start = Step(calls=[room.call("shell", command=f"taskstate start {TASK}")], delay=3)
    session = room.play(start, finish(client), Step("Done."), Step("Done."), env={"TASKSTATE_ACTOR": "cod"})
    assert room.place.numbers() == [(1, False)], session.new(2)


@pytest.mark.parametrize("client", [CLAUDE, GEMINI], ids=str)
def test_leave_takes_no_other_command_away(client: Client, tmp_path: Path) -> None:
    """After `init --allow` the mode that lets everything through still does, also for commands that are not ours."""
    room = Room(client, tmp_path, "--allow")
    shell = room.call("shell", command="wc -l src/*.py")
    session = room.play(Step(calls=[shell]), Step("Done."), Step("Done."))
    session.holds(1, "2 total")


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE], ids=str)
def test_cures_may_be_run_and_their_neighbours_not(client: Client, tmp_path: Path) -> None:
    """What our texts tell an agent to run is allowed with these words; the same command with a file to write is not."""
    room = Room(client, tmp_path, "--allow")
    commands = ("lint --fix", "doctor --fix", "lint --output-file x")
    calls = [Step(calls=[room.call("shell", command=f"taskstate {each}")]) for each in commands]
    session = room.play(*calls, Step("Done."), Step("Done."), mode="default")
    refused = ["requires approval" in session.new(number) for number in range(1, len(commands) + 1)]
    assert refused == [False, False, True], session.new(-1)
    assert not (room.place.root / "x").exists()


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE], ids=str)
def test_leave_of_the_command_line_is_seen(client: Client, tmp_path: Path) -> None:
    """An agent that `--allowedTools` lets record its work, as is usual in CI, is asked to; it does."""
    room = Room(client, tmp_path, "--quiet")
    room.taskstate("start", TASK, "--agent", "ann")
    write = room.call("write", path="src/new.py", content="x = 1")
    record = room.call("shell", command=f"taskstate finish {TASK} --did a --state s --next n --pause --agent ann")
    steps = (Step(calls=[write]), Step("Done."), Step(calls=[record]), Step("Done."))
    more = ("--allowedTools", "Bash(taskstate:*)")
    session = room.play(*steps, mode="acceptEdits", more=more)
    session.holds(2, f"taskstate finish {TASK}")
    assert room.place.numbers() == [(1, False)], session.new(-1)

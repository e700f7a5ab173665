"""What is left when an agent records nothing, with the real clients: a person begins before the first session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.clients.model import Step
from tests.clients.recording import compacting
from tests.clients.table import CLAUDE, CODEX, OLDER_CLAUDE
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.clients.room import Room

KILL = "kill -9 $PPID"


@pytest.fixture
def saved(room: Room) -> Room:
    """Return a room whose person lets autosave keep facts, and has begun the turn."""
    room.taskstate("init", "--quiet", "--autosave", "facts")
    room.place.commit("autosave")
    room.taskstate("start", TASK, "--agent", "ann")
    return room


def autosaved(room: Room) -> list[str]:
    """Return what the autosaved sessions of the task did, each as one text."""
    return [" | ".join(each.did) for each in room.place.state.sessions if each.is_autosaved]


def test_three_sessions_that_tell_nothing_are_told(saved: Room) -> None:
    """One ends, one is killed, one goes on: after the next start the file tells what was done, file by file."""
    room = saved
    room.play(
        Step(calls=[room.call("write", path="src/one.py", content="x = 1")]),
        Step(calls=[room.call("shell", command="python3 -m unittest -q nothing_there")]),
        Step("All is written.\n\nNext: document it"),
        Step("Done."),
    )
    room.play(
        Step(calls=[room.call("write", path="src/two.py", content="x = 2")]),
        Step(calls=[room.call("shell", command=KILL)]),
        Step("Done."),
        Step("Done."),
    )
    third = room.play(
        Step(calls=[room.call("write", path="src/three.py", content="x = 3")]), Step("Done."), Step("Done.")
    )
    assert "recorded nothing: `taskstate start" in third.new(0)
    said = room.taskstate("start", TASK, "--agent", "ann")
    told = autosaved(room)
    assert [next(name for name in ("one", "two", "three") if f"src/{name}.py`: new" in each) for each in told] == [
        "one",
        "two",
        "three",
    ], (told, room.place.text)
    assert said.count("is autosaved, from") == 3
    assert any(
        "nothing_there" in each for session in room.place.state.sessions for each in session.field("verification")
    )
    room.taskstate("start", TASK, "--agent", "ann")
    assert len(autosaved(room)) == 3
    room.taskstate("lint")


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE, CODEX], ids=str, indirect=True)
def test_what_was_kept_comes_back_after_a_compaction(saved: Room) -> None:
    """The draft that was made before stands byte for byte in the next request, framed as data."""
    room = saved
    session = compacting(room)
    texts = [session.new(number) for number in range(len(session.requests["main"]))]
    told = [each for each in texts if "Kept before the compaction" in each]
    assert len(told) == 1, texts
    kept = json.loads(room.taskstate("autosave", "list", "--format", "json"))["data"]["drafts"]
    draft = next(each["id"] for each in kept if each["reason"] == "compaction")
    assert room.taskstate("autosave", "show", draft).partition("\n\n")[2].strip() in told[0]


def test_an_agent_that_records_meets_none_of_it(saved: Room) -> None:
    """After `finish --pause` of its own there is no draft to record, and no second session."""
    room = saved
    finish = f"taskstate finish {TASK} --agent ann --did D --state S --next N --pause"
    room.play(
        Step(calls=[room.call("write", path="src/new.py", content="x = 1")]),
        Step(calls=[room.call("shell", command=finish)]),
        Step("Done."),
    )
    room.taskstate("start", TASK, "--agent", "ann")
    assert [each.did for each in room.place.state.sessions] == [("D",)]

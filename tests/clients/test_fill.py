"""The model of a real client reads once how full its context is, in an answer that the client takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clients.model import Step
from tests.clients.table import CLAUDE, CODEX, OLDER_CLAUDE
from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.clients.room import Room, Session

NEAR = {"claude": 150_000, "codex": 225_000}  # tokens of a context that is soon compacted
MODEL = {"ANTHROPIC_MODEL": "claude-haiku-4-5"}  # whose context holds 200,000 in each version
FILL = "% of the way to compaction"


@pytest.fixture
def allowed(room: Room) -> Room:
    """Return a room with an open turn, whose person has allowed facts."""
    room.taskstate("init", "--quiet", "--autosave", "facts")
    room.taskstate("start", TASK, "--agent", "ann")
    room.place.commit("Begin the turn")
    return room


def told(session: Session) -> list[str]:
    """Return what the model read anew in each request, where that tells of the fill."""
    texts = [session.new(number) for number in range(len(session.requests["main"]))]
    return [each for each in texts if FILL in each]


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE, CODEX], ids=str, indirect=True)
@pytest.mark.parametrize("tool", ["shell", "write"])
def test_a_model_is_told_once_before_its_context_is_compacted(allowed: Room, tool: str) -> None:
    """Beside the result of a command or of an edit it reads how near that is, and how to record where it is."""
    call = {"command": "echo x"} if tool == "shell" else {"path": "src/new.py", "content": "x = 1"}
    calls = [allowed.call(tool, **{**call, "path": f"src/{number}.py"}) for number in range(3)]
    steps = [Step("word " * 2000, calls=[each], usage=NEAR[allowed.client.name]) for each in calls]
    session = allowed.play(*steps, Step("Done."), Step("Done."), env=MODEL)
    assert [f"`taskstate finish {TASK} --pause" in each for each in told(session)] == [True], session.said[-2000:]
    assert "PreCompact" not in session.said


@pytest.mark.parametrize("client", [CLAUDE, OLDER_CLAUDE, CODEX], ids=str, indirect=True)
def test_without_consent_no_further_hook_is_called(room: Room) -> None:
    """As `init --agent` leaves it, nothing of autosave is called, kept or said."""
    room.taskstate("start", TASK, "--agent", "ann")
    step = Step("word " * 2000, calls=[room.call("shell", command="echo x")], usage=NEAR[room.client.name])
    session = room.play(step, step, Step("Done."), Step("Done."), env=MODEL)
    assert {"prompt", "session-end"} & {each.event for each in session.hooks} == set()
    assert told(session) == []
    assert [*room.place.workspace.private.files("sessions")] == []

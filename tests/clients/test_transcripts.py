"""Transcripts as the clients themselves write them are read: what was asked, done, and said, and how full it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.transcripts import reading
from taskstate.transcripts.events import Command, FileEdit, Prompt, Usage, Words
from tests.clients.model import Step
from tests.clients.table import PROMPT

if TYPE_CHECKING:
    from tests.clients.room import Room


def test_a_session_is_read_from_its_transcript(room: Room) -> None:
    """The prompt, a command that fails, an edit, the last words and the usage stand in it, in this order."""
    edit = room.call("edit", old="- [ ] Tokens verify", new="- [x] Tokens verify")
    steps = (Step(calls=[room.call("shell", command="echo so; exit 3")]), Step(calls=[room.call("read")]))
    session = room.play(*steps, Step(calls=[edit]), Step("All of it.", usage=1_234))
    given = next(each.given for each in reversed(session.hooks) if each.given.get("transcript_path"))
    transcript = reading.Transcript(
        room.client.name, given["session_id"], given["transcript_path"], str(room.place.root)
    )
    read, fill = reading.read(transcript), reading.usage(transcript)
    assert read.problem == fill.problem == ""
    prompt = next(each for each in read.events if isinstance(each, Prompt))
    command = next(each for each in read.events if isinstance(each, Command) and "exit 3" in each.line)
    made = next(each for each in read.events if isinstance(each, FileEdit))
    words = next(each for each in read.events if isinstance(each, Words) and each.text == "All of it.")
    assert prompt.text == PROMPT
    assert (command.status, command.output.strip()) == (3, "so")
    assert (made.path.endswith("task-101-state.md"), made.added, made.removed, made.fault) == (True, 1, 1, "")
    at = [read.events.index(each) for each in (prompt, command, made, words)]
    assert at == sorted(at)
    assert fill.usage is not None
    assert fill.usage in read.events
    assert read.running == ()
    assert max(each.used for each in read.events if isinstance(each, Usage)) >= 1_234

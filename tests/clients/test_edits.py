from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clients.model import Step

if TYPE_CHECKING:
    from tests.clients.room import Room


def test_an_edit_of_what_people_write_goes_through(room: Room) -> None:
    """The file has the edit, and the model reads no word of ours about it."""
    edit = room.call("edit", old="- [ ] Tokens verify", new="- [x] Tokens verify")
    session = room.play(Step(calls=[room.call("read")]), Step(calls=[edit]), Step("Done."))
    assert "- [x] Tokens verify" in room.place.text, session.new(2)
    assert "taskstate finds" not in session.new(2)
    assert [each.answer for each in session.hooks if each.event.endswith("-edit")] == [{}, {}]


def test_an_edit_of_a_block_that_commands_write_is_refused(room: Room) -> None:
    """The model reads which command writes it, the file is as it was, and the next step is taken."""
    room.taskstate("start", "101", "--agent", "ann")
    line = next(each for each in room.place.text.splitlines() if "session: 0" in each)
    before = room.place.text
    edit = room.call("edit", old=line, new=line.replace("session: 0", "session: 7"))
    session = room.play(Step(calls=[room.call("read")]), Step(calls=[edit]), Step("Done."))
    session.holds(2, "`delta`", "`taskstate start 101")
    assert room.place.text == before

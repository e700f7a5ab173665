from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.clients.model import Call, Step
from tests.clients.room import STATE
from tests.clients.table import CODEX

if TYPE_CHECKING:
    from tests.clients.room import Room


def test_an_edit_of_what_people_write_goes_through(room: Room) -> None:
    """The file has the edit, and the model reads no word of ours about it."""
    edit = room.call("edit", old="- [ ] Tokens verify", new="- [x] Tokens verify")
    session = room.play(Step(calls=[room.call("read")]), Step(calls=[edit]), Step("Done."))
    assert "- [x] Tokens verify" in room.place.text, session.new(2)
    assert "taskstate finds" not in session.new(2)
    assert {each.event for each in session.hooks} >= {"before-edit", "after-edit"}
    assert [each.answer for each in session.hooks if each.event.endswith("-edit") and each.answer] == []


def test_an_edit_of_a_block_that_commands_write_is_refused(room: Room) -> None:
    """The model reads which command writes it, the file is as it was, and the next step is taken."""
    room.taskstate("start", "101", "--agent", "ann")
    line = next(each for each in room.place.text.splitlines() if "session: 0" in each)
    before = room.place.text
    edit = room.call("edit", old=line, new=line.replace("session: 0", "session: 7"))
    session = room.play(Step(calls=[room.call("read")]), Step(calls=[edit]), Step("Done."))
    session.holds(2, "`delta`", "`taskstate start 101")
    assert room.place.text == before


def test_an_edit_of_a_sealed_section_is_refused(room: Room) -> None:
    """The model reads that it is sealed, and how it is opened."""
    room.taskstate("context", "init", "101")
    before = room.place.text
    edit = room.call("edit", old="Issue tokens.", new="Issue cookies.")
    session = room.play(Step(calls=[room.call("read")]), Step(calls=[edit]), Step("Done."))
    session.holds(2, "Static Context", "sealed", "`taskstate context rebuild 101`")
    assert room.place.text == before


@pytest.mark.parametrize("client", [CODEX], ids=str, indirect=True)
def test_a_patch_through_the_shell_is_refused(room: Room) -> None:
    """What a client calls a command is an edit all the same, where its shell knows `apply_patch`."""
    room.taskstate("start", "101", "--agent", "ann")
    line = next(each for each in room.place.text.splitlines() if "session: 0" in each)
    before = room.place.text
    patch = room.call("edit", old=line, new=line.replace("session: 0", "session: 7")).given
    session = room.play(Step(calls=[room.call("shell", command=f"apply_patch <<'EOF'\n{patch}EOF\n")]), Step("Done."))
    session.holds(1, "`delta`", "`taskstate start 101")
    assert room.place.text == before


def test_findings_come_beside_the_result_of_an_edit(room: Room) -> None:
    """The model reads both what its tool did, and what the linter finds in it."""
    edit = room.call("edit", old="## 5. Git History", new="## 5. Git Histori")
    session = room.play(Step(calls=[room.call("read")]), Step(calls=[edit]), Step("Done."))
    session.holds(2, "taskstate finds in what you edited", "TS204", room.client.edited)


@pytest.mark.parametrize("client", [CODEX], ids=str, indirect=True)
def test_findings_do_not_throw_in_a_program_of_the_model(room: Room) -> None:
    """In code mode the call of the tool returns its result, and the findings arrive."""
    room.configure(model="gpt-6.1-sol")
    patch = room.call("edit", old="## 5. Git History", new="## 5. Git Histori").given
    program = f"try {{ text(await tools.apply_patch({json.dumps(patch)})); }} catch (e) {{ text('THROWN ' + e); }}"
    session = room.play(Step(calls=[Call("exec", program, "functions")]), Step("Done."))
    assert "THROWN" not in session.new(1)
    session.holds(1, "TS204")


def test_a_commit_with_a_malformed_file_is_refused(room: Room) -> None:
    """The model reads the finding, and there is no commit; once the file is mended the commit goes through."""
    room.place.text = room.place.text.replace("status: created", "status: nearly")
    head = room.place.git("rev-parse", "HEAD")
    commit = room.call("shell", command="git commit -qam 'TASK-101 work' && echo committed")
    mend = room.call("shell", command=f"sed -i 's/^status: nearly/status: created/' {STATE}; echo x >>a.txt")
    refused = room.play(Step(calls=[commit]), Step("Done."))
    refused.holds(1, "Not committed", "TS101")
    assert room.place.git("rev-parse", "HEAD") == head
    session = room.play(Step(calls=[mend]), Step(calls=[commit]), Step("Done."))
    assert room.place.git("rev-parse", "HEAD") != head, session.new(2)

"""What sessions of clients did and did not tell is recorded when the next turn begins, once."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from taskstate.autosave import catch_up, consent, drafts, notes, tree_marks
from taskstate.lint.runner import check_files
from taskstate.storage import files, lock
from taskstate.tasks.new_session import NewSession
from taskstate.turn.ending import PAUSE, FinishRequest
from taskstate.turn.finish import finish
from taskstate.turn.start import Started, StartRequest, start
from taskstate.turn.turn_request import TurnRequest
from tests.support.git_place import GitPlace
from tests.support.place import TASK, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.autosave.consent import Level
    from taskstate.autosave.notes import SessionNote

BEGAN = "2026-01-31T12:00:00Z"
BY = "claude first (autosaved)"
WORDS = NewSession(did=("Wrote new.py",), state="S", next=("N",))


class SavedPlace(GitPlace):
    """A repository whose person lets autosave keep facts, with an open turn of ann's on task 101."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        consent.give(self.root, "facts")
        self.start()

    def start(self, *, dry_run: bool = False) -> Started:
        """Begin or resume the turn of ann."""
        return start(TurnRequest(self.workspace, TASK, self.request(dry_run=dry_run)), StartRequest(agent="ann"))

    def begin(self, session: str = "first", began: str = BEGAN) -> SessionNote:
        """Note that a client's session begins with the tree as it is."""
        catch_up.close(self.workspace, but=session)  # as the hook does
        before, last = tree_marks.mark_now(self.workspace), self.state.last_session

        def begun(note: SessionNote) -> SessionNote:
            return note._replace(task=TASK, began=began, at=began, before=before, last=last, is_told=False)

        return notes.update(self.workspace.private, "claude", session, begun)

    def by(self) -> list[str]:
        """Return who the sessions of the log are by."""
        return [each.agent for each in self.state.sessions]


@pytest.fixture
def place(tmp_path: Path) -> SavedPlace:
    """Return a repository in which autosave keeps facts, with an open turn."""
    return SavedPlace(tmp_path / "repository")


def test_what_nobody_told_is_a_session_once(place: SavedPlace) -> None:
    """Each session that left something is told by one of the log, the oldest first; the next start adds none."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    place.begin("second", "2026-01-31T13:00:00Z")
    place.write("src/new.py", "x = 2\n")
    place.write("src/more.py", "y = 1\n")
    place.begin("asked", "2026-01-31T14:00:00Z")
    started = place.start()
    assert place.by() == [BY, "claude second (autosaved)"]
    first, second = place.state.sessions
    assert [each.split(" ")[0] for each in first.did] == ["`src/new.py`:"]
    assert [each.split(" ")[0] for each in second.did] == ["`src/more.py`:", "`src/new.py`:"]
    assert "session 1 is autosaved, from claude first, which recorded nothing itself" in started.notes
    assert check_files([place.path], place.checking()).findings == ()
    place.start()
    assert place.by() == [BY, "claude second (autosaved)"]


def test_a_crash_before_the_note_is_moved_tells_nothing_twice(place: SavedPlace) -> None:
    """The session in the file names the stretch that it tells, so an older note adds nothing."""
    old = place.begin()
    place.write("src/new.py", "x = 1\n")
    place.start()
    notes.update(place.workspace.private, "claude", "first", lambda _: old)
    place.start()
    assert place.by() == [BY]


def test_an_agents_own_words_win(place: SavedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a session has recorded itself is not told again, what it does after that is; so is what another recorded."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    place.add("Somebody else wrote this")
    with monkeypatch.context() as patch:
        patch.setenv("CLAUDE_CODE_SESSION_ID", "first")
        call = TurnRequest(place.workspace, TASK, place.request())
        finish(call, FinishRequest(WORDS, ending=PAUSE, agent="ann"))
    place.start()
    assert [each.did[0] for each in place.state.sessions] == ["Somebody else wrote this", "Wrote new.py"]
    place.write("src/late.py", "x = 1\n")
    notes.update(place.workspace.private, "claude", "first", lambda note: note._replace(is_told=False))
    place.start()
    told = place.state.sessions[-1]
    assert (told.agent, [*told.did]) == (BY, ["`src/late.py`: new"])


def test_the_present_session_is_never_its_own_predecessor(place: SavedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start in the same session, as its environment says, records nothing of it."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "first")
    place.start()
    assert place.by() == []


def test_without_a_word_of_the_person_nothing_is_recorded(place: SavedPlace) -> None:
    """Notes of a time when it was allowed are not read any more; nor is anything written by a dry run."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    place.start(dry_run=True)
    consent.give(place.root, "off")
    place.start()
    assert place.by() == []


def test_what_is_refused_is_not_recorded(place: SavedPlace) -> None:
    """Where the turn cannot begin, the file stays as it is, and the next start that can records it."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    request = TurnRequest(place.workspace, TASK, place.request())
    before = place.text
    refusal(lambda: start(request, StartRequest(agent="bob", role="reviewer")))
    assert place.text == before


def test_a_turn_does_not_end_on_what_nobody_said(place: SavedPlace) -> None:
    """A session that is autosaved is none that the agent recorded: finish asks for its words."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    place.start()
    request = TurnRequest(place.workspace, TASK, place.request())
    assert refusal(lambda: finish(request, FinishRequest(ending=PAUSE, agent="ann"))).code == "no-session"


def test_a_draft_that_says_the_same_is_kept_once(place: SavedPlace) -> None:
    """Three endings of one session leave one draft, and a later one that says more leaves a second."""
    note = place.begin()
    place.write("src/new.py", "x = 1\n")
    for second in range(3):
        assert drafts.make(place.workspace, note, drafts.ENDING, f"2026-01-31T13:00:0{second}Z")[0]
    assert len(drafts.kept(place.workspace.private)) == 1
    place.write("src/more.py", "x = 1\n")
    drafts.make(place.workspace, note, drafts.ENDING, "2026-01-31T13:01:00Z")
    assert len(drafts.kept(place.workspace.private)) == 2


@pytest.mark.parametrize("level", ["facts", "words"])
def test_facts_alone_enter_the_file(place: SavedPlace, level: Level) -> None:
    """What the agent said last is in the draft; in the file only where the person lets words in."""
    consent.give(place.root, level)
    place.begin()
    place.write("src/new.py", "x = 1\n")
    notes.update(place.workspace.private, "claude", "first", lambda note: note._replace(last_words="Ask Maria first."))
    place.start()
    assert "Ask Maria first." in drafts.kept(place.workspace.private)[-1].draft.text
    assert ("Ask Maria first." in place.text) == (level == "words")


def test_a_draft_is_taken_over(place: SavedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`last` is made now of the present session, words included; once it is recorded, there is none any more."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    notes.update(place.workspace.private, "claude", "first", lambda note: note._replace(last_words="Ask Maria first."))
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "first")
    draft = drafts.taken_over(place.workspace, TASK, drafts.LAST, "2026-01-31T13:00:00Z")
    values = draft.draft.session(with_words=True)
    assert (values["did"], "Ask Maria first." in values["state"]) == (("`src/new.py`: new",), True)
    catch_up.taken(place.workspace, draft, "2026-01-31T13:00:00Z")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert refusal(lambda: drafts.taken_over(place.workspace, TASK, drafts.LAST, BEGAN)).code == "not-found"
    place.start()
    assert place.by() == []
    assert "is of task 101" in refusal(lambda: drafts.taken_over(place.workspace, "102", draft.id, BEGAN)).message


def test_a_draft_that_is_not_there_is_refused(place: SavedPlace) -> None:
    """Without a draft the error says what to give instead; an id that is none names the list."""
    task = place.workspace
    assert "--did" in refusal(lambda: drafts.taken_over(task, TASK, drafts.LAST, BEGAN)).help
    assert "autosave list" in refusal(lambda: drafts.taken_over(task, TASK, "1f", BEGAN)).help


def test_starts_at_once_record_one_session(place: SavedPlace) -> None:
    """Of several starts at the same time one records what nobody told."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    command = [sys.executable, "-m", "taskstate", "start", TASK, "--agent", "ann"]
    env = {**os.environ, "TASKSTATE_ACTOR": str(place.request().metadata.actor)}
    running = [subprocess.Popen(command, cwd=place.root, env=env, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [each.wait() for each in running] == [0] * 4
    assert place.by() == [BY]


def test_what_another_start_deletes_first_is_gone(place: SavedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note or a draft that another command has just deleted keeps no turn from beginning."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    deleted, delete = list[str](), files.delete

    def delete_after_another(path: Path) -> None:
        delete(path)
        deleted.append(path.name)
        delete(path)

    monkeypatch.setattr(files, "delete", delete_after_another)
    place.now += timedelta(days=40)  # what is older than a month is deleted
    place.start()
    assert place.by() == [BY]
    assert "claude-first.json" in deleted


def test_notes_that_another_command_holds_are_no_error(place: SavedPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Start and finish do their work where a hook holds the notes, and say what is not recorded of other sessions."""
    place.new("102", title="Other")
    place.begin()
    place.begin("second", "2026-01-31T13:00:00Z")
    place.write("src/new.py", "x = 1\n")
    monkeypatch.setattr(notes, "_PATIENCE", 0.01)
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "second")
    assert place.workspace.private.write
    with lock.locked(place.workspace.private.write / notes.FOLDER / "lock"):
        started = place.start()
        finish(TurnRequest(place.workspace, TASK, place.request()), FinishRequest(WORDS, ending=PAUSE, agent="ann"))
        start(TurnRequest(place.workspace, "102", place.request()), StartRequest(agent="ann"))
    assert any("not recorded: what claude" in each and "another command" in each for each in started.notes), started
    assert [each.did[0] for each in place.state.sessions] == [*WORDS.did]


def test_a_commit_that_is_gone_keeps_no_turn_from_beginning(place: SavedPlace) -> None:
    """Where git does not know the commit any more with which a session began, what else is known is told."""
    place.begin()

    def lost(note: SessionNote) -> SessionNote:
        assert note.before
        return note._replace(before=note.before._replace(head="0" * 39 + "1"), last_words="Ask Maria.")

    notes.update(place.workspace.private, "claude", "first", lost)
    place.start()
    assert place.by() == []
    assert "Ask Maria" in drafts.kept(place.workspace.private)[-1].draft.text


def test_what_cannot_be_recorded_keeps_no_turn_from_beginning(place: SavedPlace) -> None:
    """Without a Progress Log the start says what was not recorded, and the next one that can records it."""
    place.begin()
    place.write("src/new.py", "x = 1\n")
    text = place.text
    place.text = text.replace("## 4. Progress Log", "## 4. Progress")
    started = place.start()
    assert any(each.startswith("not recorded: what claude first did: ") for each in started.notes), started.notes
    place.text = place.text.replace("## 4. Progress", "## 4. Progress Log", 1)
    place.start()
    assert place.by() == [BY]


def test_each_task_has_what_was_done_on_it(place: SavedPlace) -> None:
    """A session that goes over to another task leaves a draft; the files of the other are none of the first."""
    place.new("102", title="Other")
    place.begin()
    place.write("src/a.py", "x = 1\n")
    place.begin("second", "2026-01-31T13:00:00Z")
    notes.update(place.workspace.private, "claude", "second", lambda note: note._replace(task="102"))
    place.write("src/b.py", "x = 1\n")
    start(TurnRequest(place.workspace, "102", place.request()), StartRequest(agent="ann"))
    place.start()
    assert [each.did for each in place.state.sessions] == [("`src/a.py`: new",)]

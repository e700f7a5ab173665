"""What hooks note of a session with a person's consent, and when its agent is told how full its context is."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.agents import given_back
from taskstate.autosave import consent, notes
from taskstate.setup.clients import CLIENTS, EVENTS, OF_AUTOSAVE
from tests.support.place import TASK

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.autosave.notes import SessionNote
    from tests.agents.conftest import Client

SESSION = "1f3c2a9b-0000-4000-8000-000000000001"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
OPENED = list[str]()  # each path that was opened in this process
sys.addaudithook(lambda event, given: OPENED.append(str(given[0])) if event == "open" else None)


class Session:
    """A session of Claude Code in the repository of a client, with a transcript that grows."""

    def __init__(self, client: Client, folder: Path, session: str = SESSION) -> None:
        self.client, self.session, self.root = client, session, client.place.root
        self.transcript = folder / f"{session}.jsonl"

    def answered(self, used: int, model: str = "claude-opus-4-6", **line: Any) -> None:  # noqa: ANN401 - any JSON
        """Add an answer of the model to the transcript, whose request held so many tokens, and 8 KB of other lines."""
        usage = {"input_tokens": used - 10, "cache_read_input_tokens": 10, "output_tokens": 0}
        known = {"sessionId": self.session, "cwd": str(self.root), "timestamp": "2026-01-31T12:00:00.000Z"}
        message = {"model": model, "usage": usage, "content": [{"type": "text", "text": "Yes."}]}
        answer = {"type": "assistant", **known, "requestedModel": model, "message": message} | line
        with self.transcript.open("a", encoding="utf-8") as file:
            file.write(json.dumps(answer) + "\n" + json.dumps({"type": "other", "text": "x" * 8192}) + "\n")

    def hook(self, event: str, **given: Any) -> Any:  # noqa: ANN401 - any JSON
        """Call a hook, and return its answer."""
        known = {"session_id": self.session, "cwd": str(self.root), "transcript_path": str(self.transcript)}
        return self.client.hook(event, given=known | given)

    def told(self, event: str, **given: Any) -> str:  # noqa: ANN401 - any JSON
        """Call a hook, and return what its answer says of the fill."""
        text = json.dumps(self.hook(event, **given))
        return text[text.index("The context is") :] if "The context is" in text else ""

    @property
    def note(self) -> SessionNote:
        """What is noted of the session."""
        found = notes.find(self.client.place.workspace.private, "claude", self.session)
        assert found is not None
        return found


@pytest.fixture
def session(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Session:
    """Return a session in a repository whose person has allowed facts."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    consent.give(client.place.root, "facts")
    return Session(client, tmp_path)


def all_events(session: Session) -> list[Any]:
    """Call each hook, and return the answers."""
    return [session.hook(event, last_assistant_message="Done.", tool_input={"command": "ls"}) for event in EVENTS]


@pytest.mark.parametrize("how", ["never said", "off", "switched off"])
def test_without_consent_nothing_is_opened_noted_or_said(
    session: Session, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the person has not said yes, or has switched it off, no hook touches the transcript or keeps anything."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(190_000)
    if how == "switched off":
        monkeypatch.setenv("TASKSTATE_AUTOSAVE", "0")
    else:
        consent.forget(session.root)
    OPENED.clear()
    answers = all_events(session)
    assert OPENED
    assert [each for each in OPENED if session.transcript.name in each] == []
    assert [*session.client.place.workspace.private.files(notes.FOLDER)] == []
    assert [each for event, each in zip(EVENTS, answers, strict=True) if event in OF_AUTOSAVE and each] == []
    assert "The context is" not in json.dumps(answers)


def test_with_consent_it_is_opened(session: Session) -> None:
    """The test above would see it: with consent the same calls open the transcript."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(190_000)
    OPENED.clear()
    all_events(session)
    assert [each for each in OPENED if session.transcript.name in each] != []


def test_a_session_is_noted_from_its_start_to_its_end(session: Session) -> None:
    """The note says where the transcript is, on which task it works since when, and how the tree was then and after."""
    session.client.run("start", TASK, "--agent", "ann")
    session.hook("session-start", source="startup", model="claude-opus-4-6[1m]")
    begun = session.note
    assert (begun.transcript, begun.task, begun.model) == (str(session.transcript), TASK, "claude-opus-4-6[1m]")
    assert begun.began
    assert begun.at >= begun.began
    assert begun.before
    assert begun.before.head == session.client.place.git("rev-parse", "HEAD").strip()
    assert not begun.before.files
    session.client.place.write("b.txt", "new\n")
    session.hook("stop", last_assistant_message=f"Done with {TOKEN}." + "x" * 4000 + " Next: c.", stop_hook_active=True)
    assert TOKEN not in session.note.last_words
    assert session.note.last_words.endswith(" Next: c.")
    assert len(session.note.last_words) == 2048
    assert session.note.before == begun.before
    session.hook("session-end", reason="prompt_input_exit")
    ended = session.note
    assert (ended.ended, ended.before, ended.began) == ("prompt_input_exit", begun.before, begun.began)
    assert ended.after
    assert [*ended.after.files] == ["b.txt"]
    session.hook("session-start", source="resume")
    assert (session.note.ended, session.note.after, session.note.before) == ("", None, begun.before)


def test_a_session_that_was_first_seen_at_work_is_noted(session: Session) -> None:
    """Where the hooks came later than the session, it begins with the first of them, whichever that is."""
    session.client.run("start", TASK, "--agent", "ann")
    session.hook("prompt")
    assert session.note.before
    assert (session.note.task, session.note.ended) == (TASK, "")


def test_a_task_begun_in_a_session_is_its_own(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """A turn that begins in a session is noted at its next hook; of another task it is another stretch of the work."""
    session.hook("session-start", source="startup")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    before = session.note
    assert before.task == TASK  # it is at hand
    session.client.place.write("b.txt", "new\n")
    session.client.run("start", TASK, "--agent", "ann")
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    session.hook("prompt")
    assert (session.note.task, session.note.before) == (TASK, before.before)
    session.client.run("finish", TASK, "--did", "D", "--state", "S", "--next", "N", "--pause")
    session.client.run("new", "102", "--title", "Another")
    session.client.run("start", "102", "--agent", "ann")
    session.answered(1000)
    session.hook("prompt")
    assert session.note.task == "102"
    assert session.note.offset == session.transcript.stat().st_size
    assert session.note.before
    assert [*session.note.before.files] == ["b.txt"]


def test_a_session_that_begins_no_turn_works_on_the_task_at_hand(session: Session) -> None:
    """It is noted when the session starts, and stays; where there is none, nor at any other event, none is."""
    session.client.run("start", TASK, "--agent", "ann")
    session.client.run("finish", TASK, "--did", "D", "--state", "S", "--next", "N", "--pause")
    session.hook("prompt")
    assert session.note.task == ""
    session.hook("session-start", source="resume")
    assert (session.note.task, session.note.last) == (TASK, 1)
    session.client.run("new", "102", "--title", "Another")
    session.client.place.git("checkout", "--quiet", "-b", "102-another")
    session.hook("session-start", source="resume")
    assert session.note.task == TASK


@pytest.mark.parametrize(("event", "function"), [("session-start", "at_start"), ("compaction", "after_compaction")])
def test_drafts_that_fail_take_nothing_along(
    session: Session, monkeypatch: pytest.MonkeyPatch, event: str, function: str
) -> None:
    """The brief is said all the same, and the log says what went wrong."""

    def fail(*_: object) -> str:
        raise RuntimeError("no draft")

    monkeypatch.setattr(given_back, function, fail)
    assert f"The current task is {TASK}" in json.dumps(session.hook(event))
    assert f"{event}: a fault of taskstate's own: RuntimeError: no draft" in session.client.log


def test_a_sub_agent_is_neither_noted_nor_told(session: Session) -> None:
    """The hooks of a sub-agent bear the session of its caller, and say nothing of it."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(190_000)
    assert [each for each in EVENTS if session.told(each, agent_id="a1", agent_type="general-purpose")] == []
    assert notes.all_notes(session.client.place.workspace.private) == ()


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_is_noted_whose_end_is_known(session: Session, name: str) -> None:
    """A client without an event for the end of a session has no notes."""
    session.client.hook("prompt", "--agent", name, given={"session_id": "s", "conversation_id": "s"})
    found = notes.find(session.client.place.workspace.private, name, "s")
    assert (found is not None) == ("session-end" in CLIENTS[name].hooks)


def test_an_agent_is_told_once_how_full_its_context_is(session: Session) -> None:
    """It is told with a reason and the command when 80 % of the way to compaction is gone, and once more after one."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(133_000)
    assert session.told("prompt") == ""
    session.answered(133_900)
    told = session.told("prompt")
    assert told.startswith("The context is 80 % of the way to compaction (133,900 of 167,000 tokens). Finish the step")
    assert f"`taskstate finish {TASK} --pause --did T --issue T --state T --next T`" in told
    assert "what you tried that failed" in told
    session.answered(160_000)
    assert session.told("prompt") == ""
    session.hook("compaction", source="compact")
    session.answered(160_000)
    assert "95 % of the way" in session.told("after-edit", tool_input={"file_path": "b.txt"})
    assert session.told("prompt") == ""


def test_it_is_looked_at_again_when_the_transcript_has_grown(session: Session) -> None:
    """As long as there are not 8 KB more nothing is read; one that has become shorter is read."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(1000)
    session.hook("prompt")
    session.transcript.write_text(session.transcript.read_text().replace("990", "9990"), encoding="utf-8")
    assert session.told("prompt") == ""
    assert session.note.used == 1000
    session.transcript.unlink()
    session.transcript.touch()
    session.hook("prompt")
    assert (session.note.used, session.note.seen) == (1000, 0)


COMMIT = {"tool_input": {"command": "git commit -m x"}}


def test_what_is_refused_is_not_let_through_with_the_fill(session: Session) -> None:
    """Before a command the fill is told by the way and decides nothing; a refusal comes alone, and the fill later."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(160_000)
    whole = session.client.place.text
    session.client.place.text = whole.replace("status: ", "status: nearly", 1)
    answer = session.hook("before-commit", **COMMIT)["hookSpecificOutput"]
    assert answer["permissionDecision"] == "deny"
    assert "The context" not in str(answer)
    session.client.place.text = whole
    session.answered(160_000)
    answer = session.hook("before-commit", **COMMIT)["hookSpecificOutput"]
    assert answer.keys() == {"hookEventName", "additionalContext"}
    assert "The context is 95 %" in answer["additionalContext"]


def test_a_stop_is_not_held_up_for_the_fill_alone(session: Session) -> None:
    """The block of unrecorded work names the fill; without one nothing is said, and the next prompt has it."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(160_000)
    assert session.hook("stop") == {}
    session.client.place.write("b.txt", "new\n")
    session.answered(160_000)
    answer = session.hook("stop")
    assert answer["decision"] == "block"
    assert "its work in no session" in answer["reason"]
    assert "The context is 95 %" in answer["reason"]
    session.answered(160_000)
    assert session.told("prompt") == ""


@pytest.mark.parametrize(
    ("settings", "env", "answered", "expected"),
    [
        ("", {}, (190_000, "claude-unknown-9"), ""),
        ("window = 200_000", {}, (140_000, "claude-unknown-9"), "83 %"),
        ("", {}, (700_000, "claude-opus-5-5"), ""),
        ("", {}, (780_000, "claude-opus-5-5"), "80 % of the way to compaction (780,000 of 967,000"),
        ("percent = 50", {}, (90_000, "claude-opus-4-6"), "53 %"),
        ("percent = 0", {}, (166_000, "claude-opus-4-6"), ""),
        ("percent = 99\nreserve = 20_000", {}, (147_000, "claude-opus-4-6"), ""),
        ("percent = 99\nreserve = 20_000", {}, (147_001, "claude-opus-4-6"), "88 %"),
        ("", {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, (81_000, "claude-opus-4-6"), "81 % of the way"),
        ("", {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "100000"}, (60_000, "claude-opus-4-6"), "89 % of the way"),
        ("", {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "many"}, (60_000, "claude-opus-4-6"), ""),
        ("", {}, (180_000, "claude-opus-4-6"), "100 % of the way"),
    ],
)
def test_when_it_is_told(
    session: Session, settings: str, env: dict[str, str], answered: tuple[int, str], expected: str
) -> None:
    """What counts is the point of compaction; without a known window nothing is said, and the settings tune it."""
    session.client.place.write("taskstate.toml", f"[autosave]\n{settings}\n")
    session.client.run("start", TASK, "--agent", "ann")
    for name, value in env.items():
        session.client.monkeypatch.setenv(name, value)
    session.answered(*answered)
    told = session.told("prompt")
    assert expected in told
    assert bool(told) == bool(expected)


def test_without_an_open_turn_nothing_is_measured(session: Session) -> None:
    """Who works on no task is not told, and the transcript not looked at; nor where another one's turn is open."""
    session.answered(190_000)
    assert session.told("prompt") == ""
    assert session.note.seen == 0
    session.client.run("start", TASK, "--agent", "ann", "--actor", "ann")
    session.client.monkeypatch.setenv("TASKSTATE_ACTOR", "bob")
    assert session.told("prompt") == ""


def test_a_transcript_of_another_repository_is_not_measured(session: Session) -> None:
    """A path that leads elsewhere, to a link, or to nothing, tells nothing, and is no fault."""
    session.client.run("start", TASK, "--agent", "ann")
    session.answered(190_000, cwd="/elsewhere")
    assert session.told("prompt") == ""
    assert session.told("prompt", transcript_path=str(session.root / "missing.jsonl")) == ""
    (session.root / f"{SESSION}.jsonl").symlink_to(session.transcript)
    assert session.told("prompt", transcript_path=str(session.root / f"{SESSION}.jsonl")) == ""
    assert session.client.log == ""


def _no_folder(session: Session) -> None:
    folder = session.client.place.workspace.private.write
    assert folder
    (folder / notes.FOLDER).write_text("in the way", encoding="utf-8")


def _no_note(session: Session) -> None:
    _no_folder(session)
    session.client.monkeypatch.setattr(notes, "find", lambda *_: 1 / 0)


@pytest.mark.parametrize("fault", [_no_folder, _no_note])
def test_a_note_that_cannot_be_kept_silences_nothing(session: Session, fault: Callable[[Session], None]) -> None:
    """What is said anyway is said, and the fault is in the log."""
    session.client.run("start", TASK, "--agent", "ann")
    session.client.place.write("b.txt", "new\n")
    fault(session)
    assert session.hook("stop")["decision"] == "block"
    assert session.client.log != ""


def test_three_endings_at_once_leave_one_whole_note(session: Session) -> None:
    """Hooks that run at the same time damage nothing, and the note says how the session ended."""
    session.client.run("start", TASK, "--agent", "ann")
    session.hook("session-start", source="startup")
    session.answered(1000)
    session.client.place.write("b.txt", "new\n")
    given = {"session_id": SESSION, "cwd": str(session.root), "transcript_path": str(session.transcript)}

    def call(event: str) -> str:
        command = [sys.executable, "-m", "taskstate", "hook", event]
        done = subprocess.run(
            command, input=json.dumps(given), cwd=session.root, capture_output=True, text=True, check=True
        )
        return done.stdout

    with ThreadPoolExecutor(3) as pool:
        assert [*pool.map(call, ["session-end"] * 3)] == ["{}\n"] * 3
    assert session.note.ended == "session-end"
    assert session.note.after
    assert [*session.note.after.files] == ["b.txt"]
    assert session.client.log == ""


def test_where_git_cannot_tell_the_rest_is_noted(session: Session) -> None:
    """An index that git refuses leaves a note without the tree, and is no fault of a hook."""
    session.client.run("start", TASK, "--agent", "ann")
    (session.root / ".git" / "index").write_bytes(b"no index")
    session.hook("prompt")
    assert (session.note.task, session.note.before) == (TASK, None)
    assert session.client.log == ""


def test_what_a_session_left_is_given_to_the_next(session: Session) -> None:
    """The next session reads the draft of the one before, and `start` records it; once it is told, nothing is said."""
    client = session.client
    client.run("start", TASK)
    session.hook("session-start")
    client.place.write("src/new.py", "x = 1\n")
    session.hook("session-end", reason="other")
    other = Session(client, session.transcript.parent, "2f3c2a9b-0000-4000-8000-000000000002")
    said = json.dumps(other.hook("session-start"))
    assert f"The session before (claude 1f3c2a9b) recorded nothing: `taskstate start {TASK}`" in said
    assert "src/new.py`: new" in said
    assert "session 1 is autosaved, from claude 1f3c2a9b" in client.run("start", TASK)
    assert "The session before" not in json.dumps(other.hook("session-start"))


def test_a_session_that_goes_on_after_it_was_told_begins_anew(session: Session) -> None:
    """What others did in the tree meanwhile is none of its work."""
    client = session.client
    client.run("start", TASK)
    session.hook("session-start")
    client.place.write("src/new.py", "x = 1\n")
    session.answered(1000)  # else all may happen in one second
    session.hook("session-end", reason="other")
    client.run("start", TASK)
    client.place.write("src/theirs.py", "x = 1\n")
    session.hook("session-start", source="resume")
    client.place.write("src/own.py", "x = 1\n")
    session.hook("session-end", reason="other")
    client.run("start", TASK)
    assert [each.did for each in client.place.state.sessions] == [("`src/new.py`: new",), ("`src/own.py`: new",)]


def test_after_a_compaction_nothing_to_give_back_is_said_too(session: Session) -> None:
    """Where no draft was made before, that is told; where the agent has recorded since, its session is named."""
    client = session.client
    client.run("start", TASK)
    session.hook("session-start")
    assert "Autosave kept nothing of this session" in json.dumps(session.hook("compaction"))
    client.place.write("src/new.py", "x = 1\n")
    session.hook("before-compaction")
    assert "Kept before the compaction" in json.dumps(session.hook("compaction"))
    client.monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
    client.run("session", "add", TASK, "--did", "D", "--state", "S", "--next", "N")
    session.hook("before-compaction")
    assert "it did nothing since session 1" in json.dumps(session.hook("compaction"))

"""Which session runs a command, by its environment, else by the processes above it; and which one still runs."""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING

import pytest

from taskstate.autosave import notes, present
from taskstate.storage import callers
from taskstate.storage.callers import Caller
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

SHELL = Caller(("sh", "-c", "x"), "9 9")
NOTES = (  # client, session, process, ended; each newer than the one before
    ("claude", "one", "1 1", ""),
    ("claude", "two", "1 1", ""),
    ("claude", "cleared", "1 1", "clear"),
    ("codex", "three", "3 1", ""),
    ("codex", "unseen", "", ""),
    ("gemini", "four", "4 1", ""),
    ("gemini", "over", "", "exit"),
)
CLAUDE, OTHER_CLAUDE = Caller(("claude",), "1 1"), Caller(("claude",), "7 1")
CODEX, OTHER_CODEX = Caller(("codex", "app-server"), "3 1"), Caller(("codex",), "7 1")
GEMINI = Caller(("node", "/lib/gemini-cli/index.js"), "4 1")


@pytest.mark.parametrize(
    "case",
    [
        ({}, (SHELL,), (), None),
        ({}, (), (), None),
        ({"CLAUDE_CODE_SESSION_ID": "one"}, (), (), "one"),
        ({"CLAUDE_CODE_SESSION_ID": "one"}, (SHELL, CLAUDE), (), "one"),
        ({}, (SHELL, CLAUDE), (), "two"),
        ({}, (SHELL, CODEX, CLAUDE), (), "three"),
        ({"CLAUDE_CODE_SESSION_ID": "one"}, (CODEX, CLAUDE), (), "three"),
        ({}, (OTHER_CODEX,), ("3 1",), "unseen"),
        ({}, (OTHER_CLAUDE,), (), "two"),
        ({}, (OTHER_CLAUDE,), ("1 1",), None),
        ({"CODEX_THREAD_ID": "unnoted"}, (OTHER_CLAUDE,), ("1 1",), None),
        ({"GEMINI_CLI": "1"}, (), (), "four"),
        ({"GEMINI_CLI": "1", "CLAUDE_CODE_SESSION_ID": "one"}, (SHELL, GEMINI, CLAUDE), (), "four"),
    ],
)
def test_the_present_session(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    case: tuple[dict[str, str], tuple[Caller, ...], tuple[str, ...], str | None],
) -> None:
    """The environment names it, or its client is the nearest above; one that runs elsewhere is not taken for it."""
    environment, above, running, expected = case
    place = Place(tmp_path)
    for number, (client, session, process, ended) in enumerate(NOTES):
        known = {"process": process, "ended": ended, "at": f"2026-01-31T12:00:0{number}Z"}
        notes.update(place.workspace.private, client, session, methodcaller("_replace", **known))
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(callers, "processes", lambda: iter(above))
    monkeypatch.setattr(callers, "is_running", lambda process: process in running)
    found = present.present(place.workspace)
    assert (found and found.session) == expected


def test_a_session_is_alive_while_its_client_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has ended is not, nor one of which the process is gone or was never known."""
    monkeypatch.setattr(callers, "is_running", lambda process: process == "1 1")
    note = notes.SessionNote("claude", "one", process="1 1")
    assert present.is_alive(note)
    for each in (note._replace(ended="exit"), note._replace(process="2 1"), note._replace(process="")):
        assert not present.is_alive(each)

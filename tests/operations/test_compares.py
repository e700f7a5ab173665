"""Whatever changes roles, results or snapshots compares the working tree first: one table, which no verb can forget."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.operations.index import COMMANDS, operations_of
from tests.cli.conftest import Cli
from tests.support.git_place import GitPlace
from tests.support.place import TASK
from tests.support.turns import Turns

if TYPE_CHECKING:
    from pathlib import Path

NOTE = ("--note", "why")
WRITING = [each for command in COMMANDS for each in operations_of(command) if each.writes]
# How each verb that compares is called on the tree that somebody changed after the implementer was done.
COMPARING = {
    "start": (TASK, "--role", "reviewer"),
    "finish": (TASK, "--did", "x", "--state", "y", "--next", "z"),
    "role set": (TASK, "reviewer", "--status", "in_progress"),
    "role block": (TASK, "reviewer", "--finding", "It is slow"),
    "role unblock": (TASK, "implementer", "--all"),
    "role reopen": (TASK, "implementer", *NOTE),
    "snapshot take": (TASK, "--role", "reviewer"),
    "snapshot verify": (TASK, "--role", "implementer"),
    "snapshot resolve": (TASK, *NOTE),
    "purge": (TASK,),
    "qa record": (TASK, "--role", "reviewer", "--from", "../qa.log"),
    "qa baseline": (TASK, "--qa-log", "../qa.log"),
    "complete": (TASK,),
    "drop": (TASK, *NOTE),
    "reopen": (TASK, *NOTE),
}
# The other verbs that write: those that can touch a task at work, with what they are called with here.
TOUCHING_NOTHING = {
    "session add": (TASK, "--did", "x", "--state", "y", "--next", "z"),
    "feature add": (TASK, "jwt-2", "verifies"),
    "feature pass": (TASK, "jwt-1", "--evidence", "seen"),
    "feature fail": (TASK, "jwt-1", "--evidence", "slow"),
    "phase add": (TASK, "1", "--name", "One", "--objective", "o"),
    "criterion add": (TASK, "It is fast"),
    "edit": (TASK, "--title", "Other", "--priority", "P1"),
    "criterion check": (TASK, "1"),
    "criterion uncheck": (TASK, "1"),
    "evidence add": (TASK, "--type", "log", "--path", "a.txt"),
    "context rebuild": (TASK,),
    "archive": (TASK,),
    "chain pull": (TASK,),
    "lint": ("--fix",),
    "fmt": (),
    "doctor": ("--fix",),
}
OF_NO_ROLE = {
    "new": "another file",
    "session restore": "a session",
    "phase": "phases",
    "handoff": "the session, its document, and the phase",
    "context init": "a base where there is none",
    "git-history": "its section",
    "archive restore": "sessions",
    "chain output set": "the output",
    "permanent": "the permanent task has no roles",
    "impact": "the permanent task has no roles",
    "decompose": "other files",
    "import": "other files",
    "migrate": "older forms",
    "doctor renumber": "the name",
}


def _names(table: dict[str, Any]) -> set[str]:
    return {each.name for each in WRITING if each.name in table or each.name.split()[0] in table}


def test_every_verb_that_writes_is_in_the_table() -> None:
    """A new verb says with what it compares the tree, or stands among those that change no role, result or snapshot."""
    assert {each.name for each in WRITING if each.compares} == set(COMPARING)
    assert {each.name for each in WRITING} == set(COMPARING) | set(TOUCHING_NOTHING) | _names(OF_NO_ROLE)


@pytest.fixture
def turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Turns:
    """Return turns where the implementer is done, and somebody edited a file since that nobody has seen."""
    place = GitPlace(tmp_path / "repository")
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("TASKSTATE_ACTOR", "ann")
    turns = Turns(Cli(place, monkeypatch, capfd))
    turns.build()
    place.write("a.txt", "by hand\n")
    (tmp_path / "qa.log").write_text("==== 1 passed in 0.1s ====\n", encoding="utf-8")
    return turns


def _counting(place: GitPlace) -> list[Any]:
    """Return what the file says of roles, results and snapshots, but for the drift that was counted."""
    values = place.values
    roles = {name: {**role, "drift_budget": 0} for name, role in values.get("coordination", {}).items()}
    return [values["status"], roles, values.get("baseline"), values.get("delta")]


@pytest.mark.slow
def test_no_verb_steps_past_an_edit_that_nobody_has_seen(turns: Turns, tmp_path: Path) -> None:
    """Each refuses and changes no role, result or snapshot, or leaves an event that names the file."""
    root, origin = turns.place.root, tmp_path / "origin"
    before = _counting(turns.place)
    shutil.copytree(root, origin, symlinks=True)
    for name, words in COMPARING.items():
        turns.cli(*name.split(), *words)
        changed = _counting(turns.place) != before
        events = turns.place.values.get("audit", {}).get("events", [])
        named = [each for each in events if each["event"] == "drift-accepted" and each["files"] == ["a.txt"]]
        assert bool(named) == changed == (name in {"role reopen", "snapshot resolve"}), name
        for each in root.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        shutil.copytree(origin, root, symlinks=True, dirs_exist_ok=True)


def test_other_verbs_change_no_role_result_or_snapshot(turns: Turns) -> None:
    """They go on while the tree is another one, and leave all of that as it is."""
    turns.cli.ok("context", "init", TASK)
    before = _counting(turns.place)
    for name, words in TOUCHING_NOTHING.items():
        said = turns.cli(*name.split(), *words)
        assert said.status == 0, (name, said)
        assert _counting(turns.place) == before, name


def test_a_role_that_is_reopened_names_what_somebody_changed(turns: Turns) -> None:
    """A foreign edit becomes its own work, which a note and an event say; where nothing changed, neither does."""
    said = turns.cli.ok("role", "reopen", TASK, "implementer", *NOTE)
    assert "changed since implementer left it, and part of the work from now on: a.txt" in said
    assert turns.events == ["role-reopened", "drift-accepted"]
    turns.cli.ok("snapshot", "take", TASK, "--role", "implementer")
    turns.cli.ok("role", "set", TASK, "implementer", "--status", "done")
    assert "changed since" not in turns.cli.ok("role", "reopen", TASK, "implementer", *NOTE)

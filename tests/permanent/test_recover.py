"""`permanent recover`: what an agent reads and does, in order, that has lost its context."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from taskstate.handoff import token_count
from tests.permanent.test_notify import MAP
from tests.support.place import TASK

if TYPE_CHECKING:
    import pytest

    from tests.support.shared_context import SharedContext


def test_an_agent_with_an_open_turn(shared: SharedContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told the version, what changed since it confirmed, its task and next step, and what to confirm."""
    shared.cli.ok("permanent", "ack", "--agent", "ada", "--version", "1")
    shared.update("Codebase Impact Map", f"```json\n{json.dumps(MAP)}\n```\n")
    shared.update("Constraints", "- EU only\n")
    shared.cli.ok("session", "add", TASK, "--did", "Began.", "--state", "s", "--next", "Write the parser.")
    shared.cli.ok("start", TASK, "--role", "implementer", "--agent", "ada")
    monkeypatch.setenv("TASKSTATE_ACTOR", "ada")
    said = shared.cli.ok("permanent", "recover")
    assert "PT-v3 of task 1, Login platform" in said
    steps = [line[3:] for line in said.splitlines() if line[:1].isdigit()]
    assert steps[0] == "Read it now: `taskstate show 1`"
    assert steps[1].startswith("Changed since PT-v1, which you confirmed last")
    assert "PT-v3 Constraints: added EU only [interface change]" in said
    assert "turn as implementer open since" in steps[2]
    assert "next step: Write the parser." in steps[2]
    assert "taskstate start 101 --role implementer --agent ada" in steps[2]
    assert steps[3] == "Confirm what you read: `taskstate permanent ack --agent ada --version 3`"
    assert "`taskstate impact check 101 --files F,F --record`" in steps[4]
    assert token_count.estimate(said) < 900


def test_nobody_is_given_the_turn_of_another(shared: SharedContext) -> None:
    """An agent by another name gets no turn; an actor who gives no name gets its own agent's."""
    shared.cli.ok("start", TASK, "--agent", "ada", "--actor", "ann")
    assert "`taskstate next` says which" in shared.cli.ok("permanent", "recover", "--agent", "bob")
    assert "`taskstate next` says which" in shared.cli.ok("permanent", "recover", "--actor", "eve")
    said = shared.cli.ok("permanent", "recover", "--actor", "ann")
    assert "--agent ada" in said.splitlines()[2]


def test_the_gravest_change_comes_first(shared: SharedContext) -> None:
    """Of many changes those are shown that ask most, and the others are counted."""
    shared.cli.ok("permanent", "ack", "--agent", "ada", "--version", "1")
    shared.cli.ok(
        "permanent", "decide", "--title", "Split", "--decision", "Two services", "--rationale", "r", "--accepted"
    )
    for number in range(6):
        shared.update("Constraints", f"- Constraint {number}\n")
    lines = shared.cli.ok("permanent", "recover", "--agent", "ada").splitlines()
    first = next(at for at, line in enumerate(lines) if "Changed since PT-v1" in line) + 1
    assert "[architecture change]" in lines[first]
    assert "PT-v8" in lines[first + 1]
    assert lines[first + 5].strip() == "and 2 more"


def test_a_resumed_turn_is_held_to_what_a_new_one_is(shared: SharedContext) -> None:
    """The missing analysis is told after a recovery, and is in the way where confirmations are required."""
    shared.update("Codebase Impact Map", f"```json\n{json.dumps(MAP)}\n```\n")
    assert "no impact analysis yet" in shared.cli.ok("start", TASK, "--agent", "ada")
    shared.cli.ok("permanent", "recover", "--agent", "ada")
    assert "its agent lost its context" in shared.cli.ok("start", TASK, "--agent", "ada")
    shared.cli.place.configure('[permanent]\nrequire-ack = "architecture"\n')
    said = shared.cli("start", TASK, "--agent", "ada")
    assert (said.status, "its agent lost its context" in said.err) == (2, True)


def test_it_is_recorded_once_that_the_analysis_is_missing(shared: SharedContext) -> None:
    """As an event of the task, and only where there is an Impact Map to give one by."""
    shared.cli.ok("start", TASK, "--agent", "ada")
    shared.cli.ok("permanent", "recover", "--agent", "ada")
    assert "context-recovered" not in shared.cli.place.text
    shared.update("Codebase Impact Map", f"```json\n{json.dumps(MAP)}\n```\n")
    shared.cli.ok("permanent", "recover", "--agent", "ada")
    shared.cli.ok("permanent", "recover", "--agent", "ada")
    assert shared.cli.place.text.count("context-recovered") == 1


def test_an_agent_that_nobody_knows(shared: SharedContext) -> None:
    """It gets the same without what it confirmed, and `next` in the place of its task."""
    said = shared.cli.ok("permanent", "recover", "--agent", "nobody")
    assert "confirmed last" not in said
    assert "`taskstate next` says which" in said
    assert "--agent NAME --version 1" in said


def test_an_open_handoff_is_named(shared: SharedContext) -> None:
    """It is where the work goes on."""
    shared.cli.ok("start", TASK, "--agent", "ada")
    shared.cli.ok("phase", "add", TASK, "1", "--name", "Build", "--objective", "Do it")
    words = ("--action", "Go on.", "--file", "a.txt", "--goal", "It works.", "--location", "line 1", "--context", "c")
    shared.cli.ok("handoff", "new", TASK, *words)
    assert "A handoff is open: handoffs/task-101/phase-1-handoff-" in shared.cli.ok(
        "permanent", "recover", "--agent", "ada"
    )


def test_a_successor_is_told_the_shared_context_and_what_is_to_be_met(shared: SharedContext) -> None:
    """Its page names the version and where it stands, the open criteria and the open features."""
    words = ("--action", "Go on.", "--file", "a.txt", "--goal", "It works.", "--location", "line 1", "--context", "c")
    shared.cli.ok("phase", "add", TASK, "1", "--name", "Build", "--objective", "Do it")
    shared.cli.ok("handoff", "new", TASK, *words)
    page = shared.cli.ok("handoff", "successor", TASK)
    assert "Shared context of all tasks: PT-v1, `taskstate show 1`" in page
    assert "criterion 1: Tokens verify" in page
    assert "feature jwt-1: makes a JWT" in page


def test_a_long_document_is_read_in_pieces(shared: SharedContext) -> None:
    """Each filled section has its own command."""
    shared.update("Constraints", "".join(f"- Constraint {number} {'x' * 200}\n" for number in range(100)))
    said = shared.cli.ok("permanent", "recover")
    assert '`taskstate show 1 --section "User Intent"`, `taskstate show 1 --section "Constraints"`' in said


def test_without_a_permanent_task(shared: SharedContext) -> None:
    """The error says how to create one."""
    shared.path.unlink()
    assert "taskstate new --kind permanent" in shared.cli.refused("permanent", "recover")

"""Who has read which version: recorded, shown, and asked for by `start` where the configuration says so."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.place import TASK

if TYPE_CHECKING:
    from tests.support.shared_context import SharedContext


def ack(shared: SharedContext, agent: str, version: int | str) -> str:
    """Record that an agent has read a version."""
    return shared.cli.ok("permanent", "ack", "--agent", agent, "--version", str(version))


def test_an_ack_raises_no_version(shared: SharedContext) -> None:
    """Only what was confirmed changes; the same again changes nothing."""
    ack(shared, "ada", "PT-v1")
    assert (shared.values["acks"], shared.version) == ({"ada": 1}, 1)
    assert "nothing to change" in ack(shared, "ada", "v1")


@pytest.mark.parametrize(
    ("version", "words"), [("3", "there is no PT-v3"), ("0", "there is no PT-v0"), ("x", "is not a version")]
)
def test_a_version_that_is_not_there(shared: SharedContext, version: str, words: str) -> None:
    """Nobody confirms what he cannot have read."""
    assert words in shared.cli.refused("permanent", "ack", "--agent", "ada", "--version", version)


def test_nobody_goes_back(shared: SharedContext) -> None:
    """A version below the confirmed one is an error."""
    shared.update("Constraints", "- x\n")
    ack(shared, "ada", 2)
    assert "ada has confirmed PT-v2 already" in shared.cli.refused(
        "permanent", "ack", "--agent", "ada", "--version", "1"
    )


def test_status_shows_who_is_behind_and_by_how_much(shared: SharedContext) -> None:
    """Who is furthest behind stands first."""
    ack(shared, "bob", 1)
    shared.update("Phase Status", "- x\n")
    ack(shared, "ada", 2)
    shared.update("Constraints", "- y\n")
    lines = shared.cli.ok("permanent", "status").splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [["bob", "PT-v1"], ["ada", "PT-v2"]]
    assert "2 versions behind, interface change" in lines[1]
    data = shared.cli.json("permanent", "status")
    assert [(each["agent"], each["behind"]) for each in data["agents"]] == [("bob", 2), ("ada", 1)]


def test_brief_and_status_say_when_the_reader_is_behind(shared: SharedContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody sees the version; who is behind sees the command that says what changed."""
    assert "Shared context of all tasks: PT-v1, `taskstate show 1`" in shared.cli.ok("brief", TASK)
    ack(shared, "ada", 1)
    shared.update("Constraints", "- y\n")
    monkeypatch.setenv("TASKSTATE_ACTOR", "ada")
    said = "ada has confirmed PT-v1 (interface change since): `taskstate permanent notify --since 1 --agent ada`"
    assert said in shared.cli.ok("brief", TASK)
    assert said in " ".join(shared.cli.ok("status", TASK).split())
    ack(shared, "ada", 2)
    assert "ada has confirmed" not in shared.cli.ok("brief", TASK)
    assert "shared context" not in shared.cli.ok("status", TASK)


def test_start_says_when_the_agent_is_behind(shared: SharedContext) -> None:
    """It begins all the same, unless the configuration requires that the change was confirmed."""
    assert "bob has confirmed none: read it" in shared.cli.ok("start", TASK, "--agent", "bob")


def test_start_wants_a_change_of_that_level_confirmed(shared: SharedContext) -> None:
    """Smaller changes do not matter; the cure works in one step."""
    shared.cli.place.configure('[permanent]\nrequire-ack = "architecture"\n')
    said = shared.cli.refused("start", TASK, "--agent", "ada")
    assert "ada has confirmed no version of the permanent task" in said
    ack(shared, "ada", 1)
    shared.update("Constraints", "- y\n")
    shared.cli.ok("start", TASK, "--agent", "ada")
    shared.cli.ok("finish", TASK, "--pause", "--did", "d", "--state", "s", "--next", "n")
    shared.update("User Intent", "- z\n")
    said = shared.cli.refused("start", TASK, "--agent", "ada")
    assert "`taskstate permanent notify --since 1`, then `taskstate permanent ack --agent ada --version 3`" in said
    ack(shared, "ada", 3)
    shared.cli.ok("start", TASK, "--agent", "ada")


def test_the_command_that_confirms_is_for_whoever_it_is(shared: SharedContext) -> None:
    """A name with a blank, as people have, stands in quotes in each command that is printed."""
    name = "Ada Lovelace"
    shared.update("Constraints", "- x\n")
    shared.cli.ok("start", TASK, "--agent", name)
    for words in (("recover", "--agent", name), ("notify", "--since", "1", "--agent", name)):
        printed = shared.cli.ok("permanent", *words)
        (command,) = re.findall(r"`taskstate (permanent ack [^`]+)`", printed)
        shared.cli.ok(*shlex.split(command))
    assert shared.values["acks"] == {name: 2}
    (again,) = re.findall(r"`taskstate (start [^`]+)`", shared.cli.ok("permanent", "recover", "--agent", name))
    assert "resumed" in shared.cli.ok(*shlex.split(again))

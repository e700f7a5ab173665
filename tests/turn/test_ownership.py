"""Whose an open turn is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.model.delta_block import Turn
from taskstate.turn.ownership import is_own, owner

if TYPE_CHECKING:
    from tests.support.turns import Turns


def turn(agent: str, actor: str | None) -> Turn:
    """Return a turn of an agent and its actor."""
    return Turn(None, agent, "2026-01-31T12:00:00Z", None, None, None, 0, actor)


def test_a_turn_belongs_to_actor_and_agent() -> None:
    """Another actor, or another agent by name, is somebody else; who names no agent is the actor's."""
    assert is_own(turn("claude", "ann"), "ann")
    assert is_own(turn("claude", "ann"), "ann", "claude")
    assert not is_own(turn("claude", "ann"), "bob", "claude")
    assert not is_own(turn("claude", "ann"), "ann", "explorer")


def test_a_turn_that_names_no_actor_belongs_to_any() -> None:
    """So it is of turns that an earlier version began."""
    assert is_own(turn("ann", None), "bob")
    assert not is_own(turn("ann", None), "bob", "bob")


def test_an_owner_is_named_with_its_actor() -> None:
    """The actor is left out where it is the same name."""
    assert (owner(turn("claude", "ann")), owner(turn("ann", "ann")), owner(turn("ann", None))) == (
        "claude (ann)",
        "ann",
        "ann",
    )


def test_an_event_names_the_agent_whose_turn_is_open(turns: Turns) -> None:
    """All agents of one person write as the same actor; another actor, and one without a turn, is who it says."""
    turns.start(agent="builder-1")
    turns.cli.ok("edit", "101", "--blocked", "the key is missing")
    turns.cli.ok("edit", "101", "--unblocked", "--actor", "maria")
    turns.start("", "--take-over", "builder-1 is silent", agent="builder-2")
    turns.finish("Looked.", "--pause", "--take-over", "builder-2 too", "--agent", "builder-3")
    turns.cli.ok("edit", "101", "--blocked", "no key yet")
    audit = turns.place.values["audit"]["events"]
    assert [(each["event"], each["actor"], each.get("agent")) for each in audit] == [
        ("blocked", "somebody", "builder-1"),
        ("unblocked", "maria", None),
        ("turn-taken-over", "somebody", "builder-2"),
        ("turn-taken-over", "somebody", "builder-3"),
        ("blocked", "somebody", None),
    ]


def test_who_takes_over_as_the_actor_is_no_agent(turns: Turns) -> None:
    """The event does not name the agent whose turn it was."""
    turns.start("implementer", agent="builder-1")
    turns.cli.ok("start", "101", "--agent", "somebody", "--take-over", "builder-1 is silent")
    assert turns.place.values["audit"]["events"][-1].get("agent") is None

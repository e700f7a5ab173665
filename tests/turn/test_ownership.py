"""Whose an open turn is."""

from __future__ import annotations

from taskstate.model.delta_block import Turn
from taskstate.turn.ownership import is_own, owner


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

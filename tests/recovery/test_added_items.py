from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, with_events
from taskstate.recovery.added_items import with_items
from taskstate.syntax.document import parse
from taskstate.units.items import CRITERION, EVENT, KEY, SESSION, state_items
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.units.items import Item

NAME = ".taskstate/tasks/task-101-state.md"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a session in task 101."""
    place = Place(tmp_path / "repository")
    place.add("First.")
    return place


def added(ours: str, theirs: str, kind: str) -> str:
    """Return our text with the items of a kind that only the other text has."""
    return with_items(ours.encode(), theirs.encode(), dict.fromkeys(missing(ours, theirs, kind)), NAME, ()).decode()


def missing(ours: str, theirs: str, kind: str) -> set[Item]:
    """Return the items of a kind that only the other text has."""
    here, there = (state_items(read_state(parse(text))) for text in (ours, theirs))
    return {item for item in there - here if item.kind == kind}


def event(at: str) -> dict[str, str]:
    """Return an event of that time."""
    return {"at": at, "actor": "somebody", "event": "resealed", "note": "n"}


def test_events_are_added_by_time_under_a_valid_seal(place: Place) -> None:
    """An event that is gone stands between those that are there."""
    first, second, third = (event(f"2026-01-31T0{hour}:00:00Z") for hour in (1, 2, 3))
    ours, theirs = with_events(place.text, [first, third]), with_events(place.text, [second])
    text = added(ours, theirs, EVENT)
    assert [each.entry for each in blocks_of(parse(text)).audit.events] == [first, second, third]
    assert not blocks_of(parse(text)).edited


def test_ack_is_added_beside_others(place: Place) -> None:
    """An agent's ack comes back, and the one that another agent made since stays."""
    ours = place.text.replace("audit:", "acks: {mine: 2}\naudit:", 1)
    theirs = place.text.replace("audit:", "acks: {mine: 1, yours: 1}\naudit:", 1)
    wanted = {item for item in missing(ours, theirs, KEY) if item.place == "acks yours"}
    text = with_items(ours.encode(), theirs.encode(), dict.fromkeys(wanted), NAME, ()).decode()
    assert "acks: {mine: 2, yours: 1}" in text


def test_sessions_stand_behind_the_one_that_they_followed(place: Place) -> None:
    """What is gone comes behind its predecessor, also where all have the same time, and the numbers rise."""
    buffer = place.text
    place.add("Gone.")
    theirs = place.text
    place.text = buffer
    place.add("Later.")
    state = read_state(parse(added(place.text, theirs, SESSION)))
    assert [each.number for each in state.sessions] == [1, 2, 3]
    assert state.sessions[0].did == ("First.",)
    assert {each.did for each in state.sessions[1:]} == {("Gone.",), ("Later.",)}


def test_nothing_else_of_the_other_text_is_taken_over(place: Place) -> None:
    """Not its title, not its description, not its other items."""
    ours = place.text
    place.check(1)
    place.prove()
    theirs = place.text.replace("Issue tokens.", "Issue other tokens.").replace("title: ", "title: Other ")
    text = added(ours, theirs, CRITERION)
    assert text.replace("- [x] Tokens verify", "- [ ] Tokens verify") == ours

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from taskstate.units.items import (
    CHECK,
    EVENT,
    HANDOFF,
    MAP,
    PROOF,
    SESSION,
    Item,
    archive_items,
    described,
    items_in,
    lost_between,
    named_items,
    require_conserved,
    state_items,
)
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.support.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path

ONE, OTHER = Item(SESSION, "", "1" * 16), Item(SESSION, "", "2" * 16)
TICK = Item(CHECK, "c", "3" * 16)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with two sessions, a proof and a check in task 101."""
    place = Place(tmp_path / "repository")
    place.add("First.")
    place.add("Second.")
    place.prove()
    place.check(2)
    return place


def items(text: str) -> Counter[Item]:
    """Return the items of a state file with this text."""
    return state_items(read_state(parse(text)))


def kinds(found: Counter[Item]) -> dict[str, int]:
    """Return how many items of each kind there are."""
    return Counter(item.kind for item in found.elements())


def test_items_are_named_for_messages(place: Place) -> None:
    """Sessions and criteria are named by number, proofs by their feature."""
    names = [name for _, name in named_items(place.state)]
    assert names == ["session 1", "session 2", "the proof of jwt-1", "the check of criterion 2"]


def test_session_is_known_without_its_number(place: Place) -> None:
    """A merge may change the number; any other change makes another item."""
    before = items(place.text)
    assert items(place.text.replace("### Session 2", "### Session 7")) == before
    changed = items(place.text.replace("Second.", "Second, and more."))
    assert kinds(before - changed) == {SESSION: 1}


def test_session_is_the_same_in_the_archive(place: Place) -> None:
    """An archiving moves items and changes none."""
    before = items(place.text)
    place.archive(keep=1)
    assert items(place.text) + archive_items(place.archived) == before
    assert kinds(archive_items(place.archived)) == {SESSION: 1}


def test_session_in_conflict_is_no_item(place: Place) -> None:
    """What stands between conflict markers was acknowledged in another form."""
    text = place.text.replace("- Second.", "<<<<<<< ours\n- Second.\n=======\n- Other.\n>>>>>>> theirs")
    assert kinds(items(place.text) - items(text)) == {SESSION: 1}


def test_proof_is_another_with_other_evidence(place: Place) -> None:
    """What a feature's test showed is part of it; its place is the feature."""
    before = items(place.text)
    after = items(place.text.replace('"seen"', '"seen twice"'))
    (gone,) = lost_between(before, after)
    assert (gone.kind, gone.place) == (PROOF, "jwt-1")
    assert [item.place for item in after if item.kind == PROOF] == ["jwt-1"]


def test_check_is_the_same_wherever_the_criterion_stands(place: Place) -> None:
    """A criterion is known by its text: moving it changes nothing, taking the tick away does."""
    before = items(place.text)
    first, second = "- [ ] Tokens verify\n", "- [x] Tokens expire\n"
    assert first + second in place.text
    assert items(place.text.replace(first + second, second + first)) == before
    assert kinds(before - items(place.text.replace("[x]", "[ ]"))) == {CHECK: 1}


def test_events_and_acks_are_items(place: Place) -> None:
    """What the audit holds counts, each event by its values and each ack by its agent."""
    block = 'acks: {"agent-2": 3}\naudit:\n  events: [{event: resealed, note: meant}]\n'
    text = place.text.replace("audit:\n", block, 1)
    added = items(text) - items(place.text)
    assert kinds(added) == {EVENT: 1, "ack": 1}
    assert ("ack", "agent-2") in {(item.kind, item.place) for item in added}


def test_files_hold_items_by_their_kind(place: Place) -> None:
    """A handoff is one item, known by its name, an impact map one with its text; a file without bytes holds none."""
    document = Counter([Item(HANDOFF, "x-handoff-1.md", "")])
    assert items_in("handoff", "handoffs/task-101/x-handoff-1.md", b"text") == document
    assert kinds(items_in("impact-map", "task-101-impact-map.json", b"{}")) == {MAP: 1}
    assert items_in("impact-map", "m.json", b"{\r\n}") == items_in("impact-map", "m.json", b"{\n}")
    assert items_in("state", "", place.text.encode()) == items(place.text)
    for kind in ("state", "archive", "handoff", "impact-map"):
        assert items_in(kind, "x", b"") == Counter()
    assert items_in("progress", "x", b"text") == Counter()


def test_bytes_that_are_no_text_hold_no_items() -> None:
    """A damaged file is read as far as it goes, and never fails."""
    for data in (b"\0" * 100, b"\xff\xfe---\n", b"---\n", b"### Session 1"):
        assert kinds(items_in("state", "", data)) == {}
        assert kinds(items_in("archive", "", data)) == {}


@pytest.mark.parametrize(
    ("wanted", "after"),
    [
        ([ONE], [ONE]),
        ([], [ONE]),
        ([ONE, ONE], [ONE, ONE]),
        ([TICK], [TICK, TICK]),
        ([], []),
    ],
)
def test_conserved_items_pass(wanted: list[Item], after: list[Item]) -> None:
    """Everything stands as often as it must; what is no session, event or handoff may stand more often."""
    require_conserved(Counter(wanted), Counter(after), "the file")


@pytest.mark.parametrize(
    ("wanted", "after"),
    [([ONE], []), ([ONE], [OTHER]), ([ONE], [ONE, ONE]), ([], [ONE, ONE]), ([ONE, ONE], [ONE]), ([TICK], [])],
)
def test_items_that_are_lost_or_doubled_are_refused(wanted: list[Item], after: list[Item]) -> None:
    """The error says how many of what kind would not stand there exactly once."""
    error = refusal(lambda: require_conserved(Counter(wanted), Counter(after), "the file"))
    assert error.code == "unsafe"
    assert f"1 {(wanted or after)[0].kind} would not stand there exactly once" in error.message


def test_items_are_described_by_kind() -> None:
    """Each item counts once, however often it is named."""
    assert described([ONE, ONE, OTHER, TICK]) == "2 sessions, 1 check"

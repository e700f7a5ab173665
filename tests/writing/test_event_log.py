"""The oldest events of a state file move to the archive, and none is lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.archive import restore as archive_restore
from taskstate.archive import verify as archive_verify
from taskstate.doctor import repairs
from taskstate.lint.engine import findings
from taskstate.model.archive_format import rolled_items
from taskstate.model.write_metadata import check_seal
from taskstate.writing.event_log import EVENTS_KEPT
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def notes(place: Place) -> list[str]:
    """Return the notes of the events in the state file."""
    return [event["note"] for event in place.state.document.front_matter["audit"]["events"]]


def test_the_newest_events_stay_and_older_ones_are_in_the_archive(place: Place) -> None:
    """Each event is in exactly one of the two files, in order, whatever its note contains."""
    texts = [f"note {number} <!-- x --> ## Events" for number in range(EVENTS_KEPT + 3)]
    place.fill(1, 2, 3)
    place.text = place.text.replace("status: created", "status: in_progress")
    for number, note in enumerate(texts):
        repairs.reseal(place.workspace, TASK, note, place.request())
        if number == EVENTS_KEPT + 1:
            place.archive()
    assert notes(place) == texts[-EVENTS_KEPT:]
    older = [json.loads(item) for item in rolled_items(place.archived, "Events")]
    assert [event["note"] for event in older] == texts[:-EVENTS_KEPT]
    assert older[0]["event"] == "resealed"
    check_seal(place.state.document, "it")
    assert place.numbers() == [(1, True), (2, True), (3, False)]
    assert archive_verify.verify(place.workspace, place.workspace.load(place.path)).problems == ()
    for path in (place.path, place.archive_path):
        assert [each.diagnostic.code for each in findings(path.read_bytes(), path.name, place.workspace.config)] == []
    archive_restore.restore(place.workspace, TASK, place.request())
    assert place.numbers() == [(1, False), (2, False), (3, False)]
    assert len(rolled_items(place.archived, "Events")) == len(older)


def test_few_events_need_no_archive(place: Place) -> None:
    """Up to the limit no archive is written."""
    for number in range(EVENTS_KEPT):
        repairs.reseal(place.workspace, TASK, f"note {number}", place.request())
    assert len(notes(place)) == EVENTS_KEPT
    assert not place.archive_path.exists()

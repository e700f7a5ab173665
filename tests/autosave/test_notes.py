from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

import pytest

from taskstate.autosave import notes
from taskstate.autosave.notes import SessionNote, TreeMark
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.storage.private import Private


@pytest.fixture
def private(tmp_path: Path) -> Private:
    """Return the private folders of a repository."""
    return Place(tmp_path / "place").workspace.private


def test_a_note_is_found_as_it_was_written(private: Private) -> None:
    """All that a note says is there again, in a file for this user alone."""
    whole = SessionNote(
        client="claude",
        session="a-1",
        transcript="/t/a-1.jsonl",
        at="2026-01-31T12:00:00Z",
        task="101",
        began="2026-01-31T11:00:00Z",
        before=TreeMark("c0ffee", {"a.txt": "b10b"}),
        after=TreeMark(),
        ended="exit",
        offset=7,
        is_told=True,
        last_words="Done.",
        model="m",
        used=5,
        window=9,
        compactions=1,
        warned=(0, 1),
        seen=4096,
    )
    assert notes.update(private, "claude", "a-1", lambda _: whole) == whole
    assert notes.find(private, "claude", "a-1") == whole
    assert notes.find(private, "codex", "a-1") is None
    (file,) = (each for each in private.files(notes.FOLDER) if each.suffix == ".json")
    assert file.name == "claude-a-1.json"
    assert file.stat().st_mode & 0o077 == 0


def test_the_oldest_comes_first(private: Private) -> None:
    """Notes are in the order in which their sessions began; one that is deleted is gone."""
    for session, began in (("b", "2026-01-31T12:00:00Z"), ("a", "2026-01-31T13:00:00Z"), ("c", "")):
        notes.update(private, "codex", session, lambda each, began=began: each._replace(began=began))  # type: ignore[misc]
    assert [each.session for each in notes.all_notes(private)] == ["c", "b", "a"]
    notes.delete(private, SessionNote("codex", "b"))
    assert [each.session for each in notes.all_notes(private)] == ["c", "a"]


@pytest.mark.parametrize("name", ["../../escape", "", "x" * 300, "two\nlines", "näme", "\ud800"])
def test_any_id_has_a_name(private: Private, name: str) -> None:
    """An id that is no name of a file is one by its hash, and stays what it is."""
    assert notes.update(private, "claude", name, lambda each: each._replace(task="101")).session == name
    assert [each.session for each in notes.all_notes(private)] == [name]
    assert notes.find(private, "claude", name) is not None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", None),
        (b"[]", None),
        (b'{"client": "claude"}', None),
        (b"\xff", None),
        (b"[" * 100_000, None),
        (
            json.dumps({"client": "claude", "session": "a", "offset": "7", "before": [1], "warned": ["x", 2]}).encode(),
            SessionNote("claude", "a", warned=(2,)),
        ),
    ],
)
def test_a_damaged_note_is_none(private: Private, content: bytes, expected: SessionNote | None) -> None:
    """What cannot be read counts as absent, a note or a field of it."""
    notes.update(private, "claude", "a", lambda each: each._replace(task="101"))
    (file,) = (each for each in private.files(notes.FOLDER) if each.suffix == ".json")
    file.write_bytes(content)
    assert notes.find(private, "claude", "a") == expected


def _more(root: Path, number: int) -> None:
    for _ in range(10):
        private = Place.workspace.fget(_at(root)).private  # type: ignore[attr-defined]
        notes.update(private, "claude", "a", lambda each: each._replace(seen=each.seen + number))


def _at(root: Path) -> Place:
    place = object.__new__(Place)
    place.root = root
    return place


def test_no_hook_undoes_what_another_wrote(tmp_path: Path) -> None:
    """Many hooks of a session at once lose nothing of what each of them notes."""
    place = Place(tmp_path / "place")
    with ProcessPoolExecutor(4) as pool:
        for each in [pool.submit(_more, place.root, number) for number in (1, 10, 100, 1000)]:
            each.result()
    found = notes.find(place.workspace.private, "claude", "a")
    assert found is not None
    assert found.seen == 11110

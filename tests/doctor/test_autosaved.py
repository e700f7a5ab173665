from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.autosave import consent, notes
from taskstate.doctor.examine import examine
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return a repository, of which nobody has said anything yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return Place(tmp_path / "place")


def remarks(place: Place) -> list[tuple[str, str]]:
    """Return what `doctor` says of autosave, which is no error."""
    found = [each for each in examine(place.workspace) if each.check == "autosave"]
    assert all(each.note for each in found)
    return [(each.message, each.help) for each in found]


def measured(place: Place, client: str, session: str, used: int, window: int) -> None:
    """Note how full the context of a session was."""
    at = f"2026-01-31T12:0{session}:00Z"
    known = {"used": used, "window": window, "at": at}
    notes.update(place.workspace.private, client, session, lambda note: note._replace(**known))  # type: ignore[arg-type]


def test_nothing_is_said_where_nothing_is_allowed(place: Place) -> None:
    """Without a person's word there is no remark, whatever lies there."""
    measured(place, "claude", "1", 100_000, 200_000)
    assert remarks(place) == []


def test_what_is_allowed_and_how_full_contexts_were(place: Place) -> None:
    """The level is named with what it means and how to take it back, then the newest sessions that were measured."""
    consent.give(place.root, "facts")
    for session in "1234":
        measured(place, "claude", session, 83_500, 200_000)
    measured(place, "codex", "5", 10, 0)
    measured(place, "codex", "6", 10, 0)
    measured(place, "elsewhere", "7", 10, 0)
    (level, cure), *fills, (unknown, setting) = remarks(place)
    assert level == f"facts: {consent.MEANING['facts']}"
    assert cure == "`taskstate init --autosave off` undoes that"
    words = "the context of claude 4 was 50 % of the way to compaction (83,500 of 167,000 tokens)"
    assert fills == [(f"at 2026-01-31T12:04:00Z {words}", "")]
    assert unknown == "Codex did not say how much the context holds, so nobody is told how full it is"
    assert setting == "say it in taskstate.toml, such as `window = 200000` in the table `[autosave]`"


@pytest.mark.parametrize("name", ["taskstate.toml", "pyproject.toml"])
def test_what_is_to_be_set_is_named_as_it_counts(place: Place, name: str) -> None:
    """The line and the table that are named, in the file of that name, are what is missing."""
    consent.give(place.root, "facts")
    measured(place, "codex", "5", 10, 0)
    path = place.root / name
    (place.root / "taskstate.toml").unlink(missing_ok=True)
    path.write_text("" if name == "taskstate.toml" else "[tool.taskstate]\nexclude = []\n", encoding="utf-8")
    help_ = remarks(place)[-1][1]
    assert f"in {name}" in help_
    line, table = help_.split("`")[1::2]
    path.write_text(f"{table}\n{line}\n", encoding="utf-8")
    assert not any("did not say" in message for message, _ in remarks(place))


def test_a_word_that_does_not_count_is_told(place: Place, tmp_path: Path) -> None:
    """A file that cannot be believed is named, with what writes it anew."""
    consent.give(place.root, "facts")
    (file,) = (tmp_path / "state" / "taskstate" / "autosave").glob("*.json")
    file.chmod(0o666)
    ((message, _),) = remarks(place)
    assert "may be written by other users; `taskstate init --autosave LEVEL` writes it again" in message

"""A key of the configuration that is given up is told with its date, and works until then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.doctor import examine
from taskstate.doctor.given_up import GivenUp
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

TABLE = {
    "size.max-kb": GivenUp("write `size.limit` instead", "2030-01-31"),
    "lint": GivenUp("nothing takes its place", "2031-01-31"),
    "lint.ignore": GivenUp("write `lint.without` instead", "2032-01-31"),
}


@pytest.mark.parametrize(
    ("name", "text", "keys"),
    [
        ("taskstate.toml", "size.max-kb = 75\n", ["size.max-kb"]),
        ("taskstate.toml", "[lint]\nselect = ['TS']\n", ["lint"]),
        ("taskstate.toml", "size.warn-kb = 60\n", []),
        ("pyproject.toml", "[tool.taskstate.lint]\nignore = ['TS951']\n[size]\nmax-kb = 1\n", ["lint", "lint.ignore"]),
    ],
)
def test_a_key_that_is_given_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, keys: list[str]
) -> None:
    """It is a note at its file, also where its value is the default, with the day and what to write instead."""
    place = Place(tmp_path)
    (tmp_path / "taskstate.toml").unlink(missing_ok=True)
    (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(examine, "KEYS", TABLE)
    found = [each for each in examine.examine(place.workspace) if "given up" in each.message]
    assert [(each.path, each.message.split("`")[1]) for each in found] == [(name, key) for key in keys]
    for each, key in zip(found, keys, strict=True):
        assert each.note
        assert each.message.endswith(f"may be an error from {TABLE[key].until} on")
        assert each.help == TABLE[key].instead

"""What is advised for a damaged file works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.writing import damage
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("opening", "is_merged"), [("<<<<<<< ours", True), ("<<<<<<< HEAD", False)])
def test_doctor_is_not_advised_for_what_it_left(tmp_path: Path, opening: str, *, is_merged: bool) -> None:
    """Our merge leaves only what a person has to decide; what git's own has left, `doctor --fix` may merge."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("title: ", f"{opening}\ntitle: a\n=======\ntitle: b\n>>>>>>> theirs\nx-was: ", 1)
    said = damage.advice(place.workspace, place.workspace.load(place.workspace.locate(TASK)))
    assert said.startswith("keep the right lines")
    assert ("doctor --fix" in said) != is_merged

"""What is in the way of a path is named with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.storage.paths import hindrance

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("below", ["", "a/b.md"])
def test_a_link_is_named_wherever_it_is_on_the_way(tmp_path: Path, below: str) -> None:
    """It is the link that has to go, also where what was looked for lies far behind it."""
    link = tmp_path / "it's a link"
    link.symlink_to(tmp_path)
    quoted = f"{tmp_path}/it'\"'\"'s a link"
    assert hindrance(link / below) == f"links are not followed; put the real file or folder where '{quoted}' is"


def test_a_file_in_a_folders_place_is_named(tmp_path: Path) -> None:
    """What is behind it cannot be reached before it is moved away; it itself is in nobody's way."""
    (tmp_path / "file").touch()
    assert hindrance(tmp_path / "file" / "a" / "b") == f"move {tmp_path}/file away, and put the folder in its place"
    assert hindrance(tmp_path / "file") == hindrance(tmp_path) == hindrance(tmp_path / "none" / "a") == ""

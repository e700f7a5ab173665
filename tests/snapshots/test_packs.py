"""Only the folders that no command names are swept away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.snapshots import packs
from tests.support.git_place import ROLE, GitPlace
from tests.support.place import TASK

if TYPE_CHECKING:
    from pathlib import Path


def test_folder_that_the_file_names_by_now_stays(tmp_path: Path) -> None:
    """Whoever knows an older text than there is reads the file again, and deletes what that does not name either."""
    place = GitPlace(tmp_path / "repository")
    place.write("a.txt", "first\n")
    known = place.take().loaded
    place.write("a.txt", "second\n")
    place.take()
    kept = place.workspace.state_root / place.snapshot()["pack"]
    stray = kept.with_name("stray")
    stray.mkdir()
    packs.sweep(place.workspace, TASK, known)
    assert [each.name for each in kept.parent.iterdir()] == [kept.name]
    assert kept.parent.name == ROLE

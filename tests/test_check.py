from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.check import check_files, own_files_in
from tests.place import Place, refusal

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


# Which files


def test_folders_hold_our_own_files(place: Place) -> None:
    """In a folder our own files are looked for; of named files the others are told."""
    readme = place.root / "README.md"
    readme.write_text("x\n", encoding="utf-8")
    found, others = own_files_in(place.workspace, [place.root, place.path, readme])
    assert found == (place.path,)
    assert [line.split(" was not checked")[0] for line in others] == [str(readme)]


def test_excluded_files_are_left_out_in_silence(place: Place) -> None:
    """What the configuration excludes is none of ours, also where it is named."""
    place.configure('exclude = ["docs/**"]\n')
    path = place.root / "docs" / "task-7-state.md"
    path.parent.mkdir()
    path.write_text("x\n", encoding="utf-8")
    assert own_files_in(place.workspace, [path, path.parent]) == ((), ())
    assert own_files_in(place.workspace, [place.root]) == ((place.path,), ())


def test_missing_path_is_an_error(place: Place) -> None:
    """A path that does not exist is told, with control characters spelled out."""
    error = refusal(lambda: own_files_in(place.workspace, [place.root / "no\x1bne"]))
    assert error.code == "not-found"
    assert "no\\x1bne" in error.message


def test_unreadable_file_stops_no_other(place: Place) -> None:
    """A file that cannot be read is told, and the others are checked."""
    link = place.path.with_name("task-7-state.md")
    link.symlink_to("nowhere")
    found, others = own_files_in(place.workspace, [link, place.path])
    report = check_files(found, place.workspace.config, str)
    assert (others, report.files, report.findings) == ((), 1, ())
    assert "task-7-state.md" in report.unreadable[0]


def test_findings_stand_under_the_name_that_is_shown(place: Place) -> None:
    """A finding has the path that the caller shows, and a clean file none."""
    assert check_files([place.path], place.workspace.config, str).findings == ()
    place.path.write_bytes(b"\xff")
    report = check_files([place.path], place.workspace.config, lambda path: f"./{path.name}")
    assert [(each.path, each.diagnostic.code) for each in report.findings] == [("./task-101-state.md", "TS001")]
    assert report.files == 1

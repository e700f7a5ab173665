"""What the agents' clients are configured to call is tried, by their PATH and by a desktop's."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from taskstate.doctor.starting import not_starting
from taskstate.setup.installation import Wanted, install
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

SAYS = {
    "well": "exit 0",
    "no server": "[ $1 = mcp ] || exit 0; echo 'needs the package mcp' >&2; exit 2",
    "broken": "echo 'No module named x' >&2; exit 1",
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository that is set up for two clients, one with TOML."""
    place = Place(tmp_path / "repository")
    install(place.workspace, Wanted(("claude", "codex")))
    return place


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("well", []),
        ("no server", ["`taskstate mcp` of PROGRAM does not start: needs the package mcp"]),
        (
            "broken",
            ["`taskstate hook` of PROGRAM fails: No module", "`taskstate mcp` of PROGRAM does not start: No mo"],
        ),
    ],
)
def test_what_is_called_is_tried(place: Place, monkeypatch: pytest.MonkeyPatch, kind: str, words: list[str]) -> None:
    """What does not start is told with its last line, and a desktop's PATH that has not got it in a note."""
    program = place.root.parent / "bin/taskstate"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{SAYS[kind]}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.defpath}")
    *found, note = not_starting(place.workspace)
    expected = [each.replace("PROGRAM", str(program)) for each in words]
    assert [each.message[: len(said)] for each, said in zip(found, expected, strict=True)] == expected
    assert (note.note, "/usr/bin" in note.message, str(program.parent) in note.help) == (True, True, True)
    assert ".codex/config.toml" in note.path


def test_program_that_is_not_on_the_path_is_an_error(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """The PATH is named, and what puts it right."""
    monkeypatch.setenv("PATH", "/nonexistent")
    (found,) = not_starting(place.workspace)
    assert (found.note, "(/nonexistent)" in found.message) == (False, True)
    assert found.help.startswith("put /")


def test_without_clients_nothing_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository in which no client is set up needs no program on the PATH."""
    monkeypatch.setenv("PATH", "/nonexistent")
    assert [*not_starting(Place(tmp_path / "repository").workspace)] == []

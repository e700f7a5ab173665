"""Taskstate's own files are listed in the state folder and elsewhere."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.workspace.listing import own_files

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    ".taskstate/tasks/task-1-state.md",
    ".taskstate/tasks/task-1-notes.md",
    ".taskstate/handoffs/task-1/phase-1-handoff-20260131T120000Z.md",
    ".taskstate/private/task-2-state.md",
    ".taskstate/more/private/task-3-state.md",
    "docs/task-4-state.md",
    "node_modules/task-5-state.md",
)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    """Return a folder that holds files of every kind."""
    for name in NAMES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def found(root: Path, under: str = "") -> set[str]:
    """Return the files that are found in a folder, from the root."""
    return {path.removeprefix(f"{root}/") for path in own_files(root / under, root / ".taskstate")}


def test_without_git_all_is_walked(listed: Path) -> None:
    """Our own files are found anywhere except in derived folders and folders of other tools."""
    assert found(listed) == {NAMES[0], NAMES[2], NAMES[4], NAMES[5]}
    assert found(listed, "docs") == {NAMES[5]}
    assert found(listed, ".taskstate/handoffs/task-1") == {NAMES[2]}
    assert found(listed, "none") == set()


def test_git_says_what_is_ignored_elsewhere(listed: Path) -> None:
    """Outside of the state folder ignored files are left out; inside it only derived ones are."""
    (listed / ".gitignore").write_text(".taskstate/more\ndocs\n")
    subprocess.run(["git", "init", "-q", "."], cwd=listed, check=True)
    subprocess.run(["git", "add", "-f", "node_modules", ".taskstate/private"], cwd=listed, check=True)
    assert found(listed) == {NAMES[0], NAMES[2], NAMES[4], NAMES[6]}
    (listed / NAMES[6]).unlink()
    assert found(listed, "node_modules") == set()


def test_others_can_be_asked_for(listed: Path) -> None:
    """A caller says which files it wants, by name and to git."""
    root = str(listed)
    assert own_files(listed, listed / ".taskstate", lambda name: name.endswith("-notes.md"), ("*-notes.md",)) == [
        f"{root}/{NAMES[1]}"
    ]

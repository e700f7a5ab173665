"""Taskstate's own files are listed in the state folder and elsewhere."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
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


@pytest.mark.parametrize("name", ["tasks", "archives", "handoffs", "tasks/more", "handoffs/task-1/archive"])
def test_a_link_in_a_folders_place_is_an_error(listed: Path, tmp_path: Path, name: str) -> None:
    """Nothing behind a link is listed, and nobody takes the rest for all that there is."""
    path = listed / ".taskstate" / name
    if path.exists():
        path.rename(tmp_path / "away")
    path.symlink_to(tmp_path)
    with pytest.raises(TaskstateError, match=f"cannot list .*/{name}: ") as caught:
        found(listed)
    assert caught.value.code == "is-link"
    assert found(listed, "docs") == {NAMES[5]}


@pytest.mark.parametrize("name", ["tasks", "archives", "handoffs"])
def test_a_file_in_a_folders_place_is_an_error(listed: Path, tmp_path: Path, name: str) -> None:
    """A folder of ours that is none is not empty; one that is not there is."""
    path = listed / ".taskstate" / name
    if path.exists():
        path.rename(tmp_path / "away")
    path.touch()
    with pytest.raises(TaskstateError, match=f"cannot list .*/{name}: "):
        found(listed)
    path.unlink()
    assert NAMES[4] in found(listed)


def test_a_link_elsewhere_in_the_state_folder_is_passed_over(listed: Path, tmp_path: Path) -> None:
    """Neither a link beside our folders nor one to a file among our files is followed, or told."""
    before = found(listed)
    (listed / ".taskstate" / "notes").symlink_to(tmp_path)
    (listed / ".taskstate" / "tasks" / "notes.md").symlink_to(listed / NAMES[1])
    (listed / ".taskstate" / "tasks" / "loop").symlink_to("loop")
    assert found(listed) == before


def test_a_folder_with_the_name_of_a_file_is_listed_as_one(listed: Path) -> None:
    """Whoever reads it then says what it is; what lies in it is not looked at."""
    name = ".taskstate/tasks/task-7-state.md"
    (listed / name).mkdir()
    (listed / name / "task-8-state.md").touch()
    assert found(listed) == {NAMES[0], NAMES[2], NAMES[4], NAMES[5], name}


def test_what_git_lists_and_cannot_be_looked_at_is_an_error(listed: Path, tmp_path: Path) -> None:
    """A tracked file that is gone is left out, one whose folder has become a link is not."""
    subprocess.run(["git", "init", "-q", "."], cwd=listed, check=True)
    subprocess.run(["git", "add", "docs"], cwd=listed, check=True)
    (listed / "docs").rename(tmp_path / "away")
    assert NAMES[5] not in found(listed)
    (listed / "docs").symlink_to(tmp_path / "away")
    with pytest.raises(TaskstateError, match=r"cannot look at .*docs/task-4-state\.md"):
        found(listed)


def test_others_can_be_asked_for(listed: Path) -> None:
    """A caller says which files it wants, by name and to git."""
    root = str(listed)
    assert own_files(listed, listed / ".taskstate", lambda name: name.endswith("-notes.md"), ("*-notes.md",)) == [
        f"{root}/{NAMES[1]}"
    ]

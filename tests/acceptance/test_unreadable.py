"""What cannot be read is not empty: commands say what they could not read, and a cure that works as it is printed."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support.kept_place import Repo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.kept_place import Said

pytestmark = pytest.mark.slow  # each runs dozens of commands

TASKS = ".taskstate/tasks"
FOLDERS = (TASKS, ".taskstate/archives", ".taskstate/handoffs", ".taskstate")
KINDS = ("link out", "link in", "link to nowhere", "file", "fifo")
READS = (
    *(("list",), ("status",), ("next",), ("graph",), ("search", "One"), ("lint",)),
    *(("fmt", "--check"), ("doctor",), ("brief", "1"), ("archive", "--check"), ("start", "1")),
    *(("permanent", "recover"), ("migrate", "--dry-run")),
)
NEW = ("new", "2", "--title", "Two")
SESSION = ("session", "add", "1", "--did", "d", "--state", "s", "--next", "n")


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Return a repository with task 1, which is cached."""
    made = Repo(tmp_path.resolve() / "repository")
    made.ok("new", "1", "--title", "One")
    made.commit("begun")
    made.ok("list")
    return made


def put(repo: Repo, name: str, kind: str) -> None:
    """Move a folder away, and put something else in its place."""
    path = repo.root / name
    away = repo.root / "away" if kind == "link in" else repo.root.parent / "away"
    path.rename(away)
    if kind == "file":
        path.write_text("x", encoding="utf-8")
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to(repo.root / "none" if kind == "link to nowhere" else away)


def assert_refused(said: Said, words: str) -> None:
    """Assert that a command did nothing, and that its one line says what cannot be read and what to do."""
    assert (said.status, said.out) == (2, "")
    (line,) = said.err.splitlines()
    assert re.search(words, line), line


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_that_is_none_is_not_empty(repo: Repo, name: str, kind: str) -> None:
    """Every command that lists says so in one line, follows no link, and works again when the folder is back."""
    put(repo, name, kind)
    words = rf"{re.escape(name)}\b.*(link is followed|links are not followed|put the (real )?folder)"
    for command in (*READS, NEW):
        assert_refused(repo.run(*command), words)
    if name in {TASKS, ".taskstate"}:
        assert_refused(repo.run(*SESSION), words)
    (repo.root / name).unlink()
    repo.git("checkout", "--", name)
    assert "One" in repo.ok("list")
    repo.ok(*SESSION)
    repo.ok(*NEW)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_without_access_is_not_empty(repo: Repo, name: str) -> None:
    """The command that is printed opens it again."""
    folder = repo.root / name
    folder.chmod(0)
    try:
        for command in (*READS, NEW):
            assert_refused(repo.bound(*command), rf"permission denied: `chmod u\+rwx {folder}`")
        cure = re.search("`(.*)`", repo.bound("list").err)
        assert cure
        subprocess.run(["sh", "-c", cure[1]], check=True)
        assert "One" in repo.bound("list").out
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("kind", ["folder", "fifo", "socket", "link to nowhere", "link to a folder", "closed"])
def test_what_bears_the_name_of_a_state_file_is_told(repo: Repo, kind: str) -> None:
    """The other tasks are shown, the commands say in one line which file cannot be read, and end with 1 or 2."""
    path = repo.root / TASKS / "task-5-state.md"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as server, contextlib.chdir(path.parent):  # its path may not be long
            server.bind(path.name)
    elif kind == "closed":
        path.write_bytes((repo.root / TASKS / "task-1-state.md").read_bytes())
        path.chmod(0)
    else:
        path.symlink_to(repo.root / ("none" if kind == "link to nowhere" else ".git"))
    for command in (
        ("list",),
        ("status",),
        ("next",),
        ("graph",),
        ("search", "One"),
        ("lint",),
        ("archive", "--check"),
    ):
        said = repo.bound(*command)
        assert said.status in {1, 2}, command
        told = said.out if command == ("status",) else said.err  # which has it in its list
        assert "task-5-state.md" in told, command
        assert len(said.err.splitlines()) == (told is said.err), said.err
    assert "One" in repo.bound("list").out
    doctor = repo.bound("doctor")
    assert doctor.status == 1
    assert "task-5-state.md" in doctor.out
    for write in (("new", "5", "--title", "Five"), ("session", "add", "5", *SESSION[3:])):
        assert repo.bound(*write).status == 2


def test_a_link_below_our_folders_is_told_and_one_beside_them_is_not(repo: Repo, tmp_path: Path) -> None:
    """State files may lie in folders below that of the tasks, but not behind a link."""
    (tmp_path / "team").mkdir()
    (repo.root / ".taskstate" / "notes").symlink_to(tmp_path / "team")
    (repo.root / TASKS / "notes.md").symlink_to(repo.root / "app.py")
    assert "One" in repo.ok("list")
    (repo.root / TASKS / "team").symlink_to(tmp_path / "team")
    for command in (*READS, NEW):
        assert_refused(repo.run(*command), f"{TASKS}/team.*links are not followed")


def test_a_tracked_state_file_elsewhere_that_cannot_be_reached_is_told(repo: Repo) -> None:
    """Git still lists it when its folder has become a link."""
    repo.write("docs/task-7-state.md", (repo.root / TASKS / "task-1-state.md").read_text(encoding="utf-8"))
    repo.commit("elsewhere")
    (repo.root / "docs").rename(repo.root.parent / "docs")
    assert "One" in repo.run("list").out  # it is deleted
    (repo.root / "docs").symlink_to(repo.root.parent / "docs")
    for command in (("list",), ("lint",), ("search", "One")):
        assert_refused(repo.run(*command), "cannot look at .*docs/task-7-state.md.*links are not followed")


def test_a_folder_that_is_missing_is_empty(repo: Repo) -> None:
    """Nothing is said of it, and it is made when something is written."""
    for name in (TASKS, ".taskstate/archives", ".taskstate/handoffs"):
        (repo.root / name).rename(repo.root.parent / name.rpartition("/")[2])
    assert repo.run("list") == (0, "no tasks\n", "")
    assert repo.run("archive", "--check").status == 0
    repo.ok(*NEW)
    assert "Two" in repo.ok("list")

"""Files are read from the disk or from the index, and their marks differ whenever the bytes do."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.storage.file_sources import Disk, DiskInRun, GitFiles
from taskstate.storage.git import client as git
from taskstate.storage.git.index import blobs_in_index
from tests.support.place import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NAME = "task-101-state.md"


def settle(path: Path) -> None:
    """Make a file look as if nobody had changed its bytes for a minute; its ctime is what it is."""
    status = path.stat()
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns - 60 * 10**9))


def stage(root: Path, text: str) -> Path:
    """Write a file and stage it."""
    path = root / NAME
    path.write_text(text, encoding="utf-8")
    subprocess.run(["git", "add", NAME], cwd=root, check=True)
    return path


@pytest.fixture
def objects(repository: Path) -> Iterator[git.Objects]:
    """Give the objects of the repository."""
    found = git.Objects(repository)
    yield found
    found.close()


@pytest.fixture
def index(repository: Path, objects: git.Objects) -> GitFiles:
    """Return the index of a repository in which one text is staged and another one is on disk."""
    stage(repository, "staged").write_text("on disk", encoding="utf-8")
    return GitFiles(repository, objects, blobs_in_index(repository))


def test_a_mark_differs_whenever_the_bytes_do(tmp_path: Path) -> None:
    """Two saves in one instant have the same size and times, and still different marks."""
    path = tmp_path / NAME
    marks = set()
    for text in ("a", "b", "a"):
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(0, 0))
        marks.add(Disk().mark(path))
    assert len(marks) == 2
    assert all(mark.startswith("sha256:") for mark in marks)


def test_a_file_that_has_settled_is_marked_without_being_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size, times and inode number make up its mark."""
    path = tmp_path / NAME
    path.write_text("a", encoding="utf-8")
    monkeypatch.setattr("taskstate.storage.file_sources._COARSEST_NS", 0)
    assert Disk().mark(path).startswith("1-")
    assert Disk().mark(path) == Disk().mark(path)
    before = Disk().mark(path)
    _written(tmp_path / "other", "b").replace(path)
    assert Disk().mark(path) != before


def test_in_a_run_a_mark_is_taken_once(tmp_path: Path) -> None:
    """What is written meanwhile is seen once its mark is forgotten, alone or with all others."""
    disk, paths = DiskInRun(), (_written(tmp_path / NAME, "a"), tmp_path / "none" / NAME)
    marks = [disk.mark(path) for path in paths]
    assert marks == [Disk().mark(path) for path in paths]
    assert [disk.exists(path) for path in paths] == [True, False]
    _written(paths[0], "ab")
    paths[1].parent.mkdir()
    _written(paths[1], "b")
    assert [disk.mark(path) for path in paths] == marks
    disk.forget_file(paths[0])
    assert [disk.mark(path) for path in paths] == [Disk().mark(paths[0]), marks[1]]
    disk.close()
    assert [disk.mark(path) for path in paths] == [Disk().mark(path) for path in paths]
    disk.close()


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_what_is_not_there_has_no_mark(tmp_path: Path) -> None:
    """A missing file, and a name that the system cannot use, have an empty mark."""
    assert Disk().mark(tmp_path / NAME) == Disk().mark(tmp_path / "a\0b") == ""


def test_what_cannot_be_read_is_told_when_it_is_read(tmp_path: Path) -> None:
    """A folder or link has a mark; reading it is refused."""
    (tmp_path / NAME).mkdir()
    assert Disk().mark(tmp_path / NAME) == "sha256:not-a-file"
    assert refusal(lambda: Disk().read(tmp_path / NAME)).code == "not-a-file"


def test_the_index_gives_what_is_staged(repository: Path, index: GitFiles) -> None:
    """The staged content is read, whatever is on disk."""
    path = repository / NAME
    assert index.read(path) == b"staged"
    assert len(index.mark(path)) == 40
    path.unlink()
    assert index.exists(path)
    assert index.read(path) == b"staged"


def test_what_is_not_staged_is_read_from_the_disk(repository: Path, index: GitFiles, tmp_path: Path) -> None:
    """An untracked file, and one outside the repository, is read from the disk."""
    new, outside = _written(repository / "task-7-state.md", "new"), _written(tmp_path / "task-8-state.md", "outside")
    assert (index.read(new), index.read(outside)) == (b"new", b"outside")
    assert index.mark(new).startswith("sha256:")
    assert not index.exists(repository / "task-9-state.md")


def test_a_file_in_conflict_is_read_from_the_disk(repository: Path, objects: git.Objects) -> None:
    """The index has three versions of it, none of which will be committed."""
    path = stage(repository, "base")
    git.run(["commit", "-qm", "base"], repository)
    git.run(["checkout", "-qb", "side"], repository)
    stage(repository, "theirs")
    git.run(["commit", "-qm", "theirs"], repository)
    git.run(["checkout", "-q", "main"], repository)
    stage(repository, "ours")
    git.run(["commit", "-qm", "ours"], repository)
    subprocess.run(["git", "merge", "side"], cwd=repository, check=False, capture_output=True)
    assert GitFiles(repository, objects, blobs_in_index(repository)).read(path).startswith(b"<<<<<<< ")

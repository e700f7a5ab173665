"""What is answered about artifacts (the hash of what they hold, whether they are here) and about other paths."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.queries.repository import Repository
from taskstate.workspace import artifacts
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path


NAME = "artifacts/task-101/x"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def queries_of(place: Place) -> RepositoryQueries:
    """Return the answers about task 101's state file, as they are now."""
    return RepositoryQueries(Repository(place.workspace, now="2026-02-01T00:00:00Z"), place.path)


def digest(data: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(data).hexdigest()


@pytest.mark.parametrize(
    ("name", "data", "diff", "held"),
    [
        ("x.json", b"{}\r\n", False, b"{}\r\n"),
        ("x.log.gz", artifacts.gzipped(b"a\r\n"), False, b"a\r\n"),
        ("x.diff.gz", artifacts.gzipped(b"a\r\nb\rc"), True, b"a\nb\nc\n"),
        ("x.diff.gz", artifacts.gzipped(b""), True, b""),
    ],
)
def test_the_hash_is_that_of_what_is_in_it(place: Place, name: str, data: bytes, diff: bool, held: bytes) -> None:  # noqa: FBT001 - a parameter of the test
    """What is packed is unpacked, and in a diff every line ends in LF, the last one too."""
    path = artifacts.write(place.workspace, TASK, name, data)
    assert queries_of(place).artifact(path, diff=diff) == digest(held)


def test_a_torn_archive_has_none_of_the_right_hashes(place: Place) -> None:
    """A damaged archive has the hash of its own bytes, however much of it could be unpacked."""
    whole = artifacts.gzipped(b"a log\n")
    path = artifacts.write(place.workspace, TASK, "x.log.gz", whole[:-4])
    assert queries_of(place).artifact(path) == digest(whole[:-4])


def test_what_is_not_here_is_empty(place: Place) -> None:
    """Another clone has none of the artifacts, which is an answer."""
    assert queries_of(place).artifact(f"{NAME}.gz") == ""


def test_whether_an_artifact_is_here_is_told_without_reading_it(place: Place) -> None:
    """A pack may be large, and its name says what it holds."""
    assert queries_of(place).has_artifact(NAME) is False
    artifacts.write(place.workspace, TASK, "x", b"")
    assert queries_of(place).has_artifact(NAME) is True
    assert queries_of(place).has_artifact("../x") is None


@pytest.mark.parametrize("path", ["../x", "artifacts/../../x", "tasks/task-101-state.md", "/etc/passwd"])
def test_other_paths_have_no_answer(place: Place, path: str) -> None:
    """A path that leads elsewhere is not read, and neither is a folder."""
    assert queries_of(place).artifact(path) is None
    (place.workspace.state_root / NAME).mkdir(parents=True)
    assert queries_of(place).artifact(NAME) is None


def test_the_mark_changes_with_the_artifact(place: Place) -> None:
    """When it comes, changes or goes, and never between: so a cached result is outdated just then."""
    seen = []
    for data in (None, b"one", b"two", None):
        full = place.workspace.state_root / NAME
        if data is not None:
            artifacts.write(place.workspace, TASK, "x", data)
        elif full.exists():
            full.unlink()
        for _ in range(2):
            queries = queries_of(place)
            queries.artifact(NAME)
            seen.append(queries.recorded["artifact", NAME, ""])
    assert seen[::2] == seen[1::2]
    assert seen[0] == seen[-1]
    assert len(set(seen)) == 3


def test_a_path_exists_or_not(place: Place) -> None:
    """Files and folders from the repository's root; what no system takes for a path does not exist."""
    (place.root / "src").mkdir()
    (place.root / "src/a.py").touch()
    queries = queries_of(place)
    assert [queries.exists(path) for path in ("src", "src/a.py", "src/b.py", "a\0b", "x" * 5000)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_path_leaves_through_a_link(place: Place) -> None:
    """A link inside the repository is no way out, one that leads elsewhere is."""
    (place.root / "in").symlink_to(".taskstate")
    (place.root / "out").symlink_to("..")
    assert [queries_of(place).leads_outside(path) for path in ("in/tasks", "out/x", "nothing/here")] == [
        False,
        True,
        False,
    ]

"""Evidence is compared in age with the files that it is about, on real git."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from taskstate.tasks import checklist, evidence_age
from taskstate.tasks.checklist import FeatureResult
from tests.support.git_place import GitPlace
from tests.support.place import MINUTE, TASK

if TYPE_CHECKING:
    from pathlib import Path

BEFORE, AFTER = -MINUTE, MINUTE


class DatedPlace(GitPlace):
    """Task 101 is about `src/`, and its feature was tested at `now`, with all that it covers written long before."""

    def __init__(self, root: Path, *, paths: str = "- `src/**`") -> None:
        super().__init__(root)
        if paths:
            part = f"\n### Repository Paths\n\n{paths}\n\n## 2. Chain Inputs"
            self.text = self.text.replace("\n## 2. Chain Inputs", part)
        for path in (each for each in root.rglob("*") if each.is_file() and ".git" not in each.parts):
            self.date(path, -timedelta(days=1))
        self.commit_at("scope", -timedelta(days=1))
        result = FeatureResult(passes=True, evidence="seen")
        checklist.set_feature(self.workspace, TASK, "jwt-1", result, self.request())
        self.tested = self.now

    def date(self, path: Path, offset: timedelta) -> None:
        """Give a file the time of the test, or one near it."""
        seconds = (getattr(self, "tested", self.now) + offset).timestamp()
        os.utime(path, (seconds, seconds))

    def edit(self, path: str, offset: timedelta) -> None:
        """Change a file before or after the test."""
        self.date(self.write(path, f"changed {offset}\n"), offset)

    def commit_at(self, message: str, offset: timedelta) -> None:
        """Commit all that is here, before or after the test."""
        at = f"{(getattr(self, 'tested', self.now) + offset):%Y-%m-%dT%H:%M:%S+0000}"
        self.git("add", "--all")
        dates = {"GIT_COMMITTER_DATE": at, "GIT_AUTHOR_DATE": at}
        self.git("commit", "--quiet", "--no-verify", "--allow-empty", f"--message={message}", env=dates)

    def stale(self, *, matches: bool = False) -> list[str]:
        """Return what evidence is too old."""
        loaded = self.workspace.load(self.path)
        return [each.words for each in evidence_age.gaps(self.workspace, loaded, matches=matches)]


TOLD = "the evidence of feature jwt-1 is older than the last change of src/b.py: test it again"


@pytest.fixture
def place(tmp_path: Path) -> DatedPlace:
    """Return a repository whose task was tested."""
    return DatedPlace(tmp_path / "repository")


@pytest.mark.parametrize(
    ("path", "offset", "told"),
    [
        ("src/b.py", AFTER, [TOLD]),
        ("src/b.py", timedelta(), []),
        ("src/b.py", BEFORE, []),
        ("src/new.py", AFTER, [TOLD.replace("b.py", "new.py")]),
        ("a.txt", AFTER, []),
    ],
)
def test_a_change_that_is_not_committed_counts_by_its_time(
    place: DatedPlace, path: str, offset: timedelta, told: list[str]
) -> None:
    """After the test it makes the evidence stale, if the file belongs to the task."""
    place.edit(path, offset)
    assert place.stale() == told


def test_without_repository_paths_age_is_not_looked_at(tmp_path: Path) -> None:
    """Nothing says then which files the evidence is about."""
    place = DatedPlace(tmp_path / "repository", paths="")
    place.edit("src/b.py", AFTER)
    assert place.stale() == []


def test_committing_is_no_change(place: DatedPlace) -> None:
    """What was written before the test and committed after it was tested."""
    place.edit("src/b.py", BEFORE)
    place.commit_at("work", AFTER)
    assert place.stale() == []


def test_a_change_after_the_test_stays_one_when_it_is_committed(place: DatedPlace) -> None:
    """Its time on disk is still that of the edit, also where the commit holds the evidence."""
    place.edit("src/b.py", AFTER)
    place.commit_at("work", 2 * AFTER)
    assert place.stale() == [TOLD]


def test_a_commit_that_holds_the_evidence_was_tested(place: DatedPlace) -> None:
    """In another clone all files are new on disk; a later commit that changes one still counts."""
    place.edit("src/b.py", BEFORE)
    place.commit_at("work", AFTER)
    place.date(place.root / "src/b.py", 9 * AFTER)
    assert place.stale() == []
    place.git("checkout", "--quiet", "-b", "other", "HEAD~1")
    place.write("src/b.py", "somebody else\n")
    place.commit_at("other work", 3 * AFTER)
    place.date(place.root / "src/b.py", 9 * AFTER)
    state = place.git("show", "main:.taskstate/tasks/task-101-state.md")
    place.text = f"{state}\n"
    assert place.stale() == [TOLD]


def test_a_tree_that_is_as_a_snapshot_left_it_was_not_changed(place: DatedPlace) -> None:
    """Whatever times the files have, evidence that is no older than the snapshot holds."""
    place.edit("src/b.py", 9 * AFTER)
    place.now -= MINUTE
    place.take()
    assert place.stale(matches=True) == []
    assert place.stale(matches=False) == [TOLD]

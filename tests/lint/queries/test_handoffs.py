"""What is answered about handoffs, and that a mark changes whenever the answer does."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.queries.repository import Repository
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path


OPEN = """---
taskstate: 1
kind: handoff
task_id: "101"
phase: 3
created_at: "2026-01-31T12:00:00Z"
status: open
verified: {sessions: 1, objectives: "0123456789abcdef"}
---
"""
FIRST = "handoffs/task-101/phase-3-handoff-20260131T120000Z.md"
SECOND = "handoffs/task-101/archive/phase-3-handoff-20260131T110000Z.md"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def queries_of(place: Place, path: Path | None = None) -> RepositoryQueries:
    """Return the answers about task 101's state file, as they are now."""
    return RepositoryQueries(Repository(place.workspace, now="2026-02-01T00:00:00Z"), path or place.path)


def write(place: Place, path: str, text: str = OPEN) -> Path:
    """Write a file in the state folder."""
    where = place.workspace.state_root / path
    where.parent.mkdir(parents=True, exist_ok=True)
    where.write_text(text, encoding="utf-8")
    return where


def test_documents_of_our_kind_are_found(place: Place) -> None:
    """Open and archived ones of this task alone, to its state file and to each of them, and nobody else's."""
    first = write(place, FIRST)
    write(place, SECOND, OPEN.replace("status: open", "status: accepted"))
    write(place, FIRST.replace("phase-3", "phase-4"), "# Another tool's\n")
    write(place, FIRST.replace("task-101", "task-102"))
    write(place, FIRST.replace("120000Z.md", "draft.md"))
    for path in (place.path, first):
        documents = sorted(queries_of(place, path).handoffs() or ())
        assert [(each.path, each.status, each.phase, each.objectives) for each in documents] == [
            (SECOND, "accepted", "3", "0123456789abcdef"),
            (FIRST, "open", "3", "0123456789abcdef"),
        ]
    place.new("103")
    assert queries_of(place, place.path.with_name("task-103-state.md")).handoffs() == ()


def test_the_mark_of_an_answer_changes_with_it(place: Place) -> None:
    """Another document, other words in one, and a path that comes or goes."""

    def marks() -> dict[tuple[str, ...], str]:
        queries = queries_of(place)
        queries.handoffs()
        queries.exists("a.py")
        return queries.recorded

    seen = [marks()]
    write(place, FIRST)
    seen.append(marks())
    write(place, FIRST, OPEN.replace("open", "accepted"))
    seen.append(marks())
    write(place, SECOND)
    seen.append(marks())
    (place.root / "a.py").touch()
    seen.append(marks())
    assert all(before != after for before, after in pairwise(seen))
    assert marks() == marks()


def test_what_is_remembered_is_asked_again(place: Place) -> None:
    """Linting with a cache notices a path that is gone and a document that was accepted."""
    from taskstate.lint.runner import check_files

    (place.root / "app.py").touch()
    body = "\n## Current State\n\n- File: app.py\n"
    path = write(place, FIRST, OPEN + body)

    def codes() -> set[str]:
        found = check_files([path, place.path], place.checking(remember=True)).findings
        return {finding.diagnostic.code for finding in found} & {"TS805", "TS807"}

    assert codes() == codes() == {"TS807"}
    (place.root / "app.py").unlink()
    assert codes() == {"TS805", "TS807"}
    path.write_text((OPEN + body).replace("open", "accepted"), encoding="utf-8")
    assert codes() == {"TS807"}

"""What is answered about a task and its files, and that a mark changes whenever the answer does."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.queries.answers import MARKS, RepositoryQueries
from taskstate.lint.queries.interface import Queries
from taskstate.lint.queries.repository import Repository
from taskstate.syntax.document import parse
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


NOW = "2026-02-01T00:00:00Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def queries_of(place: Place, path: Path | None = None) -> RepositoryQueries:
    """Return the answers about task 101's state file, as they are now."""
    return RepositoryQueries(Repository(place.workspace, now=NOW), path or place.path)


def marks(place: Place, ask: Callable[[RepositoryQueries], object]) -> dict[tuple[str, ...], str]:
    """Return the questions that are put, with the marks of their answers."""
    queries = queries_of(place)
    ask(queries)
    return queries.recorded


def test_every_query_has_a_mark_and_is_answered() -> None:
    """None is left to the interface, which has no answer; names and other texts share the mark of the file."""
    queries = {name for name, method in vars(Queries).items() if callable(method)}
    assert queries == MARKS.keys() | {"artifact_text", "begin", "earlier_names", "is_damaged"}
    assert queries <= vars(RepositoryQueries).keys()


def test_the_clock_is_the_run_s(place: Place) -> None:
    """A moment is in the future when it comes after the time of the run."""
    assert queries_of(place).is_future("2026-02-01T00:00:01Z") is True
    assert queries_of(place).is_future(NOW) is False


def test_a_copy_in_another_folder_has_the_same_id(place: Place) -> None:
    """Ids that differ in case are the same; the file itself, through whatever link, is no other one."""
    assert queries_of(place).same_id() == ()
    copy = place.root / "docs" / "task-101-state.md"
    copy.parent.mkdir()
    copy.write_text(place.text, encoding="utf-8")
    assert queries_of(place, copy).same_id() == (".taskstate/tasks/task-101-state.md",)
    link = place.root / "link"
    link.symlink_to(place.path.parent)
    assert queries_of(place, link / place.path.name).same_id() == ()


def test_other_tasks_are_found_wherever_they_stand(place: Place) -> None:
    """In the usual folder, and where there is none of that id, in the whole repository."""
    place.new("200")
    assert [each.path for each in queries_of(place).upstream("200") or ()] == [".taskstate/tasks/task-200-state.md"]
    elsewhere = place.root / "docs" / "task-300-state.md"
    elsewhere.parent.mkdir()
    elsewhere.write_text(place.text.replace("101", "300"), encoding="utf-8")
    assert [each.path for each in queries_of(place).upstream("300") or ()] == ["docs/task-300-state.md"]
    assert queries_of(place).upstream("400") == ()


def test_what_completing_would_ask_is_asked_of_the_text_that_is_checked(place: Place) -> None:
    """Each gap has its key; what is missing beside the file is among them, such as one that the output names."""
    queries = queries_of(place)
    output = "### Files Created/Modified\n\n- `gone.py`\n"
    text = place.text.replace("### Files Created/Modified\n\n*To be completed.*\n", output)
    queries.begin(parse(text))
    found = dict(queries.completion_gaps() or ())
    assert "gone.py, which is not there" in found["file:gone.py"]
    assert {"criterion:1", "feature:jwt-1", "part:Summary"} <= found.keys()


def test_the_mark_of_an_answer_changes_with_it(place: Place) -> None:
    """What an answer rests on is in its mark: another task's file, the archive, a link."""
    place.new("200")
    other = place.path.with_name("task-200-state.md")

    def ask(queries: RepositoryQueries) -> None:
        queries.upstream("200")
        queries.archive()
        queries.leads_outside("docs/a.md")

    seen = [marks(place, ask)]
    other.write_text(other.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    seen.append(marks(place, ask))
    place.archive_path.write_text("x\n", encoding="utf-8")
    seen.append(marks(place, ask))
    (place.root / "docs").symlink_to("/")
    seen.append(marks(place, ask))
    changed = [{key for key in now if now[key] != before[key]} for before, now in pairwise(seen)]
    assert changed == [{("upstream", "200")}, {("archive",)}, {("leads_outside", "docs/a.md")}]


def test_commits_are_looked_up_where_git_knows_all(place: Place) -> None:
    """Without a repository nobody knows; in one the missing commits are named."""
    queries = queries_of(place)
    assert "git" not in queries.answerable
    subprocess.run(["git", "init", "-q", "."], cwd=place.root, check=True)
    queries = queries_of(place)
    assert "git" in queries.answerable
    assert queries.missing_commits(("abc1234",)) == ("abc1234",)
    queries.file.repository.close()

"""What is answered about a file's surroundings, and that a mark changes whenever the answer does."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.queries.answers import Surroundings
from taskstate.lint.queries.repository import Repository
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


NOW = "2026-02-01T00:00:00Z"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101."""
    return Place(tmp_path / "repository")


def around(place: Place, path: Path | None = None) -> Surroundings:
    """Return what lies around task 101's state file now."""
    return Surroundings(Repository(place.workspace, now=NOW), path or place.path)


def marks(place: Place, ask: Callable[[Surroundings], object]) -> dict[tuple[str, ...], str]:
    """Return the questions that are put, with the marks of their answers."""
    asked = around(place)
    ask(asked)
    return asked.asked


def test_the_clock_is_the_run_s(place: Place) -> None:
    """A moment is in the future when it comes after the time of the run."""
    assert around(place).is_future("2026-02-01T00:00:01Z") is True
    assert around(place).is_future(NOW) is False


def test_a_copy_in_another_folder_has_the_same_id(place: Place) -> None:
    """Ids that differ in case are the same; the file itself, through whatever link, is no other one."""
    assert around(place).same_id() == ()
    copy = place.root / "docs" / "task-101-state.md"
    copy.parent.mkdir()
    copy.write_text(place.text, encoding="utf-8")
    assert around(place, copy).same_id() == (".taskstate/tasks/task-101-state.md",)
    link = place.root / "link"
    link.symlink_to(place.path.parent)
    assert around(place, link / place.path.name).same_id() == ()


def test_other_tasks_are_found_wherever_they_stand(place: Place) -> None:
    """In the usual folder, and where there is none of that id, in the whole repository."""
    place.new("200")
    assert [each.path for each in around(place).upstream("200") or ()] == [".taskstate/tasks/task-200-state.md"]
    elsewhere = place.root / "docs" / "task-300-state.md"
    elsewhere.parent.mkdir()
    elsewhere.write_text(place.text.replace("101", "300"), encoding="utf-8")
    assert [each.path for each in around(place).upstream("300") or ()] == ["docs/task-300-state.md"]
    assert around(place).upstream("400") == ()


def test_the_mark_of_an_answer_changes_with_it(place: Place) -> None:
    """What an answer rests on is in its mark: another task's file, the archive, a link."""
    place.new("200")
    other = place.path.with_name("task-200-state.md")

    def ask(asked: Surroundings) -> None:
        asked.upstream("200")
        asked.archive()
        asked.leaves("docs/a.md")

    seen = [marks(place, ask)]
    other.write_text(other.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    seen.append(marks(place, ask))
    place.archive_path.write_text("x\n", encoding="utf-8")
    seen.append(marks(place, ask))
    (place.root / "docs").symlink_to("/")
    seen.append(marks(place, ask))
    changed = [{key for key in now if now[key] != before[key]} for before, now in pairwise(seen)]
    assert changed == [{("upstream", "200")}, {("archive",)}, {("leaves", "docs/a.md")}]


def test_a_path_leaves_through_a_link(place: Place) -> None:
    """A link inside the repository is no way out, one that leads elsewhere is."""
    (place.root / "in").symlink_to(".taskstate")
    (place.root / "out").symlink_to("..")
    assert [around(place).leaves(path) for path in ("in/tasks", "out/x", "nothing/here")] == [False, True, False]


def test_commits_are_looked_up_where_git_knows_all(place: Place) -> None:
    """Without a repository nobody knows; in one the missing commits are named."""
    asked = around(place)
    assert "git" not in asked.known
    subprocess.run(["git", "init", "-q", "."], cwd=place.root, check=True)
    asked = around(place)
    assert "git" in asked.known
    assert asked.missing_commits(("abc1234",)) == ("abc1234",)
    asked.repository.close()

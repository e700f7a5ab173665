from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.archive.restage import require_staged, restage
from tests.support.git_place import GitPlace
from tests.support.place import TASK, Place, refusal

if TYPE_CHECKING:
    from pathlib import Path


def test_task_with_changes_that_are_not_staged_is_refused(tmp_path: Path) -> None:
    """Staging would add what was left out of the index on purpose: the refusal names the file."""
    place = GitPlace(tmp_path / "repository")
    require_staged(place.workspace, [TASK])
    place.text += "more\n"
    error = refusal(lambda: require_staged(place.workspace, [TASK]))
    name = place.path.relative_to(place.root).as_posix()
    assert (error.code, error.message) == ("unstaged", f"{name} has changes that are not staged")


def test_staged_are_the_files_of_the_tasks_alone(tmp_path: Path) -> None:
    """The state file and its archive go into the index as they are; other files wait."""
    place = GitPlace(tmp_path / "repository")
    place.fill(1, 2)
    place.archive()
    place.write("a.txt", "four\n")
    paths = [path.relative_to(place.root).as_posix() for path in (place.path, place.archive_path)]
    assert [*restage(place.workspace, [TASK])] == paths
    assert sorted(place.git("diff", "--cached", "--name-only").split("\n")) == sorted(paths)
    assert "a.txt" in place.git("diff", "--name-only")


def test_without_git_there_is_nothing_to_stage(tmp_path: Path) -> None:
    """Outside of a git repository nothing is refused and nothing staged."""
    place = Place(tmp_path / "repository")
    require_staged(place.workspace, [TASK])
    assert restage(place.workspace, [TASK]) == ()

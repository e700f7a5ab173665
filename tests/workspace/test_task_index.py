"""The task index lists all tasks and is cached from run to run."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from taskstate.errors import TaskstateError
from taskstate.storage import file_sources
from taskstate.workspace import task_index
from taskstate.workspace.task_index import IndexedTask, all_tasks, by_id
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path


not_as_root = pytest.mark.skipif(os.geteuid() == 0, reason="root may do everything")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, whose file was last changed long ago."""
    place = Place(tmp_path / "r")
    _age(place.path)
    return place


def _age(path: Path) -> None:
    """Make a file look as if it had not been changed for a while; only its status times can be set back."""
    os.utime(path, ns=(10**18, 10**18))


def memory(place: Place) -> Path:
    """Return the path of the index's cache file."""
    return place.cache("tasks.json")


def indexed(place: Place) -> dict[str, IndexedTask]:
    """Return the indexed tasks by path."""
    return {task.path: task for task in all_tasks(place.workspace)}


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file that was just written count as settled, so that it is cached."""
    monkeypatch.setattr(file_sources, "_COARSEST_NS", -(10**18))


def test_front_matter_is_told(place: Place) -> None:
    """An entry has the values of the front matter, each on one line."""
    text = place.text.replace("title: JWT Service", 'title: "JWT\\tService"').replace(
        "status: created", "status: blocked"
    )
    place.text = text.replace(
        "created_at", 'priority: P1\narea: web\nparent: "100"\ndepends_on: ["99", a-1]\ncreated_at', 1
    )
    (task,) = indexed(place).values()
    path = ".taskstate/tasks/task-101-state.md"
    assert task[1:11] == (path, "101", "JWT Service", "blocked", "P1", "web", "task", "100", "99 a-1", "")
    assert (task.turn, task.blocked, task.updated, task.closed) == ("", "", "2026-01-31T12:01:00Z", "")
    assert task.depends_on == ("99", "a-1")


def test_all_state_files_are_found(repository: Path) -> None:
    """State files anywhere in the repository are indexed, except derived, ignored and excluded ones.

    So is a folder that stands in the place of one.
    """
    place = Place(repository)
    place.configure('exclude = ["old/**"]\n')
    text = place.text
    for folder in (
        "docs",
        "ignored",
        "old",
        ".taskstate/more/deep",
        ".taskstate/private",
        ".taskstate/more/private",
        ".taskstate/tasks/task-7-state.md",
    ):
        (repository / folder).mkdir(parents=True, exist_ok=True)
    for path in ("docs/task-2-state.md", "ignored/task-3-state.md", "old/task-4-state.md"):
        (repository / path).write_text(text)
    (repository / ".taskstate/more/deep/task-5-state.md").write_text(text)
    for folder in ("private", "more/private"):
        (repository / ".taskstate" / folder / "task-6-state.md").write_text(text)
    (repository / "docs/link").symlink_to(repository / ".taskstate/more")
    (repository / "docs/task-9-state.md").symlink_to(repository / "docs/task-2-state.md")
    (repository / "docs/gone").mkdir()
    (repository / "docs/gone/task-8-state.md").write_text(text)
    ignored = repository / ".gitignore"
    ignored.write_text(f"{ignored.read_text()}ignored/\n")
    subprocess.run(["git", "add", "docs"], cwd=repository, check=True)
    (repository / "docs/gone/task-8-state.md").unlink()
    workspace = place.workspace
    expected = {workspace.relative(path) for path in workspace.state_files()}
    assert set(indexed(place)) == expected
    assert {".taskstate/more/deep/task-5-state.md", ".taskstate/more/private/task-6-state.md"} <= expected
    assert ".taskstate/tasks/task-7-state.md" in expected
    assert len(expected) == 6


def test_without_git_all_folders_are_looked_through(place: Place) -> None:
    """Without git, files outside of the state folder are found too."""
    (place.root / "docs").mkdir()
    (place.root / "docs/task-2-state.md").write_text(place.text)
    assert set(indexed(place)) == {".taskstate/tasks/task-101-state.md", "docs/task-2-state.md"}


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\xff", "is not UTF-8: byte 0 is 0xff"),
        (b"no front matter", "line 1: the file has no front matter"),
        (b"---\ntitle: [\n---\n", "task-101-state.md, line"),
    ],
)
def test_what_cannot_be_read_is_told(place: Place, data: bytes, problem: str) -> None:
    """A file that cannot be read has an entry that says why."""
    place.path.write_bytes(data)
    (task,) = all_tasks(place.workspace)
    assert (task.id, task.status, problem in task.problem) == ("101", "", True)


@pytest.mark.usefixtures("settled")
def test_what_has_not_changed_is_not_read_again(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run reads no file that is unchanged; a change of any kind is noticed."""
    place.new("102", depends_on=("101",))
    before = indexed(place)
    with monkeypatch.context() as patch:
        patch.setattr(task_index, "_read", None)
        assert indexed(place) == before
    changed = place.text.replace("status: created", "status: blocked")
    place.text = changed
    assert indexed(place)[".taskstate/tasks/task-101-state.md"].status == "blocked"
    (place.workspace.tasks / "task-102-state.md").unlink()
    assert [task.id for task in indexed(place).values()] == ["101"]
    assert "task-102" not in memory(place).read_text()


def test_what_changed_just_now_is_not_remembered(place: Place) -> None:
    """A file that was changed just now is read again: it could change once more and keep its times."""
    place.text = place.text + "\n"
    assert all_tasks(place.workspace)
    written = memory(place).read_bytes()
    assert b"JWT Service" in written
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(task_index, "_read", lambda _, path, mark, _lookout: IndexedTask(mark, path, *("again",) * 9))
        assert all_tasks(place.workspace)[0].title == "again"


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("target", ["there.md", "nowhere.md"])
def test_file_behind_a_link_is_a_problem(place: Place, target: str) -> None:
    """A state file that is a link is not followed, wherever it leads, and its entry says so."""
    place.path.rename(place.root / "there.md")
    place.path.symlink_to(place.root / target)
    entry = indexed(place)[".taskstate/tasks/task-101-state.md"]
    assert (entry.title, "symbolic link" in entry.problem) == ("", True)


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("damage", [b"", b"\xff", b"{}", b"torn"])
def test_damaged_memory_is_none(place: Place, damage: bytes) -> None:
    """A damaged cache, or a damaged entry in it, is rebuilt."""
    before = indexed(place)
    memory(place).write_bytes(damage)
    assert indexed(place) == before
    whole = memory(place).read_bytes()
    assert b"JWT" in whole
    memory(place).write_bytes(whole.replace(b'"JWT Service",', b""))
    assert indexed(place) == before


def test_memory_that_cannot_be_written_is_only_slower(place: Place) -> None:
    """If the cache cannot be written, the index is complete all the same."""
    memory(place).mkdir(parents=True)
    assert [task.id for task in indexed(place).values()] == ["101"]


def test_of_several_with_one_id_the_open_one_counts() -> None:
    """Of several files of a task one that is not complete counts."""
    tasks = [
        IndexedTask("", "1", "a", "", status, "", "", "task", "", "", "")
        for status in ("complete", "created", "complete")
    ]
    assert by_id(tasks)["a"].status == "created"


@not_as_root
def test_what_may_not_be_looked_at_is_one_error(place: Place) -> None:
    """A folder that may be listed and not entered hides no task: the error names the first file in it."""
    deep = place.path.parent / "deep"
    deep.mkdir()
    (deep / "task-9-state.md").write_bytes(place.path.read_bytes())
    deep.chmod(0o444)
    try:
        with pytest.raises(TaskstateError, match=r"cannot look at .*deep/task-9-state\.md"):
            all_tasks(place.workspace)
    finally:
        deep.chmod(0o755)


@pytest.mark.usefixtures("settled")
def test_a_link_in_the_place_of_the_folder_is_refused_each_time(place: Place) -> None:
    """Nothing is cached before the folder was listed, so the second answer is that of the first."""
    assert all_tasks(place.workspace)
    folder = place.path.parent
    folder.rename(folder.with_name("real"))
    folder.symlink_to("real")
    for _ in range(3):
        with pytest.raises(TaskstateError, match="symbolic link"):
            all_tasks(place.workspace)

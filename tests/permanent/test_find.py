"""The permanent task is found by everybody, also one that an old task has been made by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.permanent.find import find
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from tests.support.git_place import GitPlace
    from tests.support.shared_context import SharedContext


@pytest.fixture(autouse=True)
def _closed(shared: SharedContext) -> None:
    """Close the permanent task of a repository, and look at everything once more."""
    shared.cli.ok("new", "5", "--title", "Platform")
    shared.cli.ok("permanent", "close")
    shared.cli.ok("brief", "101")


def make_permanent(place: GitPlace, task_id: str, value: str = "permanent") -> None:
    """Make an old task a permanent one, as one does in an editor."""
    path = place.workspace.locate(task_id)
    path.write_text(path.read_text().replace("\ntitle:", f"\nkind: {value}\nversion: 1\ntitle:", 1))


@pytest.mark.parametrize("value", ["permanent", '"permanent"', "  'permanent'  # shared"])
def test_an_old_task_made_permanent_by_hand_is_found_by_brief(
    shared: SharedContext, place: GitPlace, value: str
) -> None:
    """No other command has to come before: the next brief of another task names it with its version."""
    assert find(place.workspace) is None
    make_permanent(place, "5", value)
    assert "PT-v1, `taskstate show 5`" in shared.cli.ok("brief", "101")


def test_among_many_tasks_a_command_that_reads_the_file_notes_it(
    shared: SharedContext, place: GitPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A brief looks at no change times then; lint of the file, as after an edit, is enough for all that follow."""
    monkeypatch.setattr(task_index, "_FEW", 1)
    make_permanent(place, "5")
    path = place.workspace.locate("5")
    path.write_text(path.read_text().partition("\n## ")[0])  # the sections of an ordinary task would be doubted
    assert find(place.workspace) is None
    shared.cli("lint", str(place.workspace.locate("5")))
    found = find(place.workspace)
    assert found is not None
    assert found.id == "5"


def test_what_is_only_quoted_costs_no_search(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words in the body of a task, or below another key, make no permanent task and no look at all others."""
    path = place.workspace.locate("5")
    text = path.read_text().replace("\ntitle:", "\nx-note:\n  kind: permanent\ntitle:", 1)
    path.write_text(f"{text}\n\nkind: permanent\n")
    monkeypatch.setattr(task_index, "all_tasks", lambda _: pytest.fail("all tasks were read"))
    assert find(place.workspace) is None


def test_many_changed_files_are_looked_at_once(place: GitPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a checkout that touched many tasks the brief indexes them all, and the next one reads none of them."""
    monkeypatch.setattr(task_index, "_MOST_TOUCHED", 0)
    monkeypatch.setattr(task_index, "settled_before", lambda now: now)
    task_index.all_tasks(place.workspace)
    path = place.workspace.locate("101")
    path.write_text(path.read_text() + "\nMore.\n")
    assert task_index.permanent_paths(place.workspace) is None
    assert find(place.workspace) is None
    assert task_index.permanent_paths(place.workspace) == (".taskstate/tasks/task-1-state.md",)


@pytest.mark.parametrize("folder", [".taskstate/tasks", "docs"])
def test_one_that_was_made_just_now_is_found(place: GitPlace, folder: str) -> None:
    """Its entry in the index does not wait until its times can be trusted, also outside the folder of tasks."""
    text = place.workspace.locate("5").read_text().replace("\ntitle:", "\nkind: permanent\nversion: 1\ntitle:", 1)
    (place.root / folder).mkdir(exist_ok=True)
    (place.root / folder / "task-6-state.md").write_text(text.replace('task_id: "5"', 'task_id: "6"'))
    task_index.all_tasks(place.workspace)
    found = find(place.workspace)
    assert found is not None
    assert found.id == "6"


def test_one_that_is_no_longer_permanent_is_not_found(shared: SharedContext, place: GitPlace) -> None:
    """Taking the kind out by hand ends it, too."""
    make_permanent(place, "5")
    assert "PT-v1" in shared.cli.ok("brief", "101")
    path = place.workspace.locate("5")
    path.write_text(path.read_text().replace("kind: permanent\nversion: 1\n", ""))
    assert "PT-v" not in shared.cli.ok("brief", "101")

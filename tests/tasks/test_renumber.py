from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.tasks.renumber import renumber
from tests.support.place import TASK, Place, files_in, refusal, tree

if TYPE_CHECKING:
    from pathlib import Path

HANDOFF = """---
taskstate: 1
kind: handoff
task_id: "101"
phase: A
created_at: "2026-01-01T00:00:00Z"
status: open
---

# Phase A Handoff - 2026-01-01T00:00:00Z
"""
INPUT = """
### From Task #101: JWT Service

<!-- taskstate: input 101 r3 sha256:0123456789abcdef 2026-01-01T00:00:00Z -->

> Task #101 is quoted as it was.
"""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with task 101, on which 102 depends."""
    place = Place(tmp_path / "repository")
    place.new("102", title="Second", depends_on=(TASK,), features=(("x", "moved on"),))
    return place


def do(place: Place, new: str = "7", path: Path | None = None) -> str:
    """Renumber task 101, and return what was reported."""
    return "\n".join(renumber(place.workspace, path or place.path, new, place.request()).notes)


def other(place: Place) -> Path:
    """Return the state file of task 102."""
    return place.workspace.tasks / "task-102-state.md"


def test_task_has_its_new_id_everywhere_in_its_own_file(place: Place) -> None:
    """File name, task_id, title line, archive path and link follow; sessions and words stay as they are."""
    for text in ("First, see task-101-state.md.", "Second.", "Third."):
        place.add(text)
    place.archive(keep=1)
    archived = place.archived
    do(place)
    root = place.workspace.state_root
    assert not place.path.exists()
    assert not place.archive_path.exists()
    state = read_state(parse((root / "tasks/task-7-state.md").read_text(encoding="utf-8")))
    values = state.document.front_matter
    assert (state.id, values["archive_path"]) == ("7", "archives/task-7-archive.md")
    assert "# Task #7: JWT Service - State" in state.document.text
    assert "](../archives/task-7-archive.md)" in state.document.text
    event = values["audit"]["events"][-1]
    assert (event["event"], event["note"], event["actor"]) == ("renumbered", "was 101", "somebody")
    moved = (root / "archives/task-7-archive.md").read_text(encoding="utf-8")
    assert moved == archived.replace("# Task #101 Archive", "# Task #7 Archive", 1)
    assert "task-101-state.md" in moved  # words that somebody wrote


def test_references_in_other_files_follow(place: Place) -> None:
    """depends_on in natural order, parent, subtasks, moved_to, and the Chain Input's heading and comment."""
    path = other(place)
    text = path.read_text(encoding="utf-8")
    text = text.replace("created_at:", 'parent: "101"\nsubtasks: ["9", "101"]\ncreated_at:', 1)
    text = text.replace('"tested_at": null}', '"tested_at": null, "moved_to": "101"}')
    head, rest = text.split("## 3. Feature Checklist")
    path.write_text(f"{head.rstrip()}\n{INPUT}\n## 3. Feature Checklist{rest}", encoding="utf-8")
    result = do(place, "30")
    assert "changed .taskstate/tasks/task-102-state.md" in result
    text = path.read_text(encoding="utf-8")
    values = parse(text).front_matter
    assert (values["depends_on"], values["parent"], values["subtasks"]) == (["30"], "30", ["9", "30"])
    assert values["revision"] == 2
    assert '"moved_to": "30"' in text
    assert "### From Task #30: JWT Service\n\n<!-- taskstate: input 30 r3 sha256" in text
    assert "> Task #101 is quoted as it was." in text


def test_handoffs_and_artifacts_go_along(place: Place) -> None:
    """Handoff documents, accepted ones too, bear the new id; artifacts are moved as they are."""
    root = place.workspace.state_root
    for folder in ("handoffs/task-101", "handoffs/task-101/archive", "artifacts/task-101/logs"):
        (root / folder).mkdir(parents=True)
    name = "phase-A-handoff-20260101T000000Z.md"
    for folder in ("handoffs/task-101", "handoffs/task-101/archive"):
        (root / folder / name).write_text(HANDOFF, encoding="utf-8")
    (root / "artifacts/task-101/logs/qa.log").write_bytes(b"\xff task-101")
    place.text = place.text.replace(
        "created_at:", f"handoffs: {{count: 2, open: handoffs/task-101/{name}}}\ncreated_at:", 1
    ).replace("  seal:", "  x-seal:")
    do(place)
    assert (root / "artifacts/task-7/logs/qa.log").read_bytes() == b"\xff task-101"
    for folder in ("handoffs/task-7", "handoffs/task-7/archive"):
        assert 'task_id: "7"' in (root / folder / name).read_text(encoding="utf-8")
    assert not (root / "handoffs/task-101").exists()
    text = (root / "tasks/task-7-state.md").read_text(encoding="utf-8")
    assert parse(text).front_matter["handoffs"] == {"count": 2, "open": f"handoffs/task-7/{name}"}


def test_longer_ids_that_begin_alike_stay(place: Place) -> None:
    """Task 1011 and 101-a are other tasks."""
    for task in ("1011", "101-a"):
        place.new(task, title=f"After task-101-state.md and task #{task}", depends_on=(TASK,))
    do(place)
    for task in ("1011", "101-a"):
        text = (place.workspace.tasks / f"task-{task}-state.md").read_text(encoding="utf-8")
        assert parse(text).front_matter["task_id"] == task
        assert f"# Task #{task}: After task-101-state.md" in text


@pytest.mark.parametrize("new", ["102", "101"])
def test_taken_id_is_refused(place: Place, new: str) -> None:
    """An id that a task bears, be it this one, is not given again, and nothing is changed."""
    before = tree(place.root)
    assert refusal(lambda: do(place, new)).code == "exists"
    assert tree(place.root) == before


def test_leftovers_of_the_new_id_are_not_overwritten(place: Place) -> None:
    """An archive without a task bears the id as well."""
    (place.workspace.state_root / "archives/task-7-archive.md").write_text("# Old\n", encoding="utf-8")
    before = tree(place.root)
    assert refusal(lambda: do(place)).code == "exists"
    assert tree(place.root) == before


def test_file_with_a_broken_seal_anywhere_stops_all(place: Place) -> None:
    """A referring file that must not be written keeps the whole from being done."""
    path = other(place)
    path.write_text(path.read_text(encoding="utf-8").replace("audit:", "output: {sha256: x}\naudit:"), encoding="utf-8")
    before = tree(place.root)
    assert refusal(lambda: do(place)).code == "seal-broken"
    assert tree(place.root) == before


def test_of_two_tasks_with_one_id_the_named_one_goes(place: Place) -> None:
    """Of two tasks with the same id from two branches, references stay with the one that keeps it."""
    elsewhere = place.root / "sub/task-101-state.md"
    elsewhere.parent.mkdir()
    elsewhere.write_text(place.text, encoding="utf-8")
    result = do(place, "7", elsewhere)
    assert "stays with the other task" in result
    assert place.path.exists()
    assert 'task_id: "7"' in (place.root / "sub/task-7-state.md").read_text(encoding="utf-8")
    assert parse(other(place).read_text(encoding="utf-8")).front_matter["depends_on"] == ["101"]


def test_dry_run_tells_and_does_nothing(place: Place) -> None:
    """What would be done is reported, file by file."""
    before = tree(place.root)
    outcome = renumber(place.workspace, place.path, "7", place.request(dry_run=True))
    assert "created .taskstate/tasks/task-7-state.md" in outcome.diff
    assert "removed .taskstate/tasks/task-101-state.md" in outcome.diff
    assert tree(place.root) == before
    assert len(files_in(place.root)) == len(before)

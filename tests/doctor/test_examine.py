"""What `doctor` and the views hold in memory among many tasks: each file is read by itself, and is not kept."""

from __future__ import annotations

import gc
from collections import Counter
from typing import TYPE_CHECKING
from weakref import WeakSet

import pytest

from taskstate.doctor.examine import examine
from taskstate.syntax.document import Document
from taskstate.views import repository, task_list
from taskstate.workspace import task_index
from taskstate.workspace.workspace import Workspace
from tests.support.place import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.workspace.workspace import Loaded

MANY = 20
MOST = 8  # documents: those that are kept in case they are read again, and those of the file at hand


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with many tasks that are at work, and a page that has each client start them."""
    made = Place(tmp_path / "repository")
    (made.root / "AGENTS.md").write_text("Run `taskstate start ID`.\n")
    text = made.text.replace("status: created", "status: in_progress")
    for number in range(200, 200 + MANY):
        made.path.with_name(f"task-{number}-state.md").write_text(
            text.replace('task_id: "101"', f'task_id: "{number}"')
        )
    return made


LOOKS: dict[str, Callable[[Workspace], object]] = {
    "doctor": examine,
    "status": repository.read,
    "list": task_list.table,
    "list as data": lambda workspace: task_list.list_tasks(workspace, shaped=True),
    "next": task_index.all_tasks,
}


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_the_files_of_many_tasks_are_not_kept(
    place: Place, monkeypatch: pytest.MonkeyPatch, look: Callable[[Workspace], object]
) -> None:
    """Without the garbage collector, which the command line puts off, only a few documents are there at any time."""
    there: WeakSet[Document] = WeakSet()
    most, made = 0, Document.__init__

    def noted(document: Document, *args: object, **given: object) -> None:
        nonlocal most
        made(document, *args, **given)  # type: ignore[arg-type]
        there.add(document)
        most = max(most, len(there))

    monkeypatch.setattr(Document, "__init__", noted)
    gc.disable()
    try:
        look(place.workspace)
    finally:
        gc.enable()
    assert most <= MOST


def test_doctor_reads_each_task_once(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that it checks of a task is checked while it is read, and it is told how far that is."""
    loads, load, told = Counter[str](), Workspace.load, list[tuple[int, int]]()

    def noted(workspace: Workspace, path: Path, *args: object, **given: object) -> Loaded:
        loads[path.name] += 1
        return load(workspace, path, *args, **given)  # type: ignore[arg-type]

    (place.root / "AGENTS.md").unlink()
    monkeypatch.setattr(Workspace, "load", noted)
    examine(place.workspace, lambda *step: told.append(step))
    assert set(loads.values()) == {1}
    assert len(loads) == MANY + 1
    assert told == [(number, MANY + 1) for number in range(1, MANY + 2)]

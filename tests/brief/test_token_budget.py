from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from benchmarks import sample
from taskstate.brief.brief import brief
from taskstate.brief.token_budget import PastedFile, RoleCost, TokenBudget, budget, shape, table
from taskstate.context import export as context_export
from taskstate.handoff import token_count
from taskstate.workspace import artifacts
from taskstate.workspace.workspace import find_workspace
from tests.support.place import Place

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace

EXAMPLE = (Path(__file__).parents[1] / "cases" / "states" / "reviewed.md").read_text(encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Return a repository with a sealed task that has been reviewed."""
    place = Place(tmp_path / "repository")
    place.text = EXAMPLE
    return place


def told(workspace: Workspace, task: str = "101") -> TokenBudget:
    """Return the budget of a task."""
    return budget(workspace, workspace.load(workspace.locate(task)))


def write(place: Place, name: str, text: str) -> int:
    """Write a file, and return its tokens."""
    path = place.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return token_count.count(text)


def test_each_part_is_counted(place: Place) -> None:
    """Pasted are the task file, each cited file once, the state file, the archive, and the baseline's log unpacked."""
    place.text = EXAMPLE.replace(
        '"section": "size"},', '"section": "size"},\n  {"file": "standards/b.md", "section": "x"},'
    )
    task = write(place, "tasks/TASK-0101.task.yaml", "id: TASK-0101\n")
    first, second = write(place, "standards/a.md", "# A\n\nHandlers.\n"), write(place, "standards/b.md", "# B\n")
    archive = write(place, ".taskstate/archives/task-101-archive.md", "# Task #101 Archive\n")
    log = "$ pytest\n42 passed\n"
    artifacts.write(place.workspace, "101", "baseline.log.gz", artifacts.gzipped(log.encode()))
    assert told(place.workspace).pasted == (
        PastedFile("task file", "tasks/TASK-0101.task.yaml", task),
        PastedFile("standard", "standards/a.md", first),
        PastedFile("standard", "standards/b.md", second),
        PastedFile("state file", ".taskstate/tasks/task-101-state.md", token_count.count(place.text)),
        PastedFile("archive", ".taskstate/archives/task-101-archive.md", archive),
        PastedFile("baseline log", ".taskstate/artifacts/task-101/baseline.log.gz", token_count.count(log)),
    )


def test_each_role_needs_its_export_and_its_brief(place: Place) -> None:
    """Instead of all that, a role needs its own export and its own brief."""
    loaded = place.workspace.load(place.path)
    expected = tuple(
        RoleCost(
            role,
            token_count.count(context_export.export_text(place.workspace.config, loaded.state, role)),
            token_count.count(brief(place.workspace, loaded, role=role).text),
        )
        for role in ("implementer", "reviewer", "validator")
    )
    found = told(place.workspace)
    assert found.roles == expected
    assert found.before == 3 * found.each
    assert found.after == sum(each.export + each.brief for each in expected)


def test_missing_files_are_named(place: Place) -> None:
    """A file that is gone or outside the repository counts as 0 and is listed as missing."""
    place.text = EXAMPLE.replace("standards/a.md", "../a.md")
    (place.root.parent / "a.md").write_text("Not ours to read.\n", encoding="utf-8")
    found = told(place.workspace)
    assert [each.part for each in found.pasted if each.tokens is None] == [
        *("task file", "standard", "standard", "archive", "baseline log")
    ]
    assert found.each == token_count.count(place.text)
    assert "not here  ../a.md" in table(found)


def test_task_with_nothing_but_itself(tmp_path: Path) -> None:
    """An unsealed task has only its state file, and a brief may need more tokens than that."""
    place = Place(tmp_path / "r")
    found = told(place.workspace)
    assert [each.part for each in found.pasted] == ["state file"]
    assert shape(found)["saved_percent"] < 0


def test_shape_and_table() -> None:
    """Table and JSON form hold the same: counter, files, roles, and savings."""
    counted = TokenBudget(
        counter=token_count.Counter("o200k_base", is_exact=True),
        pasted=(PastedFile("state file", ".taskstate/x.md", 8000), PastedFile("standard", "a.md", 2000)),
        roles=(RoleCost("implementer", 500, 1500), RoleCost("reviewer", 400, 600)),
    )
    data = json.loads(json.dumps(shape(counted)))
    assert data["pasted"][0] == {"part": "state file", "path": ".taskstate/x.md", "tokens": 8000}
    assert data["roles"][1] == {
        "role": "reviewer",
        "pasted": 10000,
        "export": 400,
        "brief": 600,
        "together": 1000,
        "saved_percent": 90.0,
    }
    assert (data["counter"], data["exact"], data["before"], data["after"], data["saved_percent"]) == (
        *("o200k_base", True, 20000, 3000, 85.0),
    )
    assert table(counted).split("\n") == [
        "tokens, counted with o200k_base",
        "",
        "pasted to every role:",
        "  state file   8,000  .taskstate/x.md",
        "  standard     2,000  a.md",
        "  together    10,000",
        "",
        "  role         pasted  export  brief  together   saved",
        "  implementer  10,000     500  1,500     2,000  80.0 %",
        "  reviewer     10,000     400    600     1,000  90.0 %",
        "  all roles    20,000                    3,000  85.0 %",
    ]
    guessed = counted._replace(counter=token_count.Counter("estimate", is_exact=False))
    assert table(guessed).startswith("tokens, estimated; with `pip install 'taskstate[tokens]'` they are counted\n")


@pytest.mark.skipif(not token_count.counter().is_exact, reason="the extra `tokens` is not installed")
def test_three_roles_need_a_fifth_on_the_sample_project(tmp_path: Path) -> None:
    """On the sample project the roles need at least 80 % fewer tokens than pasting, by a real tokenizer."""
    sample.write(tmp_path)
    found = told(find_workspace(tmp_path, root=str(tmp_path)), sample.TASK)
    assert found.after <= 0.2 * found.before
    assert all(each.tokens for each in found.pasted)

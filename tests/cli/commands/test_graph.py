from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.chained import Chained

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli


@pytest.fixture
def place(tmp_path: Path) -> Chained:
    """Return a repository in which 102 depends on 101."""
    return Chained(tmp_path / "repository")


def test_tasks_are_drawn(cli: Cli) -> None:
    """Each form holds the tasks and the chain between them."""
    assert cli.ok("graph") == "[ ] 101  JWT Service\n  [ ] 102  Endpoints\n"
    assert cli.ok("graph", "--output-format", "mermaid").startswith(
        'flowchart LR\n  t0["#35;101 JWT Service (created)"]'
    )
    assert '  "101" -> "102";\n}\n' in cli.ok("graph", "--output-format", "dot")


def test_some_tasks_are_drawn(cli: Cli, place: Chained) -> None:
    """Named tasks come with what they build on and what builds on them, and with nothing else."""
    place.new("7", title="Alone")
    assert cli.ok("graph", "7") == "[ ] 7  Alone\n"
    assert "7" not in cli.ok("graph", "102", "task-101-state.md")
    assert "there is no task 9" in cli.refused("graph", "9")


def test_graph_in_json(cli: Cli, place: Chained) -> None:
    """A program gets tasks, chains and circles, and the drawing."""
    place.write("101", "created_at", 'depends_on: ["102"]\ncreated_at')
    data = cli.json("graph", "--output-format", "dot")
    assert data["tasks"][0] == {"id": "101", "title": "JWT Service", "status": "created"}
    assert (data["chains"], data["subtasks"]) == ([["102", "101"], ["101", "102"]], [])
    assert data["circles"] == [["101", "102", "101"]]
    assert data["drawing"].startswith("digraph tasks {")


def test_file_that_cannot_be_read_is_told(cli: Cli, place: Chained) -> None:
    """It is drawn as unknown, reported on standard error, and hides no other."""
    place.file("101").write_bytes(b"\xff")
    result = cli("graph")
    assert result.status == 1
    assert result.out.startswith("[?] 101  there is no such task, or it cannot be read\n  [ ] 102")
    assert "not drawn: .taskstate/tasks/task-101-state.md is not UTF-8" in result.err


def test_title_is_no_structure(cli: Cli, place: Chained) -> None:
    """Whatever a title holds, each form has one node for the task."""
    place.new("7", title='a"]; x --> y["b\\')
    assert cli.ok("graph", "7", "--output-format", "dot").count("\n  ") == 3
    assert cli.ok("graph", "7", "--output-format", "mermaid").count("t0") == 1

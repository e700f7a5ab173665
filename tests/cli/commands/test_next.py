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


def test_task_and_feature_are_named(cli: Cli, place: Chained) -> None:
    """The task, its feature and the reason have a line each; when it is complete, the next one is named."""
    assert cli.ok("next") == (
        "101  JWT Service\n  feature jwt-1: makes a JWT\n  why: it is ready to begin; 1 task waits for it\n"
    )
    place.finish()
    place.complete()
    assert cli.ok("next") == (
        "102  Endpoints\n  feature jwt-1: makes a JWT\n  why: it is ready to begin; 101 is complete\n"
    )


def test_more_are_named_in_their_order(cli: Cli, place: Chained) -> None:
    """With a count those that come then are named too."""
    place.new("7", title="Docs", priority="P2")
    place.new("8", title="Site")
    assert cli.ok("next", "--count", "3") == (
        "7  Docs\n  feature jwt-1: makes a JWT\n  why: it is ready to begin; its priority is P2\n  then:\n"
        "    101  JWT Service (created, 1 waiting for it)\n    8  Site (created)\n"
    )
    assert "8" not in cli.ok("next", "--count", "2").replace("jwt-1", "")


def test_choice_in_json(cli: Cli, place: Chained) -> None:
    """A program gets the task, the feature, the reason, and the first ones that are ready."""
    data = cli.json("next")
    task = {
        "id": "101",
        "path": ".taskstate/tasks/task-101-state.md",
        "title": "JWT Service",
        "status": "created",
        "priority": None,
        "unblocks": 1,
        "turn": None,
    }
    assert data == {
        "task": task,
        "feature": {"id": "jwt-1", "description": "makes a JWT"},
        "why": "it is ready to begin; 1 task waits for it",
        "ready": [task],
        "ready_total": 1,
        "waiting": [],
        "waiting_total": 0,
    }
    place.write("101", "status: created", "status: blocked")
    data = cli.json("next")
    assert (data["task"], data["feature"], data["ready"]) == (None, None, [])
    assert data["waiting"] == [{"id": "101", "why": "it is blocked"}, {"id": "102", "why": "it waits for 101"}]


def test_nothing_ready_says_what_holds_it_up(cli: Cli, place: Chained) -> None:
    """Where nothing can be worked on, each task has its reason, up to ten of them."""
    place.write("101", "status: created", "status: blocked")
    for number in range(200, 210):
        place.new(str(number), depends_on=("102",))
    out = cli.ok("next")
    assert out.startswith("no task is ready: all 12 open ones wait\n  101  JWT Service: it is blocked\n  102  ")
    assert out.endswith("\n  and 2 more\n")


def test_file_that_cannot_be_read_is_told(cli: Cli, place: Chained) -> None:
    """It is reported on standard error, and the others are looked at."""
    place.file("102").write_bytes(b"\xff")
    result = cli("next", "--quiet")
    assert (result.status, "not counted: .taskstate/tasks/task-102-state.md is not UTF-8" in result.err) == (1, True)


@pytest.mark.parametrize("command", ["next", "graph", "log", "chain status"])
@pytest.mark.parametrize("broken", [b'title: "bad', b"title: \xff", b"<<<<<<< a\nx: 1\n=======\nx: 2\n>>>>>>> b"])
def test_a_damaged_file_is_told_once(cli: Cli, place: Chained, command: str, broken: bytes) -> None:
    """What a command leaves out is told in one line with the way out, also where a command has written the file."""
    cli.ok("criterion", "check", "102", "1")
    path = place.file("102")
    path.write_bytes(path.read_bytes().replace(b"title: Endpoints", broken))
    told = cli(*command.split()).err.splitlines()
    assert len(told) == 1
    assert "damaged" in told[0]
    assert "`taskstate doctor --fix`" in told[0]


def test_count_is_positive(cli: Cli) -> None:
    """A count that names nothing is refused."""
    assert "--count 0 names nothing" in cli.refused("next", "--count", "0")
    assert "--count" in cli.refused("next", "--count", "x")


def test_tasks_are_listed_by_how_they_stand(cli: Cli, place: Chained) -> None:
    """`--ready` lists what can be worked on, `--blocked` what is open and cannot; the two do not go together."""
    place.new("103")
    place.write("103", "status: created", "status: blocked")
    place.new("104")
    place.write("104", "status: created", "status: complete")
    assert [task["id"] for task in cli.json("list", "--ready")] == ["101"]
    assert [task["id"] for task in cli.json("list", "--blocked")] == ["102", "103"]
    assert "--ready does not go with --blocked" in cli.refused("list", "--blocked", "--ready")

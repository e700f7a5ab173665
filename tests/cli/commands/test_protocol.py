"""`taskstate protocol`, in a repository and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Cli


def test_it_is_printed_for_a_task_and_a_role(cli: Cli) -> None:
    """The commands in it name the task and the role, and printing it changes nothing."""
    before = tree(cli.place.root)
    output = cli.ok("protocol", "TASK-101", "--role", "validator", "--agent", "claude")
    assert output.startswith("# Session protocol of task 101 for the validator\n")
    assert "`taskstate start 101 --role validator`" in output
    assert tree(cli.place.root) == before
    short = cli.ok("protocol", "101", "--short")
    assert len(short) < len(output) / 3
    assert short in cli.ok("brief", "101")


def test_a_permanent_task_gets_its_own_steps(cli: Cli) -> None:
    """No step of a protocol is one that the task's kind cannot take."""
    cli.place.text = cli.place.text.replace("taskstate: 1\n", "taskstate: 1\nkind: permanent\n", 1)
    assert "taskstate finish" not in cli.ok("protocol", "101")
    assert cli.ok("protocol", "101", "--short") in cli.ok("brief", "101")


def test_json_tells_what_it_is_for(cli: Cli) -> None:
    """Programs get the text with the task, the role and the agent, or null."""
    data = cli.json("protocol", "101", "--agent", "codex")
    assert (data["id"], data["role"], data["agent"]) == ("101", None, "codex")
    assert data["text"] == cli.ok("protocol", "101", "--agent", "codex")


def test_what_there_is_not_is_one_clear_error(cli: Cli) -> None:
    """A task, a role or an agent that is unknown is reported, with the nearest where there is one."""
    for arguments, text in (
        (("protocol", "999"), "999"),
        (("protocol", "--role", "implementor"), "did you mean implementer?"),
        (("protocol", "--agent", "x"), "choose from claude, codex, cursor, generic"),
    ):
        done = cli(*arguments)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert text in done.err


def test_without_a_repository_it_is_printed_too(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sets a repository up can put it where agents read before there is a task."""
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    assert "`taskstate start ID`" in cli.ok("protocol")
    assert not [*empty.iterdir()]

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

PIPELINE = "  [>] implementer in progress  [ ] reviewer  [ ] validator\n"


def test_tasks_at_work_are_shown(cli: Cli, place: Place) -> None:
    """As text and as JSON; a task that is only created is shown when it is named."""
    last = f"  The last write: 101 JWT Service{' ' * 50}2026-01-31 12:01Z\n"
    none = f"Nothing needs you.\n{last}\n0 in progress, 0 blocked, 1 created (1 ready), 0 complete\n"
    assert cli.ok("status") == none
    assert (cli.json("status")["tasks"], cli.json("status")["needs"]) == ([], [])
    assert cli.ok("status", "101").startswith("101  JWT Service  (created)\n")
    place.add("Began.", next=("Go on",))
    cli.ok("role", "set", "101", "implementer", "--status", "in_progress")
    assert cli.ok("status", "101") == f"101  JWT Service  (in progress)\n{PIPELINE}  next: Go on\n"
    assert "At work 101 JWT Service implementer 0/1 2 KB 1 in progress" in " ".join(cli.ok("status").split())
    (result,) = cli.json("status")["tasks"]
    assert (result["id"], result["role"], result["next_step"]) == ("101", "implementer", "Go on")
    assert cli.json("status", "#101") == result


def test_a_file_that_cannot_be_read_is_complained_of(cli: Cli, place: Place) -> None:
    """The others are shown nevertheless."""
    place.path.with_name("task-7-state.md").write_bytes(b"\xff")
    result = cli("status")
    assert result.status == 1
    assert "  damaged   7     not UTF-8: byte 0 is 0xff" in result.out
    assert "not listed: .taskstate/tasks/task-7-state.md is not UTF-8" in result.err
    result = cli("status", "7")
    assert (result.status, result.out, result.err.count("\n")) == (1, "", 1)
    assert "task-7-state.md is not UTF-8: byte 0 is 0xff, so it is damaged" in result.err


def test_a_task_that_is_not_there_is_refused(cli: Cli) -> None:
    """With one clear line."""
    assert cli.refused("status", "999").startswith("there is no task 999")


def test_the_configured_roles_are_shown(cli: Cli, place: Place) -> None:
    """In their order."""
    place.configure('roles = ["author", "editor"]\n')
    assert "  [ ] author  [ ] editor\n" in cli.ok("status", "101")

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def test_tasks_are_listed(cli: Cli, place: Place) -> None:
    """Every task has a line, in natural order, and in JSON the shape of `show`."""
    place.new("9", area="web")
    assert [line.split()[0] for line in cli.ok("list").splitlines() if line] == ["ID", "9", "101", "sessions:"]
    data = cli.json("list")
    assert [task["id"] for task in data] == ["9", "101"]
    assert data[1] == cli.json("show", "101")


def test_tasks_are_chosen(cli: Cli, place: Place) -> None:
    """Status, area and readiness choose among the tasks."""
    place.new("9", area="web", depends_on=("101",))
    place.add()
    assert [task["id"] for task in cli.json("list", "--status", "in_progress")] == ["101"]
    assert [task["id"] for task in cli.json("list", "--area", "web")] == ["9"]
    assert [task["id"] for task in cli.json("list", "--ready")] == ["101"]
    assert cli.ok("list", "--area", "none") == "no tasks\n"
    assert cli.json("list", "--area", "none") == []


def test_unknown_status_is_refused(cli: Cli) -> None:
    """An unknown status is refused."""
    assert "--status" in cli.refused("list", "--status", "done")


def test_unreadable_file_is_told_also_when_quiet(cli: Cli, place: Place) -> None:
    """A file that cannot be read hides no other, and is reported on standard error whatever was asked for."""
    (place.path.parent / "task-7-state.md").write_bytes(b"\xff\x1b")
    for flags in ((), ("--quiet",), ("--format", "json")):
        result = cli("list", *flags)
        assert result.status == 1
        assert "not listed: .taskstate/tasks/task-7-state.md is not UTF-8" in result.err
    assert [task["id"] for task in cli.json("list", status=1)] == ["101"]


def test_a_long_id_moves_its_own_row_alone(cli: Cli) -> None:
    """The others stay as wide as a pipe may be."""
    cli.ok("new", "a" * 64, "--title", "Long")
    _, row, long_row, *_ = cli.ok("list").splitlines()
    assert row.index("JWT Service") < 80 < long_row.index("Long")

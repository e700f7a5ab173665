from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.place import TASK, tree

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

SMALL = "[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 1\n"
SESSION = "### Session {} - 2026-01-01 10:00\n\n{}\n\n"


def large(place: Place, task_id: str, *, words: int = 0) -> None:
    """Create a task with three sessions, over the small limit with enough words."""
    place.new(task_id)
    path = place.workspace.locate(task_id)
    log = "".join(SESSION.format(number, "word " * words + ".") for number in (1, 2, 3))
    path.write_text(path.read_text(encoding="utf-8").replace("## 5.", log + "## 5."), encoding="utf-8")


def archived(place: Place) -> set[str]:
    """Return the ids of the tasks that have an archive."""
    return {path.name.split("-")[1] for path in place.archive_path.parent.glob("*.md")}


def test_task_within_the_limit_is_left_alone(cli: Cli, place: Place) -> None:
    """Without --force a small file is not archived, and that is reported."""
    place.fill(1, 2)
    out = cli.ok("archive", "101")
    assert out == (
        ".taskstate/tasks/task-101-state.md: nothing to change\n"
        "  task 101 is within the limit; --force archives anyway\n"
    )
    assert archived(place) == set()


def test_task_is_archived_by_force(cli: Cli, place: Place) -> None:
    """With --force all but the requested number of newest sessions are archived."""
    place.fill(1, 2, 3)
    out = cli.ok("archive", "101", "--force", "--keep", "2")
    assert out.endswith("archived\n  session 1 went into .taskstate/archives/task-101-archive.md\n")
    data = cli.json("archive", "101", "--force", "--keep", "1")
    assert data["changed"] is True
    assert data["notes"] == ["session 2 went into .taskstate/archives/task-101-archive.md"]
    assert place.numbers() == [(1, True), (2, True), (3, False)]


@pytest.mark.parametrize("number", [3, 2])
def test_finding_names_a_command_that_archives(cli: Cli, place: Place, number: int) -> None:
    """What TS501 advises archives something, also where there are no more sessions than are kept; so does `archive`."""
    place.configure("[size]\nwarn-kb = 1\nkeep-sessions = 2\n")
    place.fill(*range(1, number + 1))
    help_ = next(each["help"] for each in cli.json("lint", str(place.path))["findings"] if each["code"] == "TS501")
    command = shlex.split(help_.split("`")[1])[1:]
    if number == 2:
        assert f"nothing to archive; `taskstate {' '.join(command)}`" in cli.ok("archive", "101", "--force")
    assert "went into" in cli.ok(*command)


def test_configuration_says_how_many_are_kept(cli: Cli, place: Place) -> None:
    """Without --keep the configured number stays."""
    place.configure("[size]\nkeep-sessions = 2\n")
    place.fill(1, 2, 3)
    cli.ok("archive", "101", "--force")
    assert place.numbers() == [(1, True), (2, False), (3, False)]


def test_dry_run_prints_both_diffs(cli: Cli, place: Place) -> None:
    """A dry run prints what both files would become, and writes neither."""
    place.fill(1, 2)
    before = tree(place.root)
    out = cli.ok("archive", "101", "--force", "--keep", "1", "--dry-run")
    assert "+++ b/.taskstate/archives/task-101-archive.md\n" in out
    assert "+++ b/.taskstate/tasks/task-101-state.md\n" in out
    assert tree(place.root) == before


@pytest.mark.parametrize("flags", [(), ("--all",)])
def test_every_task_over_the_limit_is_archived(cli: Cli, place: Place, flags: tuple[str, ...]) -> None:
    """Without an id all tasks over the limit are archived, and no others."""
    place.configure(SMALL)
    large(place, "7", words=300)
    large(place, "8", words=300)
    large(place, "9")
    assert [each["path"].split("-")[1] for each in cli.json("archive", *flags)] == ["7", "8"]
    assert archived(place) == {"7", "8"}
    assert cli.ok("archive", *flags).startswith("task 7 has 1 session, and 1 is kept: nothing to archive")
    assert cli.json("archive", *flags) == []


def test_all_by_force(cli: Cli, place: Place) -> None:
    """With --all and --force every task is archived that has more sessions than are kept."""
    place.configure(SMALL)
    large(place, "7")
    cli.ok("archive", "--all", "--force")
    assert archived(place) == {"7"}


def test_several_tasks_are_archived(cli: Cli, place: Place) -> None:
    """Of several tasks each is reported, one named twice once."""
    large(place, "7")
    large(place, "8")
    out = cli.ok("archive", "7", "#8", "TASK-7", "--force", "--keep", "1")
    assert out.count("sessions 1-2 went into") == 2
    assert archived(place) == {"7", "8"}


@pytest.mark.parametrize("second", ["999", "8"])
def test_several_tasks_are_archived_together_or_not_at_all(cli: Cli, place: Place, second: str) -> None:
    """Where one of several cannot be archived, none is."""
    large(place, "7")
    large(place, "8")
    path = place.workspace.locate("8")
    path.write_text(path.read_text(encoding="utf-8").replace("Session 3", "Session 1"), encoding="utf-8")
    cli.refused("archive", "7", second, "--force", "--keep", "1")
    assert archived(place) == set()


def test_unreadable_file_hides_no_other(cli: Cli, place: Place) -> None:
    """A file that cannot be read is reported, and the others are archived."""
    place.configure(SMALL)
    large(place, "7", words=300)
    (place.path.parent / "task-6-state.md").write_bytes(b"\xff")
    result = cli("archive", "--quiet")
    assert (result.status, result.out) == (0, "")
    assert "task-6-state.md is not UTF-8" in result.err
    assert archived(place) == {"7"}


# Checking


@pytest.mark.parametrize("flags", [("--check",), ("--check", "--fix"), (), ("101",)])
def test_what_cannot_be_archived_is_told(cli: Cli, place: Place, flags: tuple[str, ...]) -> None:
    """Of a file over the limit without sessions to archive it is told what is large, and what helps."""
    place.configure("[size]\nmax-kb = 2\nwarn-kb = 1\nkeep-sessions = 2\n")
    place.add("x " * 800)
    place.add("y")
    before = tree(place.root)
    out = cli.ok("archive", *flags)
    assert "nothing to archive; the file still has" in out
    assert "the largest: session 1 (2 KB)" in out
    assert "`taskstate archive 101 --keep 1` leaves only the newest session here" in out
    assert "no task is over the limit" not in out
    assert tree(place.root) == before


def test_check_tells_what_should_be_archived(cli: Cli, place: Place) -> None:
    """--check exits with 1 where a task is over the limit, names it, and writes nothing."""
    place.configure(SMALL)
    assert cli.ok("archive", "--check") == "no task is over the limit\n"
    large(place, "7", words=300)
    before = tree(place.root)
    result = cli("archive", "--check")
    assert (result.status, result.out) == (1, "task 7 is over the limit: run `taskstate archive 7`\n")
    assert cli.json("archive", "--check", status=1) == {"over": ["7"]}
    assert cli("archive", "--check", "7").status == 1
    assert cli("archive", "--check", "101").status == 0
    assert tree(place.root) == before


def test_check_takes_the_paths_that_a_hook_hands_over(cli: Cli, place: Place) -> None:
    """A path stands for that very file; one that is excluded, or malformed in its name, is no obstacle."""
    place.configure('exclude = ["x/**"]\n' + SMALL)
    large(place, "7", words=300)
    seven = place.workspace.locate("7")
    for name in ("x/task-7-state.md", "odd/task-a b-state.md", "odd/task-7-state.md"):
        path = place.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(seven.read_bytes())
    seven.unlink()
    assert cli("archive", "--check", "x/task-7-state.md").status == 0
    assert cli("archive", "--check", "odd/task-7-state.md").status == 1
    assert cli("archive", "--check", "odd/task-a b-state.md").status == 1


def test_check_leaves_alone_what_cannot_be_archived(cli: Cli, place: Place) -> None:
    """A file that is too large with the sessions that are kept is the linter's matter."""
    place.configure(SMALL)
    place.fill(log=SESSION.format(1, "word " * 1_000))
    assert cli("archive", "--check").status == 0


def test_check_of_an_unreadable_file(cli: Cli, place: Place) -> None:
    """What could not be checked is reported, with the exit status of what could not be done."""
    place.path.write_bytes(b"\xff")
    result = cli("archive", "--check", TASK)
    assert result.status == 2
    assert "is not UTF-8" in result.err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("999",), "there is no task 999"),
        (("--check", "999"), "there is no task 999"),
        (("--check", "nowhere/task-999-state.md"), "there is no task 999"),
        (("../evil",), "names no task"),
        (("101", "--keep", "0"), "at least one session stays"),
        (("101", "--keep", "-1"), "at least one session stays"),
        (("101", "--keep", "x"), "invalid int value"),
        (("101", "--all"), "either --all or the tasks' ids"),
        (("--force",), "--force needs the tasks' ids, or --all"),
        (("--expect-revision", "1"), "--expect-revision is that of one task"),
        (("101", "102", "--expect-revision", "1"), "--expect-revision is that of one task"),
        (("101", "--force", "--expect-revision", "9"), "is at revision 1-"),
    ],
)
def test_what_cannot_be_archived_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing is archived."""
    assert what in cli.refused("archive", *arguments)

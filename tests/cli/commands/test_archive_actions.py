from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.commands.test_archive import SMALL, large
from tests.cli.commands.test_git_history import call

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def archived(place: Place) -> None:
    """Archive two of three sessions."""
    place.fill(1, 2, 3)
    place.archive()


def test_verify_tells_that_all_is_whole(cli: Cli, place: Place) -> None:
    """A whole archive is reported with its numbers, in JSON too."""
    assert cli.ok("archive", "verify", "101") == ".taskstate/archives/task-101-archive.md: nothing is archived\n"
    archived(place)
    assert cli.ok("archive", "verify", "101").endswith("archive.md: 2 sessions in 1 batch, whole\n")
    assert cli.json("archive", "verify", "#101") == {
        "path": ".taskstate/archives/task-101-archive.md",
        "ok": True,
        "batches": 1,
        "sessions": 2,
        "faults": [],
    }


def test_verify_exits_with_1_at_a_fault(cli: Cli, place: Place) -> None:
    """An altered entry is reported with its place and what to do."""
    archived(place)
    place.archive_path.write_text(place.archived.replace("did 2", "did two"))
    result = cli("archive", "verify", "101")
    assert result.status == 1
    assert "task-101-archive.md:19: session 2 was altered" in result.out
    (fault,) = cli.json("archive", "verify", "101", status=1)["faults"]
    assert (fault["line"], fault["sessions"]) == (19, [2])
    place.new("7")
    assert [each["ok"] for each in cli.json("archive", "verify", "7", "101", status=1)] == [True, False]


def test_restore_gives_the_log_back(cli: Cli, place: Place) -> None:
    """After archiving and restoring the sessions are in the log again."""
    archived(place)
    data = cli.json("archive", "restore", "101")
    assert data["changed"] is True
    assert data["notes"][0] == "sessions 1-2 are back in the progress log"
    assert place.numbers() == [(1, False), (2, False), (3, False)]
    assert "nothing to change" in cli.ok("archive", "restore", "101", "--all")


def test_search_finds_lines_in_both_files(cli: Cli, place: Place) -> None:
    """A text is found whatever its case, in archived sessions and in those of the state file."""
    archived(place)
    assert cli.ok("archive", "search", "101", "- DID").splitlines() == [
        "   1  2026-01-02 10:00  archived  - did 1",
        "   2  2026-01-03 10:00  archived  - did 2",
        "   3  2026-01-04 10:00            - did 3",
    ]
    assert cli.json("archive", "search", "101", "issue", "2") == [
        {"number": 2, "time": "2026-01-03 10:00", "line": "- issue 2", "archived": True}
    ]
    assert cli.ok("archive", "search", "101", "nowhere") == "no session says that\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("verify",), "archive verify: the following arguments are required: ID"),
        (("restore",), "archive restore: the following arguments are required: ID"),
        (("restore", "101", "102"), "archive restore: unrecognized arguments: 102"),
        (("search",), "archive search: the following arguments are required: ID, TEXT"),
        (("search", "101"), "archive search: the following arguments are required: TEXT"),
        (("search", "101", " "), "archive search: TEXT is missing"),
        (("restore", "101", "--force"), "archive restore: unknown option '--force'"),
        (("verify", "101", "--dry-run"), "archive verify: unknown option '--dry-run'"),
    ],
)
def test_what_means_nothing_is_refused(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """A verb without what it needs, or with a flag that it has no use for, is refused."""
    assert cli.refused("archive", *arguments).startswith(message)


def test_task_with_the_name_of_a_verb(cli: Cli, place: Place) -> None:
    """A task that is called like a verb is reached by another form of its name."""
    place.new("verify")
    assert "within the limit" in cli.ok("archive", "#verify")
    assert "nothing is archived" in cli.ok("archive", "verify", "verify")


def test_help_names_the_verbs(cli: Cli) -> None:
    """The help says what there is besides archiving."""
    output = cli.ok("archive", "--help")
    assert all(f"`archive {verb}`" in " ".join(output.split()) for verb in ("verify", "restore", "search"))


# The hook that archives and stages


def test_fix_archives_and_stages_exactly_what_it_changed(cli: Cli, place: Place) -> None:
    """What is over its limit is archived, and state file and archive are staged; nothing else is."""
    place.configure(SMALL)
    large(place, "7", words=300)
    call(place, "init", "--quiet")
    call(place, "add", "--all")
    (place.root / "other").write_text("x")
    data = cli.json("archive", "--check", "--fix", place.workspace.locate("7"), place.path)
    expected = [".taskstate/tasks/task-7-state.md", ".taskstate/archives/task-7-archive.md"]
    assert data["staged"] == expected
    assert "### Archived Summary" in call(place, "show", f":{expected[0]}")
    assert "## Session 1" in call(place, "show", f":{expected[1]}")
    assert call(place, "ls-files", "--others", "--exclude-standard") == "other\n"
    assert call(place, "diff", "--name-only") == ""
    assert cli.ok("archive", "--check", "--fix", place.path) == "no task is over the limit\n"


def test_fix_does_not_stage_what_was_left_out(cli: Cli, place: Place) -> None:
    """A file of which only a part is staged is not staged whole, and a file that git does not know is not added."""
    place.configure(SMALL)
    large(place, "7", words=300)
    call(place, "init", "--quiet")
    call(place, "add", "--all")
    path = place.workspace.locate("7")
    path.write_text(path.read_text() + "\n## Notes\n\nmine\n")
    assert "has changes that are not staged" in cli.refused("archive", "--check", "--fix", "7")
    call(place, "rm", "--cached", "--force", "--quiet", str(path))
    assert cli.json("archive", "--check", "--fix", "7")["staged"] == []
    assert "task-7" not in call(place, "ls-files")


def test_fix_goes_with_check(cli: Cli) -> None:
    """Alone the flag means nothing."""
    assert cli.refused("archive", "101", "--fix").startswith("--fix needs --check")


def test_what_archiving_cannot_mend_is_told(cli: Cli, place: Place) -> None:
    """Where the sessions that stay are too large, the command names the largest parts, and blocks nothing."""
    place.configure(SMALL)
    large(place, "7", words=600)
    out = cli.ok("archive", "--check", "--fix", "7")
    assert "what is left is too large to archive; the largest: session 3 (3 KB)" in out
    assert "the largest: session 3 (3 KB)" in cli.ok("archive", "7")
    cli.ok("archive", "--check", "7")

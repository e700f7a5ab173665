from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.chained import Chained
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

STATE = ".taskstate/tasks/task-{}-state.md"


@pytest.fixture
def place(tmp_path: Path) -> Chained:
    """Return a repository in which 102 depends on 101."""
    return Chained(tmp_path / "repository")


def finished(place: Chained) -> None:
    """Complete 101 by hand."""
    place.finish()
    place.write("101", "status: created", "status: complete")


def test_output_is_printed_word_for_word(cli: Cli, place: Chained) -> None:
    """What a task hands down is printed unchanged, a part of it alone, or only what is in its fences."""
    finished(place)
    text = cli.ok("chain", "output", "101")
    assert text == place.read("101").split("## 6. Chain Output\n\n")[1]
    assert cli.ok("chain", "output", "#101", "--part", "summary") == (
        "### Summary\n\nTokens are issued.\n\n    indented stays indented\n"
    )
    code = "def verify(token: str) -> bool: ...\n"
    assert cli.ok("chain", "output", "101", "--part", "api-contract", "--code") == code
    assert cli.ok("chain", "output", "101", "--code") == code
    assert cli.ok("chain", "output", "101", "--part", "summary", "--code") == ""


def test_output_in_json(cli: Cli, place: Chained) -> None:
    """A program gets the text, its parts, and what is in their fences."""
    finished(place)
    data = cli.json("chain", "output", "101", "--part", "API Contract")
    assert (data["id"], data["status"], data["complete"]) == ("101", "complete", True)
    (part,) = data["parts"]
    assert (part["part"], part["code"]) == ("api-contract", ["def verify(token: str) -> bool: ..."])
    assert part["text"].startswith("### API Contract\n")
    assert [each["part"] for each in cli.json("chain", "output", "101")["parts"]] == [
        "summary",
        "files-created-modified",
        "api-contract",
    ]


def test_output_that_may_change_is_told_as_such(cli: Cli, place: Chained) -> None:
    """The output of a task that is not complete comes with a remark on standard error."""
    place.output()
    result = cli("chain", "output", "101")
    assert (result.status, result.err) == (0, "task 101 is created: this may still change\n")
    assert cli("chain", "output", "101", "--quiet").err == ""


def test_status_exits_with_what_it_found(cli: Cli, place: Chained) -> None:
    """Each input has a line; the exit status is 1 when one needs attention."""
    assert cli.ok("chain", "status") == "102  Endpoints\n  101  waiting     it is created\n"
    finished(place)
    result = cli("chain", "status", "102")
    assert (result.status, result.out) == (
        1,
        "102  Endpoints\n  101  missing     it is complete, and its output was not pulled\n",
    )
    data = cli.json("chain", "status", status=1)
    assert data["wrong"] == 1
    assert data["tasks"] == [
        {
            "id": "102",
            "path": STATE.format("102"),
            "inputs": [
                {
                    "id": "101",
                    "state": "missing",
                    "detail": "it is complete, and its output was not pulled",
                    "changed_files": [],
                    "wrong": True,
                }
            ],
        }
    ]
    assert cli.ok("chain", "status", "101") == "101  JWT Service\n  builds on no other task\n"


def test_status_tells_changed_files(cli: Cli, place: Chained) -> None:
    """A file that is not what it was at completion is reported, and is wrong."""
    place.finish()
    place.complete()
    assert cli("chain", "status").status == 0
    (place.root / "app.py").unlink()
    result = cli("chain", "status")
    assert (result.status, "since it was completed: app.py is gone" in result.out) == (1, True)


def test_status_of_nothing(cli: Cli, place: Chained) -> None:
    """Where no task builds on another one, that is reported; what cannot be read is reported, and is status 1."""
    place.file("102").unlink()
    assert cli.ok("chain", "status") == "no task builds on another one\n"
    place.file("101").write_bytes(b"\xff")
    result = cli("chain", "status")
    assert (result.status, "not looked at: .taskstate/tasks/task-101-state.md is not UTF-8" in result.err) == (1, True)


def test_broken_front_matter_is_told(cli: Cli, place: Chained) -> None:
    """A file whose front matter cannot be read may build on anything: no command calls that well."""
    place.write("102", "title: .*", 'title: "bad')
    for command in ("status", "pull --all", "status 102"):
        result = cli("chain", *command.split())
        assert result.status == 1
        assert "not looked at: .taskstate/tasks/task-102-state.md is damaged: line" in result.err


def test_pull_shows_the_difference(cli: Cli, place: Chained) -> None:
    """What comes is shown; a second time there is nothing to change."""
    finished(place)
    out = cli.ok("chain", "pull", "102")
    assert out.startswith(f"{STATE.format(102)}: inputs brought up to date\n--- a/")
    assert "\n+### From Task #101: JWT Service\n" in out
    assert out.endswith("\n  pulled the output of task 101, revision 4\n")
    before = tree(place.root)
    assert cli.ok("chain", "pull", "102") == f"{STATE.format(102)}: nothing to change\n"
    data = cli.json("chain", "pull", "102")
    assert (data["changed"], data["diff"], data["path"]) == (False, "", STATE.format("102"))
    assert tree(place.root) == before
    assert cli.ok("lint") == "No findings in 2 files.\n"


def test_pull_into_all_tasks(cli: Cli, place: Chained) -> None:
    """Every task that builds on another one gets what is new; one that cannot is reported, and holds up no other."""
    assert cli.ok("chain", "pull", "--all") == (
        f"{STATE.format(102)}: nothing to change\n  task 101 is created: its output comes when it is complete; "
        "`taskstate next` names what is ready\n"
    )
    place.new("103", depends_on=("101",))
    finished(place)
    place.write("103", 'depends_on: \\["101"\\]', 'depends_on: ["101", "7"]')
    result = cli("chain", "pull", "--all")
    assert result.status == 1
    assert f"{STATE.format(102)}\n  pulled the output of task 101" in result.out
    assert "not pulled into task 103: there is no task 7" in result.err
    assert cli.ok("chain", "pull", "--all", "--from", "101").startswith(STATE.format("103"))
    data = cli.json("chain", "pull", "102", "103", "--from", "101")
    assert [each["changed"] for each in data["tasks"]] == [False, False]
    place.file("103").unlink()
    assert cli.ok("chain", "pull", "--all") == "nothing to pull\n"


def test_dry_run_shows_and_changes_nothing(cli: Cli, place: Chained) -> None:
    """A dry run prints the whole change."""
    finished(place)
    before = tree(place.root)
    assert "+revision: 2\n" in cli.ok("chain", "pull", "102", "--dry-run")
    assert "+revision: 2\n" in cli.json("chain", "pull", "102", "--dry-run")["diff"]
    assert cli.json("chain", "pull", "--all", "--dry-run")["tasks"][0]["changed"] is True
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "required: ACTION"),
        (("output",), "required: ID"),
        (("output", "9"), "there is no task 9"),
        (("output", "102"), "task 102 has no output"),
        (("output", "101", "--part", "aip"), "did you mean api?"),
        (("output", "101", "102"), "chain output: unrecognized arguments: 102"),
        (("output", "101", "--from", "x"), "chain output: unknown option '--from'"),
        (("output", "101", "--dry-run"), "chain output: unknown option '--dry-run'"),
        (("output", "set", "101", "summary"), "chain output set: the following arguments are required: --from"),
        (
            ("output", "set", "101", "summary", "--from", "x", "--code"),
            "chain output set: unknown option '--code'",
        ),
        (("output", "set", "101", "sumary", "--from", "app.py"), "did you mean summary?"),
        (("output", "set", "101", "summary", "--from", "-"), "the part 'Summary' is empty"),
        (("output", "set", "9", "summary", "--from", "app.py"), "there is no task 9"),
        (("pull",), "either the tasks' ids or --all"),
        (("pull", "101", "--all"), "either the tasks' ids or --all"),
        (("pull", "9"), "there is no task 9"),
        (("pull", "102", "--from", "9"), "task 102 does not depend on task 9"),
        (("pull", "102", "--from", "!"), "names no task"),
        (("pull", "102", "--expect-revision", "7"), "is at revision 1-"),
        (("pull", "101", "102", "--expect-revision", "7"), "that of one task"),
        (("status", "9"), "there is no task 9"),
    ],
)
def test_what_cannot_be_done_is_refused(cli: Cli, place: Chained, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing changes."""
    place.output()
    assert what in cli.refused("chain", *arguments)


def test_part_of_an_output_is_written(cli: Cli, place: Chained) -> None:
    """A part comes from a file or from standard input; what it says is data, and a dry run writes nothing."""
    where = STATE.format(101)
    command = ("chain", "output", "set", "101")
    before = tree(place.root)
    assert "+print()\n" in cli.ok(*command, "summary", "--from", "app.py", "--dry-run")
    assert tree(place.root) == before
    assert cli.ok(*command, "files", "--from", "-", stdin="- `app.py`\n\n## 7. More\n") == (
        f"{where}: Files Created/Modified written\n"
    )
    data = cli.json(*command, "Integration Notes for Downstream Tasks", "--from", "-", stdin="Call verify().\n")
    assert (data["part"], data["changed"]) == ("Integration Notes for Downstream Tasks", True)
    cli.ok(*command, "summary", "--from", "app.py")
    assert cli.ok("chain", "output", "101") == (
        "### Summary\n\nprint()\n\n### Files Created/Modified\n\n- `app.py`\n\n\\## 7. More\n\n"
        "### Integration Notes for Downstream Tasks\n\nCall verify().\n"
    )
    place.write("101", "status: created", "status: complete")
    assert "taskstate reopen 101" in cli.refused(*command, "summary", "--from", "app.py")


def test_task_with_the_name_of_the_action(cli: Cli, place: Chained) -> None:
    """A task whose id is `set` is named with #."""
    place.new("set", title="Sets")
    assert "task set has no output" in cli.refused("chain", "output", "#set")


def test_upstream_that_does_not_parse_is_one_error(cli: Cli, place: Chained) -> None:
    """A torn upstream file is reported once, with its place, by every command that needs it; nothing changes."""
    place.write("101", "title: JWT Service", "title: [")
    for command in (("chain", "pull", "102"), ("new", "7", "--title", "T", "--depends-on", "101")):
        assert ".taskstate/tasks/task-101-state.md, line " in cli.refused(*command)
    result = cli("chain", "status", "102")
    assert (result.status, "101  unreadable  .taskstate/tasks/task-101-state.md, line " in result.out) == (1, True)

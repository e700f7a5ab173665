from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.chained import Chained
from tests.support.place import tree

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

STATE = ".taskstate/tasks/task-101-state.md"
COMMAND = '`taskstate complete 101 --force --note "WHY"`'


@pytest.fixture
def place(tmp_path: Path) -> Chained:
    """Return a repository in which 102 depends on 101."""
    return Chained(tmp_path / "repository")


def test_all_that_is_missing_is_listed(cli: Cli, place: Chained) -> None:
    """Each thing that is missing has a line on standard error, and one more says what to do; nothing changes."""
    place.output()
    before = tree(place.root)
    result = cli("complete", "101")
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        "  feature jwt-1 does not pass: makes a JWT\n"
        "  criterion 1 is not checked: Tokens verify\n"
        "  criterion 2 is not checked: Tokens expire\n"
        "taskstate: task 101 cannot be completed, 3 things are missing: do that (`criterion check`, "
        "`feature pass` and `chain output set` record it), or say why not: "
        f"{COMMAND}\n"
    )
    assert cli("complete", "101", "--quiet").err == result.err
    in_json = cli("complete", "101", "--format", "json")
    envelope = json.loads(in_json.out)
    assert (in_json.status, envelope["code"]) == (2, "incomplete")
    assert "3 things are missing: feature jwt-1 does not pass: makes a JWT; criterion 1" in envelope["error"]
    assert tree(place.root) == before


def test_task_is_completed_and_reopened(cli: Cli, place: Chained) -> None:
    """A finished task is completed, its output is handed down, all lints, and it can be reopened."""
    place.finish()
    assert cli.ok("complete", "101") == (
        f"{STATE}: complete\n  handed the output to .taskstate/tasks/task-102-state.md\n"
    )
    assert place.inputs() == [("101", 5)]
    assert cli.ok("lint") == "No findings in 2 files.\n"
    assert cli.ok("fmt", "--check") == "2 files already in form\n"
    assert "task 101 is complete already" in cli.refused("complete", "101")
    data = cli.json("reopen", "101", "--note", "-", stdin="tokens never\nexpire\n")
    assert (data["path"], data["changed"], data["revision"][:2]) == (STATE, True, "6-")
    assert 'note: "tokens never\\nexpire"' in place.text
    assert cli.ok("lint") == "No findings in 2 files.\n"
    assert cli.json("complete", "101")["revision"].startswith("7-")


def test_reopened_task_is_told(cli: Cli, place: Chained) -> None:
    """Who holds what was handed down is reported."""
    place.finish()
    place.complete()
    assert cli.ok("reopen", "101", "--note", "x").startswith(
        f"{STATE}: in progress again\n  .taskstate/tasks/task-102-state.md keeps the old output"
    )
    assert "task 101 is in_progress, and neither complete nor dropped" in cli.refused("reopen", "101", "--note", "x")


def test_missing_things_are_let_pass_with_a_reason(cli: Cli, place: Chained) -> None:
    """With --force and a reason the task is completed, what was missing is reported, and the linter is content."""
    out = cli.ok("complete", "101", "--force", "--note", "102 does it")
    assert out.startswith(f"{STATE}: complete\n  waived: feature jwt-1 does not pass: makes a JWT\n")
    assert "event: waived" in place.text
    assert cli.ok("lint") == "No findings in 2 files.\n"


def test_dry_run_changes_nothing(cli: Cli, place: Chained) -> None:
    """A dry run prints what would change in each file."""
    place.finish()
    before = tree(place.root)
    out = cli.ok("complete", "101", "--dry-run")
    assert (out.count("\n+++ b/"), "+status: complete\n" in out) == (2, True)
    assert "-status: created\n" in out
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("complete",), "required: ID"),
        (("complete", "9"), "there is no task 9"),
        (("complete", "101", "--force"), "complete --force needs a reason"),
        (("complete", "101", "--note", "x"), "--note is the reason for --force"),
        (("complete", "101", "--force", "--note", " "), "--note is empty"),
        (("complete", "101", "--force", "--note", "\x1b"), "U+001B"),
        (("complete", "101", "--expect-revision", "9"), "is at revision 1-"),
        (("reopen", "101"), "required: --note"),
        (("reopen", "101", "--note", ""), "--note is empty"),
        (("reopen", "101", "--note", "x"), "task 101 is created, and neither complete nor dropped"),
        (("reopen", "9", "--note", "x"), "there is no task 9"),
    ],
)
def test_what_cannot_be_done_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing changes."""
    assert what in cli.refused(*arguments)

from __future__ import annotations

import re
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

PATH = ".taskstate/tasks/task-101-state.md"
BEGIN = ("role", "set", "101", "implementer", "--status", "in_progress")


@pytest.fixture(autouse=True)
def begun(place: Place) -> None:
    """Have the task in progress."""
    place.add("Began.")


def test_a_role_begins_is_blocked_and_goes_on(cli: Cli) -> None:
    """Each step is reported, and shown."""
    assert cli.ok(*BEGIN) == f"{PATH}: implementer is in progress\n"
    block = ("role", "block", "101", "implementer", "--finding")
    assert cli.ok(*block, "no test") == f"{PATH}: implementer is blocked\n"
    assert cli.ok(*block, "-", stdin="no docs\n") == f"{PATH}: implementer is blocked\n"
    shown = re.sub(r"\S+ \S+Z  ", "", cli.ok("role", "show", "101"))
    assert shown.endswith(
        "\nfindings of implementer:\n  1. no test\n    somebody  raised\n  2. no docs\n    somebody  raised\n"
    )
    unblock = ("role", "unblock", "101", "implementer")
    assert cli.ok(*unblock, "--finding", "no test") == (
        f"{PATH}: a finding of implementer withdrawn\n  implementer is still blocked, by 1 finding\n"
    )
    assert cli.ok(*unblock, "--all") == f"{PATH}: all findings of implementer withdrawn\n"
    (role, *_) = cli.json("role", "show", "101")["roles"]
    assert (role["status"], role["findings"]) == ("in_progress", [])
    assert cli.ok("lint") == "No findings in 1 file.\n"


def test_what_was_done_is_told_to_programs(cli: Cli) -> None:
    """With the role, the status and what every writer tells."""
    data = cli.json(*BEGIN, "--session-id", "s-1")
    assert (data["path"], data["changed"], data["role"], data["status"]) == (PATH, True, "implementer", "in_progress")
    shown = cli.json("role", "show", "101")
    assert (shown["id"], shown["path"]) == ("101", PATH)
    assert [role["role"] for role in shown["roles"]] == ["implementer", "reviewer", "validator"]
    assert shown["roles"][0]["session_id"] == "s-1"
    assert cli.json(*BEGIN)["changed"] is False


def test_a_role_is_given_back(cli: Cli, place: Place) -> None:
    """As long as it has left nothing, it can be pending again."""
    cli.ok(*BEGIN)
    cli.ok("role", "set", "101", "implementer", "--status", "pending")
    assert "  implementer: {status: pending}\n" in place.text


def test_dry_run_shows_and_writes_nothing(cli: Cli, place: Place) -> None:
    """Neither the state file nor the log of the checks."""
    before = place.text
    output = cli.ok(*BEGIN, "--qa-log", "-", "--dry-run", stdin="a log")
    assert "+  implementer: {status: in_progress, qa_log_sha256:" in output
    assert place.text == before
    assert not (place.workspace.state_root / "artifacts/task-101").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("set", "101", "reviewer", "--status", "in_progress"), "reviewer cannot begin while implementer is pending"),
        (("set", "101", "reviewer", "--status", "done"), "reviewer cannot be done while implementer is pending"),
        (("set", "101", "implementer", "--status", "blocked"), "a role is blocked by a finding, not by its status"),
        (("set", "101", "implementr", "--status", "done"), "did you mean implementer?"),
        (("set", "999", "implementer", "--status", "done"), "there is no task 999"),
        (("set", "101", "implementer", "--status", "pending", "--session-id", ""), "the session's id is empty"),
        (("set", "101", "implementer", "--status", "in_progress", "--qa-log", "no.log"), "no.log"),
        (("block", "101", "reviewer", "--finding", "x"), "reviewer cannot begin while implementer is pending"),
        (("block", "101", "implementer", "--finding", "x" * 501), "501 characters, and 500 are the most"),
        (("unblock", "101", "implementer", "--finding", "x"), "implementer has no finding 'x': it has none"),
        (("unblock", "101", "implementer"), "one of --finding, --all is missing"),
        (("reopen", "101", "implementer", "--note", "x"), "implementer is pending, so there is nothing to reopen"),
        (("reopen", "101", "implementer"), "the following arguments are required: --note"),
        (("show", "999"), "there is no task 999"),
    ],
)
def test_what_cannot_be_done_is_one_line(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    """The refusal says why, with status 2, and nothing is changed."""
    assert message in cli.refused("role", *arguments)


def begin_history(place: Place) -> None:
    """Make a git repository with one commit of the place."""
    for command in (("init", "-q"), ("config", "user.name", "x"), ("config", "user.email", "x@example.invalid")):
        subprocess.run(["git", *command], cwd=place.root, check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "begin"], cwd=place.root, check=True)


def test_the_cure_of_a_step_that_is_too_early_works(cli: Cli, place: Place) -> None:
    """It is the next command of the first role that is not done, until the last role is reached by cures alone."""
    begin_history(place)
    (place.root / "app.py").write_text("done\n", encoding="utf-8")
    for _ in range(7):
        refused = cli("role", "set", "101", "validator", "--status", "in_progress")
        if not refused.status:
            break
        cli.ok(*shlex.split(refused.err.split("first `")[1].split("`")[0])[1:])
    shown = cli.json("role", "show", "101")["roles"]
    assert [role["status"] for role in shown] == ["done", "done", "in_progress"]


def test_another_revision_is_refused(cli: Cli) -> None:
    """As every writer does, and before anything is verified."""
    assert "is at revision 2-" in cli.refused(*BEGIN, "--expect-revision", "1")


def test_drift_is_refused_told_and_counted(cli: Cli, place: Place) -> None:
    """The next role does not begin on a tree that a user edited; lint and status say so until it is resolved."""
    begin_history(place)
    cli.ok(*BEGIN)
    file = place.root / "a.py"
    file.write_text("a = 1\n", encoding="utf-8")
    cli.ok("snapshot", "take", "101", "--role", "implementer")
    cli.ok("role", "set", "101", "implementer", "--status", "done")
    file.write_text("a = 2\n", encoding="utf-8")
    result = cli("role", "set", "101", "reviewer", "--status", "in_progress")
    assert (result.status, result.out, result.err.count("\n")) == (2, "", 1)
    assert "a.py" in result.err
    assert "TS703" in cli("lint").out
    assert "  drift     101   a.py is not what somebody left " in cli.ok("status")
    message = cli.refused("role", "set", "101", "reviewer", "--status", "in_progress")
    assert "taskstate snapshot resolve 101" in message
    cli.ok("snapshot", "resolve", "101", "--note", "as it should be")
    cli.ok("role", "set", "101", "reviewer", "--status", "in_progress")
    assert "[x] implementer done  [>] reviewer in progress  [ ] validator" in cli.ok("status", "101")

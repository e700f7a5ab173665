from __future__ import annotations

import hashlib
import re
import shlex
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def feature(place: Place, name: str = "jwt-1") -> dict[str, Any]:
    """Return a feature as stored in the checklist."""
    assert place.state.checklist
    (feature,) = (each for each in place.state.checklist.features if each.id == name)
    result: dict[str, Any] = feature.node.value()
    return result


def test_feature_is_added_passes_and_fails(cli: Cli, place: Place) -> None:
    """Each step is reported, and is in the checklist."""
    where = ".taskstate/tasks/task-101-state.md: feature"
    assert cli.ok("feature", "add", "101", "a-1", "does it") == f"{where} a-1 added\n"
    assert cli.ok("feature", "pass", "101", "a-1", "--evidence", "seen") == f"{where} a-1 passes\n"
    assert feature(place, "a-1")["evidence"] == "seen"
    assert cli.ok("feature", "fail", "101", "a-1") == f"{where} a-1 does not pass\n"
    assert (feature(place, "a-1")["passes"], feature(place, "a-1")["evidence"]) == (False, "does not pass")
    assert cli.json("feature", "fail", "101", "a-1", "--evidence", "-", stdin="broke")["changed"] is True
    assert feature(place, "a-1")["evidence"] == "broke"


def test_dash_reads_standard_input(cli: Cli, place: Place) -> None:
    """`-` stands for the text on standard input."""
    cli.ok("feature", "add", "101", "a-1", "-", stdin="does it\n")
    cli.ok("feature", "pass", "101", "a-1", "--evidence", "-", stdin="two\r\nlines\n")
    assert (feature(place, "a-1")["description"], feature(place, "a-1")["evidence"]) == ("does it", "two\nlines")


def test_command_that_succeeds_is_the_evidence(cli: Cli, place: Place) -> None:
    """The command is run in the repository's root, and kept with its status and the hash of what it printed."""
    cli.ok("feature", "pass", "101", "jwt-1", "--run", "pwd; echo oops >&2")
    log = f"{place.root}\noops\n".encode()
    assert feature(place)["evidence"] == {
        "command": "pwd; echo oops >&2",
        "exit_status": 0,
        "log_sha256": hashlib.sha256(log).hexdigest(),
        "tail": log.decode().strip(),
    }
    name = f"feature-jwt-1-{hashlib.sha256(log).hexdigest()[:8]}.log.gz"
    assert (place.root / ".taskstate/artifacts/task-101" / name).exists()
    assert cli.ok("lint") == "No findings in 1 file.\n"


def test_evidence_is_told_to_programs(cli: Cli) -> None:
    """A program gets what was recorded."""
    data = cli.json("feature", "pass", "101", "jwt-1", "--run", "echo fine")
    assert (data["feature"], data["passes"], data["evidence"]["tail"]) == ("jwt-1", True, "fine")


def test_end_of_what_a_failing_command_printed_is_told(cli: Cli, place: Place) -> None:
    """Whoever has to fix it sees what the command said, but for credentials and escapes."""
    before = place.text
    result = cli("feature", "pass", "101", "jwt-1", "--run", "printf '\\033[1mwhy not\\n'; false")
    assert (result.status, result.out, result.err.splitlines()[0]) == (2, "", "why not")
    assert place.text == before
    assert not (place.root / ".taskstate/artifacts/task-101").exists()
    assert cli("feature", "pass", "101", "jwt-1", "--run", "echo why; false", "--quiet").err.count("\n") == 1


def test_credential_in_the_log_is_masked(cli: Cli, place: Place) -> None:
    """What looks like a credential is not taken over from what a command printed."""
    (place.root / "log").write_text("key ghp_" + "Ab1cD2eF3g" * 4, encoding="utf-8")
    cli.ok("feature", "pass", "101", "jwt-1", "--run", "cat log")
    assert feature(place)["evidence"]["tail"] == "key " + "*" * 44


def test_commit_is_evidence(cli: Cli, place: Place) -> None:
    """A commit that is here is kept with its whole id; another one is refused."""
    assert "there is no commit HEAD here" in cli.refused("feature", "pass", "101", "jwt-1", "--commit", "HEAD")
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@example.invalid commit -qm start"):
        subprocess.run(["git", *command.split()], cwd=place.root, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=place.root, check=True, capture_output=True, text=True)
    cli.ok("feature", "pass", "101", "jwt-1", "--commit", head.stdout[:8])
    assert feature(place)["evidence"] == {"commit": head.stdout.strip()}
    for wrong in ("beefbeef", "--all", "HEAD:taskstate.toml", ""):
        result = cli("feature", "pass", "101", "jwt-1", f"--commit={wrong}")
        assert (result.status, result.err.count("\n")) == (2, 1)


def test_command_has_its_time(cli: Cli) -> None:
    """A command that takes longer than it may is no evidence."""
    what = cli.refused("feature", "pass", "101", "jwt-1", "--run", "sleep 30", "--timeout", "0.2")
    assert "`sleep 30` had not ended after 0.2 seconds" in what
    assert "--timeout" in cli.refused("feature", "pass", "101", "jwt-1", "--run", "true", "--timeout", "0")
    assert "--timeout" in cli.refused("feature", "pass", "101", "jwt-1", "--evidence", "x", "--timeout", "3")


def test_command_that_fails_records_nothing(cli: Cli) -> None:
    """A feature whose command fails is not recorded as passing, and the status is reported."""
    message = cli.refused("feature", "pass", "101", "jwt-1", "--run", "exit 7")
    assert "`exit 7` exited with status 7" in message
    assert "taskstate feature fail 101 jwt-1" in message


def test_command_is_not_run_for_a_feature_that_is_not_there(cli: Cli, place: Place) -> None:
    """Before anything is run, the feature is looked for."""
    cli.refused("feature", "pass", "101", "jwt-9", "--run", "touch ran")
    assert not (place.root / "ran").exists()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "required: ACTION"),
        (("remove", "101", "jwt-1"), "unknown action"),
        (("add", "101", "a-1"), "required: TEXT"),
        (("add", "101", "jwt-1", "x"), "has a feature jwt-1 already"),
        (("add", "101", "a b", "x"), "is not an id of a feature"),
        (("add", "101", "a-1", ""), "is empty"),
        (("add", "101", "a-1", "a\nb"), "several lines"),
        (("add", "101", "a-1", "\x1b"), "U+001B"),
        (("add", "999", "a-1", "x"), "there is no task 999"),
        (("pass", "101", "jwt-1"), "one of --evidence, --run, --commit is missing"),
        (("pass", "101", "jwt-1", "--evidence", "x", "--run", "y"), "--evidence does not go with --run"),
        (("pass", "101", "jwt-1", "--evidence", ""), "--evidence is empty"),
        (("pass", "101", "jwt-1", "--evidence", "\x07"), "U+0007"),
        (("pass", "101", "jwt-1", "--run", ""), "--run is empty"),
        (("pass", "101", "jwt-1", "--run", "a\nb"), "--run has several lines"),
        (("pass", "101", "jwt-2", "--evidence", "x"), "did you mean jwt-1?"),
        (("pass", "101", "jwt-1", "--evidence", "x", "--expect-revision", "2"), "is at revision 1-"),
        (("fail", "101", "nope"), "has no feature nope"),
        (("fail", "101", "nope,jwt-1"), "has no feature nope,jwt-1: name one feature at a time"),
        (("fail", "101", "\x1b[31m"), "has no feature \\x1b[31m"),
        (("fail", "101"), "required: FID"),
    ],
)
def test_what_cannot_be_recorded_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing changes."""
    assert what in cli.refused("feature", *arguments)


def test_dry_run_prints_the_diff(cli: Cli, place: Place) -> None:
    """A dry run prints the diff, and changes nothing."""
    before = place.text
    diff = cli.ok("feature", "pass", "101", "jwt-1", "--evidence", "seen", "--dry-run")
    assert '-  "overall_progress": "0%"\n+  "overall_progress": "100%"\n' in diff
    assert place.text == before


def test_the_cure_of_a_complete_task_reopens_it_first(cli: Cli, place: Place) -> None:
    """A feature without its time is proved by the two commands that the finding prints, in their order."""
    place.text = place.text.replace("status: created", "status: complete").replace(
        '"passes": false', '"passes": true', 1
    )
    help_ = next(each["help"] for each in cli.json("lint", status=1)["findings"] if each["code"] == "TS303")
    commands = re.findall(r"`taskstate ([^`]+)`", help_)
    assert [each.split()[0] for each in commands] == ["reopen", "feature"]
    for each in commands:
        cli.ok(*shlex.split(each.replace("WHY", "proved").replace("TEXT", "seen")))
    assert "TS303" not in cli("lint").out

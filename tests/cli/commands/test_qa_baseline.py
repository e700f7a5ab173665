from __future__ import annotations

import gzip
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from taskstate.model.write_metadata import front_matter_values
from taskstate.syntax.document import parse
from tests.support.git_place import GitPlace
from tests.support.place import Place, tree
from tests.support.processes import is_gone
from tests.support.turns import Turns

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

GOOD = "==== 42 passed in 1.20s ===="
BAD = "==== 1 failed, 41 passed in 1.20s ===="


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the user a state folder in which nothing is remembered yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def allow(place: Place, *commands: str, more: str = "") -> None:
    """Configure commands, and trust them."""
    listed = ", ".join(f"'{each}'" for each in commands)
    place.configure(f'[validation]\n"*" = [{listed}]\n{more}')
    place.trust()


def test_commands_are_run_and_recorded(cli: Cli, place: Place) -> None:
    """The results become the baseline, and the log is kept; an exit status of 0 also where a check fails."""
    allow(place, f'echo "{GOOD}"', "exit 3")
    assert cli.ok("qa", "baseline", "101") == (
        ".taskstate/tasks/task-101-state.md: baseline recorded\n"
        f'  echo "{GOOD}"  ok    42 passed\n'
        "  exit 3                               FAIL  exit status 3\n"
    )
    block = front_matter_values(parse(place.text))["baseline"]
    assert isinstance(block, dict)
    assert block["results"] == {
        f'echo "{GOOD}"': {"ok": True, "text": "42 passed"},
        "exit 3": {"ok": False, "text": "exit status 3"},
    }
    name = f"qa-baseline-{str(block['log_sha256'])[:8]}.log.gz"
    log = gzip.decompress((place.workspace.state_root / "artifacts/task-101" / name).read_bytes())
    assert log.decode() == f'$ echo "{GOOD}"\n{GOOD}\n(exit status 0)\n$ exit 3\n\n(exit status 3)\n'
    assert cli.ok("lint") == "No findings in 1 file.\n"


def test_baseline_is_a_fixed_point(cli: Cli, place: Place) -> None:
    """Nothing replaces it, nor runs, but with a reason, which is an event; the same log again is no other baseline."""
    allow(place, "echo x >> ran; cat ran")
    (place.root / "good.log").write_text(GOOD, encoding="utf-8")
    (place.root / "bad.log").write_text(BAD, encoding="utf-8")
    cli.ok("qa", "record", "101", "--from", "good.log")
    assert "nothing to change" in cli.ok("qa", "record", "101", "--from", "good.log")
    assert "nothing to change" in cli.ok("qa", "baseline", "101", "--qa-log", "good.log")
    for arguments in (("record", "101", "--from", "bad.log"), ("baseline", "101", "--qa-log", "bad.log")):
        error = cli.refused("qa", *arguments)
        assert 'if it was wrong, replace it: `taskstate qa baseline 101 --redo --note "WHY"`' in error
    assert "has the baseline of" in cli.refused("qa", "baseline", "101")
    assert not (place.root / "ran").exists()
    assert "--redo needs --note" in cli.refused("qa", "baseline", "101", "--redo")
    assert "has the baseline of" in cli.refused("qa", "baseline", "101", "--note", "why")
    out = cli.ok("qa", "baseline", "101", "--redo", "--note", "it was of another branch")
    assert "  it replaces the baseline of " in out
    cli.ok("qa", "baseline", "101", "--qa-log", "bad.log", "--redo", "--note", "again")
    audit = front_matter_values(parse(place.text))["audit"]
    assert isinstance(audit, dict)
    assert [(each["event"], each["actor"], each["note"]) for each in audit["events"]] == [
        ("baseline-redone", "somebody", "it was of another branch"),
        ("baseline-redone", "somebody", "again"),
    ]
    assert len(list((place.workspace.state_root / "artifacts/task-101").iterdir())) == 1


def test_a_role_may_record_again(cli: Cli, place: Place) -> None:
    """Only the baseline is fixed: what a role found is replaced by what it finds later."""
    for text in (GOOD, BAD):
        (place.root / "qa.log").write_text(text, encoding="utf-8")
        cli.ok("qa", "record", "101", "--role", "reviewer", "--from", "qa.log")
    assert '"41 passed, 1 failed"' in place.text


def test_without_commands(cli: Cli) -> None:
    """Where nothing is to be run, the way with a log is named."""
    assert "neither task 101 nor the configuration names validation commands" in cli.refused("qa", "baseline", "101")
    assert "--result needs --qa-log" in cli.refused("qa", "baseline", "101", "--result", "a=1")


def test_time_limit_of_the_configuration(cli: Cli, place: Place) -> None:
    """A command may take as long as the configuration says."""
    allow(place, "sleep 60", more="[validation-run]\ntimeout = 1\n")
    assert "FAIL  timed out after 1 s\n" in cli.ok("qa", "baseline", "101")


def test_secret_in_the_output_is_no_obstacle(cli: Cli, place: Place) -> None:
    """The log is masked before it is kept, so that a long run is not refused for it."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    allow(place, f"echo {key[:4]}{key[4:]}")
    cli.ok("qa", "baseline", "101")
    assert key not in place.text
    (log,) = (place.workspace.state_root / "artifacts/task-101").iterdir()
    assert key.encode() not in gzip.decompress(log.read_bytes())


def test_files_that_the_commands_change_are_named(repository: Path, cli: Cli) -> None:
    """Tracked ones in a warning, untracked ones in a note; to programs as a list."""
    place = Place(repository)
    (repository / "a.txt").write_text("x\n", encoding="utf-8")
    for command in (("add", "--all"), ("commit", "--quiet", "--message", "x")):
        subprocess.run(["git", *command], cwd=repository, check=True)
    allow(place, "echo x >> a.txt; touch new.txt")
    cli.monkeypatch.chdir(repository)
    result = cli("qa", "baseline", "101")
    assert (result.status, result.err) == (0, "warning: the commands changed tracked files: a.txt\n")
    assert "  they left untracked files: new.txt\n" in result.out
    data = cli.json("qa", "baseline", "101", "--redo", "--note", "clean")
    assert data["changed_files"] == ["a.txt"]


def test_interrupted_run_leaves_nothing(repository: Path) -> None:
    """Ctrl-C ends the command and its children with status 130; neither a baseline nor a file of ours stays."""
    place = Place(repository)
    allow(place, "sleep 60 & echo $! > .git/child; sleep 61", "touch .git/second")
    before = tree(place.root)
    process = subprocess.Popen(
        [sys.executable, "-m", "taskstate", "qa", "baseline", "101"],
        cwd=place.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    child = place.root / ".git" / "child"
    deadline = time.monotonic() + 30
    while not (child.exists() and child.read_text()) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")
    assert tree(place.root) == before
    assert is_gone(int(child.read_text()))
    assert not (place.root / ".git" / "second").exists()


def test_a_baseline_after_the_work_hides_nothing(tmp_path: Path, cli: Cli) -> None:
    """It wants a reason, is an event, says that it is late, and what fails in it holds the gate until it is waived."""
    turns = Turns(cli)
    cli.place = GitPlace(tmp_path / "late")
    cli.monkeypatch.chdir(cli.place.root)
    turns.check("test ! -e broken")
    cli.ok("trust", "--revoke")
    turns.start("implementer")
    turns.place.trust()
    turns.place.write("broken", "")
    assert "was not checked before, and fails" in turns.fails("Broke it.").err
    (tmp_path / "bad.log").write_text(BAD, encoding="utf-8")
    for arguments in (("baseline", "101"), ("record", "101", "--from", str(tmp_path / "bad.log"))):
        error = cli.refused("qa", *arguments)
        assert "work has begun (1 file not as in the base commit), so a baseline taken now is late" in error
        assert 'add --note "WHY"' in error
    assert "  it is late (" in cli.ok("qa", "baseline", "101", "--note", "trust came late")
    assert turns.place.values["baseline"]["late"] is True
    assert turns.events == ["baseline-late"]
    assert "fails, and the baseline is late" in turns.fails("Broke it.").err
    turns.place.write("broken-else", "")
    cli.ok("qa", "baseline", "101", "--redo", "--note", "again")
    assert turns.place.values["baseline"]["late"] is True
    assert "waived: sh check.sh" in turns.finish("Broke it.", "--waive", "sh check.sh", "--note", "known")
    assert cli.ok("lint") == "No findings in 1 file.\n"


def test_a_baseline_of_the_base_is_not_late(tmp_path: Path, cli: Cli) -> None:
    """However late it is taken: the tree decides, and the log of the checks is no work though it lies in the tree."""
    turns = Turns(cli)
    cli.place = GitPlace(tmp_path / "early")
    cli.monkeypatch.chdir(cli.place.root)
    turns.start("implementer")
    turns.place.write("qa.log", BAD)
    cli.ok("qa", "record", "101", "--from", "qa.log")
    assert "late" not in turns.place.values["baseline"]

from __future__ import annotations

import hashlib
import re
import time
from typing import TYPE_CHECKING

import pytest

from taskstate.evidence import command_evidence
from taskstate.evidence.command_evidence import CommandResult, log_stem, run_command
from taskstate.workspace import artifacts
from tests.support.place import Place, refusal
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("command", "status", "log"),
    [
        ("true", 0, b""),
        ("echo out; echo err >&2", 0, b"out\nerr\n"),
        ("printf '\\377\\033'; exit 3", 3, b"\xff\x1b"),
        ("cat", 0, b""),
        ("no-such-program 2>/dev/null", 127, b""),
        ("kill -9 $$", -9, b""),
        ("exec >&- 2>&-; exit 4", 4, b""),
    ],
)
def test_command_is_run_and_remembered(tmp_path: Path, command: str, status: int, log: bytes) -> None:
    """A command is kept with its exit status and all that it printed; it reads nothing."""
    assert run_command(tmp_path, command) == CommandResult(command, status, log)


def test_command_runs_in_the_root(tmp_path: Path) -> None:
    """A relative path in a command is one from the repository's root."""
    run_command(tmp_path, "touch here")
    assert (tmp_path / "here").exists()


def test_evidence_has_status_hash_and_tail(tmp_path: Path) -> None:
    """The checklist keeps the command, its status, the hash of the whole log, and the log's end where there is one."""
    evidence = run_command(tmp_path, "seq 1 1000").evidence()
    log = "".join(f"{number}\n" for number in range(1, 1001)).encode()
    tail = str(evidence.pop("tail"))
    assert evidence == {"command": "seq 1 1000", "exit_status": 0, "log_sha256": hashlib.sha256(log).hexdigest()}
    assert tail.endswith("\n999\n1000")
    assert 490 < len(tail) <= 500
    assert log.decode().endswith(f"\n{tail}\n")
    assert "tail" not in run_command(tmp_path, "echo; true").evidence()


@pytest.mark.parametrize(
    ("log", "tail"),
    [
        (b"\x1b[31;1mred\x1b[0m\r\nok\x07\x00\n", "red\nok"),
        (b"\x1b]0;title\x07x\n", "x"),
        (b"a\tb\n\n", "a b"),
        (b"\n\n  indented\n  too  \n", "  indented\n  too"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"token ghp_" + b"Ab1cD2eF3g" * 4 + b"\n", "token " + "*" * 44),
        (b"x" * 2000, "x" * 500),
        (b"y\n" + b"x" * 501, "x" * 500),
        (b"y\n" + b"x" * 499, "x" * 499),
    ],
)
def test_tail_is_harmless(log: bytes, tail: str) -> None:
    """The end of a log has no escapes, controls or credentials, and begins with a whole line where it can."""
    assert CommandResult("c", 0, log).tail() == tail


def test_what_the_configuration_allows_is_no_secret() -> None:
    """A value that a project says is none stays as it is."""
    token = b"ghp_" + b"Ab1cD2eF3g" * 4
    assert CommandResult("c", 0, token).tail(("^ghp_Ab1",)) == token.decode()


def test_a_private_key_that_begins_before_the_tail_is_masked() -> None:
    """A credential is looked for in more than what is kept."""
    key = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEpAIBAAKCAQEA0123456789abcdefghij\n" * 30
    tail = CommandResult("c", 0, f"{key}-----END RSA PRIVATE KEY-----\nok\n".encode()).tail()
    assert "MII" not in tail
    assert tail.endswith("\nok")


def test_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    """After its time a command is ended with all that it started, and the error says so."""
    error = refusal(lambda: run_command(tmp_path, "sleep 60 & echo $! > pid; sleep 61", timeout=0.3))
    assert (error.code, "`sleep 60 &" in error.message, "0.3 seconds" in error.message) == ("timeout", True, True)
    pid = int((tmp_path / "pid").read_text())
    assert is_gone(pid)


def test_command_that_closes_its_output_has_its_time_too(tmp_path: Path) -> None:
    """The time counts also where nothing is printed any more."""
    assert refusal(lambda: run_command(tmp_path, "exec >&- 2>&-; sleep 60", timeout=0.2)).code == "timeout"


def test_command_that_never_stops_printing_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than may be kept is not kept, and the command is ended."""
    monkeypatch.setattr(command_evidence, "MAX_BYTES", 2 * 1024**2)
    error = refusal(lambda: run_command(tmp_path, "yes"))
    assert (error.code, "more than 2 MiB" in error.message) == ("too-large", True)


def test_what_goes_on_in_the_background_is_not_waited_for(tmp_path: Path) -> None:
    """What a command leaves running holds nothing up, quiet or not, and is ended; the command's own status counts."""
    for left in ("sleep 30", "(while :; do echo x; sleep .02; done)", "yes x"):
        begun = time.monotonic()
        ran = run_command(tmp_path, f"{left} & echo $! > pid; echo done; exit 3", timeout=20)
        assert (ran.exit_status, b"done\n" in ran.log) == (3, True)
        assert time.monotonic() - begun < 10
        assert is_gone(int((tmp_path / "pid").read_text()))


def test_log_has_a_safe_name() -> None:
    """Whatever a feature is called, its log is a plain file among the artifacts, and no other feature's."""
    assert log_stem("jwt-1") == "feature-jwt-1"
    assert re.fullmatch(r"feature-a_\.\._b-[0-9a-f]{8}", log_stem("a/../b"))
    assert len({log_stem("a/b"), log_stem("a_b"), log_stem("a\u00e9b"), log_stem("a\\b")}) == 4


def test_log_is_kept_as_an_artifact(tmp_path: Path) -> None:
    """The whole log lies among the task's artifacts, packed, and its hash is in the checklist."""
    from taskstate.tasks import checklist

    place = Place(tmp_path / "r")
    ran = run_command(place.root, "seq 1 9")
    tested = checklist.FeatureResult(passes=True, evidence=ran.evidence(), log=ran.log)
    checklist.set_feature(place.workspace, "101", "jwt-1", tested, place.request(dry_run=True))
    path = f"artifacts/task-101/feature-jwt-1-{hashlib.sha256(ran.log).hexdigest()[:8]}.log.gz"
    assert artifacts.read(place.workspace, path) is None
    refusal(lambda: checklist.set_feature(place.workspace, "101", "jwt-1", tested, place.request(expect="99")))
    assert artifacts.read(place.workspace, path) is None
    checklist.set_feature(place.workspace, "101", "jwt-1", tested, place.request())
    packed = artifacts.read(place.workspace, path)
    assert packed
    assert artifacts.gunzipped(packed, path) == ran.log
    assert place.state.checklist
    assert place.state.checklist.features[0].evidence == ran.evidence()
    again = run_command(place.root, "seq 1 8")
    tested = checklist.FeatureResult(passes=True, evidence=again.evidence(), log=again.log)
    checklist.set_feature(place.workspace, "101", "jwt-1", tested, place.request())
    assert len(list((place.workspace.state_root / "artifacts/task-101").iterdir())) == 1

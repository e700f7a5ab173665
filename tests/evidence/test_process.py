from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from taskstate.evidence.process import Ended, run_in_shell
from tests.support.place import refusal
from tests.support.processes import is_gone

if TYPE_CHECKING:
    from pathlib import Path

RUN = (
    "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # the tests may run under nohup
    "from pathlib import Path; from taskstate.evidence.process import run_in_shell; "
    "run_in_shell(Path(), 'trap \"\" INT TERM HUP; sleep 60 & echo $! > child; echo $$ > pid; sleep 61', print)"
)


def run(root: Path, command: str, timeout: float | None = 20) -> tuple[bytes, Ended]:
    """Return the output of a command, and how it ended."""
    output: list[bytes] = []
    ended = run_in_shell(root, command, output.append, timeout=timeout)
    return b"".join(output), ended


def test_command_that_reads_the_terminal_sees_its_end(tmp_path: Path) -> None:
    """There is nothing to read for a command, neither on standard input nor from the terminal behind it."""
    output, ended = run(tmp_path, "cat; read x < /dev/tty && echo read; read y; echo done")
    assert (b"read\n" in output, output.endswith(b"done\n"), ended) == (False, True, Ended(0))


def test_command_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    """When the time is over, all processes of a command are killed, and what it printed is kept."""
    begun = time.monotonic()
    output, ended = run(tmp_path, "echo begun; trap '' TERM; sleep 60 & echo $! > child; sleep 61", timeout=0.5)
    assert (output, ended.timed_out) == (b"begun\n", True)
    assert time.monotonic() - begun < 10
    assert is_gone(int((tmp_path / "child").read_text()))


def test_command_that_begins_with_a_dash(tmp_path: Path) -> None:
    """No word of a command is an option of the shell."""
    output, ended = run(tmp_path, "-o errexit; echo still here")
    assert output.endswith(b"still here\n")
    assert not ended.exit_status


@pytest.mark.parametrize("command", ["a\0b", "a\ud800b", "x" * 10_000_000])
def test_command_that_the_system_does_not_take(tmp_path: Path, command: str) -> None:
    """A command line that cannot be passed on is one clear error."""
    error = refusal(lambda: run(tmp_path, command))
    assert (error.code, error.message.startswith("the command cannot be started: ")) == ("command", True)


def test_error_of_the_caller_ends_the_command(tmp_path: Path) -> None:
    """If the output cannot be kept, nothing goes on without it."""

    def fail(chunk: bytes) -> None:
        if chunk:
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        run_in_shell(tmp_path, "sleep 60 & echo $! > child; echo x; sleep 61", fail)
    assert is_gone(int((tmp_path / "child").read_text()))


@pytest.mark.parametrize(
    ("sent", "status"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_interrupt_ends_the_command_and_its_children(tmp_path: Path, sent: signal.Signals, status: int) -> None:
    """Ctrl-C, and what else asks the process to end, ends all that a command started, also what ignores it."""
    process = subprocess.Popen([sys.executable, "-c", RUN], cwd=tmp_path, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < until
        time.sleep(0.02)
    process.send_signal(sent)
    assert process.wait(20) == status
    assert all(is_gone(int((tmp_path / name).read_text())) for name in ("pid", "child"))


def test_signal_handlers_are_put_back(tmp_path: Path) -> None:
    """Who asks this process to end later finds it as before."""
    before = [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)]
    run(tmp_path, "true")
    assert [signal.getsignal(each) for each in (signal.SIGTERM, signal.SIGHUP)] == before

"""Runs one shell command in a process group of its own, and ends everything that it started, however it ends.

The command reads nothing: its standard input is empty, and it has no terminal. Its output goes piece by piece to a
function of the caller, which decides how much of it is kept.
"""

from __future__ import annotations

import os
from _contextvars import ContextVar  # `contextvars` only hands it on, and takes its time
from contextlib import contextmanager, suppress

from taskstate.errors import TaskstateError, end
from taskstate.storage import programs
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from threading import Event
    from typing import Any

_CHUNK = 64 * 1024
_POLL = 0.1  # seconds between two checks of a command that prints nothing


# Set by whoever asked for a command in another thread than the main one, where no signal arrives, and gives it up.
given_up: ContextVar[Event | None] = ContextVar("given_up", default=None)


class Ended(NamedTuple):
    """How a command ended: its exit status, negative if a signal ended it, and whether that was for lack of time."""

    exit_status: int
    timed_out: bool = False


def run_in_shell(root: Path, command: str, keep: Callable[[bytes], None], *, timeout: float | None = None) -> Ended:
    """Run `command` in a shell in `root` until it ends or `timeout` seconds are over; `keep` gets its output.

    Processes that it left running in the background are killed afterwards. So is everything if the time is over, if
    `keep` raises, on Ctrl-C, if this process is told to end, and if the one who asked for it has `given_up`.

    Raises:
        TaskstateError: code "command": the system cannot be given such a command line.
    """
    with _interrupts() as interrupts, _started(root, command) as process:
        try:
            interrupts.arm()
            timed_out = _follow(process, keep, timeout)
        finally:
            interrupts.disarm()
            _end(process)
    return Ended(process.returncode, timed_out)


def _started(root: Path, command: str) -> subprocess.Popen[bytes]:
    try:
        return programs.start_in_shell(command, root)
    except (ValueError, OSError) as error:  # a NUL or a lone surrogate in it; too long; no process can be started
        reason = error.strerror if isinstance(error, OSError) else "it holds characters that no command line can"
        raise TaskstateError(f"the command cannot be started: {reason}", help="change it", code="command") from error


def _follow(process: subprocess.Popen[bytes], keep: Callable[[bytes], None], timeout: float | None) -> bool:
    """Hand the output of a process on until it has ended; return whether its time was over before.

    What it left running is killed, once it has ended itself.
    """
    import selectors
    import time

    deadline = float("inf") if timeout is None else time.monotonic() + timeout
    drain_until = float("inf")  # once the process has ended: when to stop reading
    stream = process.stdout.fileno() if process.stdout else -1
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while time.monotonic() <= deadline:
            ready = selector.select(_POLL)
            if (event := given_up.get()) and event.is_set():
                raise KeyboardInterrupt
            chunk = os.read(stream, _CHUNK) if ready else b""
            keep(chunk)
            # A background process that inherited the pipe keeps it open, so end-of-file alone would wait for it without
            # end.
            if drain_until == float("inf") and _has_ended(process):
                _end(process)
                drain_until = time.monotonic() + _POLL
            has_drained = drain_until < float("inf") and (not ready or time.monotonic() > drain_until)
            if (ready and not chunk) or has_drained:
                break
    while not _has_ended(process):
        if time.monotonic() > deadline:
            return True
        time.sleep(_POLL / 10)
    return False


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended, without reaping it where the system allows that."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    # WNOWAIT leaves the ended process unreaped: its process id cannot be reused before `_end` kills its group.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that is not reaped yet, with its whole process group."""
    import signal

    if process.returncode is None:  # not reaped, so the process id is still its own even if it has ended
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where only zombies are left
            os.killpg(process.pid, signal.SIGKILL)


class _Interrupts:
    """Holds the signals that ask this process to end while a command is started and ended, and obeys them in between.

    An exception in the wrong moment would leave the command running.
    """

    def __init__(self, before: dict[int, Any]) -> None:
        self._armed = False
        self._before = before  # what handled each signal
        self._number = 0  # of the signal that was held

    def __call__(self, number: int, _frame: object) -> None:
        """Handle a signal."""
        self._number = number
        if self._armed:
            self.obey()

    def arm(self) -> None:
        """Obey from now on, also a signal that came before."""
        self._armed = True
        self.obey()

    def disarm(self) -> None:
        """Only remember from now on."""
        self._armed = False

    def obey(self) -> None:
        """Leave as the signal that came demands, if there was one."""
        number, self._number = self._number, 0
        handler = self._before.get(number)
        if callable(handler):
            handler(number, None)
        if number:
            raise SystemExit(128 + number)


@contextmanager
def _interrupts() -> Iterator[_Interrupts]:
    """Yield what handles Ctrl-C and the signals that would end this process without a word to the command's group.

    Only where nobody else handles them, and in the main thread, where alone Python allows it.
    """
    import signal
    import threading

    usual = (signal.default_int_handler, signal.SIG_DFL, end)
    is_main = threading.current_thread() is threading.main_thread()
    here = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if is_main and hasattr(signal, name)]
    before = {number: handler for number in here if (handler := signal.getsignal(number)) in usual}
    interrupts = _Interrupts(before)
    for number in before:
        signal.signal(number, interrupts)
    try:
        yield interrupts
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    interrupts.obey()

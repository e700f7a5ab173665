"""Runs one shell command in a process group of its own, and ends everything that it started, however it ends.

The command reads nothing: its standard input is empty, and it has no terminal. Its output goes piece by piece to a
function of the caller, which decides how much of it is kept.
"""

from __future__ import annotations

import os
from _contextvars import ContextVar  # `contextvars` only hands it on, and takes its time
from contextlib import nullcontext
from functools import partial

from taskstate.errors import TaskstateError
from taskstate.storage import programs
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path
    from threading import Event
    from typing import TypeAlias

    # Told of a command that is about to run, and while it does of each piece of its output; an empty one is a moment.
    Following: TypeAlias = Callable[[str], AbstractContextManager[Callable[[bytes], None]]]

_CHUNK = 64 * 1024
_POLL = 0.1  # seconds between two checks of a command that prints nothing


# Set by whoever asked for a command in another thread than the main one, where no signal arrives, and gives it up.
given_up: ContextVar[Event | None] = ContextVar("given_up", default=None)


def unfollowed(_line: str, /) -> AbstractContextManager[Callable[[bytes], None]]:
    """Follow a command where nobody waits."""
    return nullcontext(lambda _: None)


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
    begin, follow = partial(_started, root, command), partial(_followed, keep=keep, timeout=timeout)
    return programs.attended(begin, follow)


def _started(root: Path, command: str) -> subprocess.Popen[bytes]:
    try:
        return programs.start_in_shell(command, root)
    except (ValueError, OSError) as error:  # a NUL or a lone surrogate in it; too long; no process can be started
        reason = error.strerror if isinstance(error, OSError) else "it holds characters that no command line can"
        raise TaskstateError(f"the command cannot be started: {reason}", help="change it", code="command") from error


def _followed(process: subprocess.Popen[bytes], keep: Callable[[bytes], None], timeout: float | None) -> Ended:
    """Follow a process until it has ended or its time is over, and end what is left of it."""
    timed_out = _follow(process, keep, timeout)
    programs.end(process)
    process.wait()
    return Ended(process.returncode, timed_out)


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
                programs.end(process)
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
    # WNOWAIT leaves the ended process unreaped: its process id cannot be reused before `end` kills its group.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

"""Notices that git waits for what never comes: it hangs where a FIFO stands in the place of a file such as .gitignore.

Git may work for minutes without a word, so no time limit would do. But git that does nothing and has started nothing
waits, and what it waits for is nothing that taskstate gives it. This is seen where the system has `/proc`.
"""

from __future__ import annotations

import select
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_PATIENCE = 2_000  # milliseconds; twice as long without any work is in vain
_SLEEPS = "S"  # the state of a thread that waits, but not for a disk
_STATE, _USER_TIME, _SYSTEM_TIME = 0, 11, 12  # fields in `/proc/PID/stat` behind the name


def wait_for_output(process: subprocess.Popen[bytes], name: str) -> None:
    """Return as soon as git says something on standard output, or ends; `name` is how messages call it.

    Raises:
        TaskstateError: code "git-waits": it does nothing; it was ended. This is no `GitFailed`: a command that goes on
            without git's answer would wait again, for the next one.
    """
    if process.stdout is None:
        return
    poller = select.poll()
    poller.register(process.stdout, select.POLLIN | select.POLLHUP)
    before = None
    while not poller.poll(_PATIENCE):
        now = _work_while_idle(process.pid)
        if now is not None and now == before:
            process.kill()
            message = f"git {name} waits for a file that says nothing"
            help_ = "remove the pipes that `find . -type p` lists; git's configuration may name one, too"
            raise TaskstateError(message, code="git-waits", help=help_)
        before = now


def _work_while_idle(pid: int) -> int | None:
    """Return how much a process has worked, in ticks, if it waits now; None if it works, or nobody knows."""
    ticks = 0
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            fields = (thread / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if fields[_STATE] != _SLEEPS or (thread / "children").read_text(encoding="ascii").strip():
                return None
            ticks += int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME])
    except (OSError, ValueError, IndexError):
        return None
    return ticks

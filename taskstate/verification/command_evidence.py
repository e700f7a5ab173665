"""Runs a shell command as evidence for a feature, and keeps its exit status, log and log hash.

The output goes into a temporary file, up to the size that may be kept. Its tail, without terminal escapes and
credentials, becomes part of the evidence itself.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import IO, TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.storage.files import MAX_BYTES, digest
from taskstate.syntax.spans import CONTROLS, with_newlines
from taskstate.validation import secrets

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

_CHUNK = 64 * 1024
_POLL = 0.1  # seconds between two checks of a command that prints nothing
_TAIL = 500  # characters
_TAIL_SOURCE = 64 * 1024  # bytes at the end of the log that the tail is taken from
_ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"


class CommandResult(NamedTuple):
    """A command that has ended; `log` is its whole output, standard output and standard error together."""

    command: str
    exit_status: int
    log: bytes

    def evidence(self, allow: tuple[str, ...] = ()) -> dict[str, object]:
        """Return the evidence for the checklist; values that match `allow` are not masked as secrets."""
        evidence: dict[str, object] = {"command": self.command, "exit_status": self.exit_status}
        evidence["log_sha256"] = digest(self.log)
        tail = self.tail(allow)
        return evidence | ({"tail": tail} if tail else {})

    def tail(self, allow: tuple[str, ...] = ()) -> str:
        """Return the last lines of the log that fit, without escapes, with credentials masked."""
        text = with_newlines(self.log[-_TAIL_SOURCE:].decode(errors="replace"), "\n")
        text = re.sub(CONTROLS, "", re.sub(_ESCAPES, "", text)).replace("\t", " ")
        text = secrets.masked(text, allow).rstrip()
        if len(text) <= _TAIL:
            return text.strip("\n")
        cut = text[-_TAIL:]
        line_end = cut.find("\n")
        return cut[line_end + 1 :].strip("\n") if 0 <= line_end < len(cut) - 1 else cut


def run_command(root: Path, command: str, *, timeout: float | None = None) -> CommandResult:
    """Run `command` in a shell in `root` until it ends.

    Its standard input is empty. Processes that it left running in the background are killed afterwards.

    Raises:
        TaskstateError: code "timeout": it ran longer than `timeout` seconds; code "too-large": it prints more than can
            be kept. It is killed then, with all that it started.
    """
    import subprocess
    import tempfile

    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S602 - running the caller's own command line is what is asked for
            command,
            shell=True,
            cwd=root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that what it starts can be ended with it
        )
        with process:
            try:
                _record(process, log, command, timeout)
            finally:
                _end(process)
        log.seek(0)
        return CommandResult(command, process.returncode, log.read())


def _record(process: subprocess.Popen[bytes], log: IO[bytes], command: str, timeout: float | None) -> None:
    """Copy the output of a process into `log` until it has ended, and kill what it left running."""
    import selectors
    import time

    deadline = None if timeout is None else time.monotonic() + timeout
    drain_until = None  # once the process has ended: when to stop reading
    stream = process.stdout.fileno() if process.stdout else -1
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            ready = selector.select(_POLL)
            chunk = os.read(stream, _CHUNK) if ready else b""
            log.write(chunk)
            if log.tell() > MAX_BYTES:
                message = f"`{command}` prints more than {MAX_BYTES // 1024**2} MiB"
                raise TaskstateError(message, help="have it print less, or into a file", code="too-large")
            # A background process that inherited the pipe keeps it open, so end-of-file alone would wait for it without
            # end.
            if drain_until is None and _has_ended(process):
                _end(process)
                drain_until = time.monotonic() + _POLL
            if (ready and not chunk) or (drain_until is not None and (not ready or time.monotonic() > drain_until)):
                break
            _require_time(deadline, command, timeout)
    while not _has_ended(process):
        time.sleep(_POLL / 10)
        _require_time(deadline, command, timeout)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended, without reaping it where the system allows that."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    # WNOWAIT leaves the ended process unreaped: its process id cannot be reused before `_end` kills its group.
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _require_time(deadline: float | None, command: str, timeout: float | None) -> None:
    import time

    if deadline is not None and time.monotonic() > deadline:
        message = f"`{command}` had not ended after {timeout:g} seconds"
        raise TaskstateError(message, help="mend it, or give it more time with --timeout", code="timeout")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that is not reaped yet, with its whole process group."""
    import signal

    if process.returncode is None:  # not reaped, so the process id is still its own even if it has ended
        with suppress(ProcessLookupError, PermissionError):  # macOS refuses where only zombies are left
            os.killpg(process.pid, signal.SIGKILL)


def log_stem(feature_id: str) -> str:
    """Return the beginning of the artifact's name for the log of a feature's command."""
    # Two ids that differ only in unsafe characters would otherwise share one name, hence the hash.
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", feature_id)
    suffix = "" if safe == feature_id else f"-{digest(feature_id.encode())[:8]}"
    return f"feature-{safe}{suffix}"

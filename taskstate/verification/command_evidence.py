"""Runs a command that proves something, and keeps what is worth remembering of it.

What it prints goes into a temporary file, and no more of it than may be kept; the end of it, without terminal escapes
and credentials, goes into the evidence itself.
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
_MOMENT = 0.1  # seconds between two looks at a command that prints nothing
_TAIL = 500  # characters
_LOOKED_AT = 64 * 1024  # bytes of the log's end that the tail is taken from
_ESCAPES = r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])"


class CommandResult(NamedTuple):
    """A command that has ended: `log` is all that it printed, on both streams."""

    command: str
    exit_status: int
    log: bytes

    def evidence(self, allow: tuple[str, ...] = ()) -> dict[str, object]:
        """Return what the checklist keeps of it; `allow` are the forms of values that are no secrets."""
        told: dict[str, object] = {"command": self.command, "exit_status": self.exit_status}
        told["log_sha256"] = digest(self.log)
        tail = self.tail(allow)
        return told | ({"tail": tail} if tail else {})

    def tail(self, allow: tuple[str, ...] = ()) -> str:
        """Return the last lines of the log, as many as fit, without escapes, and credentials masked."""
        text = with_newlines(self.log[-_LOOKED_AT:].decode(errors="replace"), "\n")
        text = re.sub(CONTROLS, "", re.sub(_ESCAPES, "", text)).replace("\t", " ")
        text = secrets.masked(text, allow).rstrip()
        if len(text) <= _TAIL:
            return text.strip("\n")
        cut = text[-_TAIL:]
        line_end = cut.find("\n")
        return cut[line_end + 1 :].strip("\n") if 0 <= line_end < len(cut) - 1 else cut


def run_command(root: Path, command: str, *, timeout: float | None = None) -> CommandResult:
    """Run `command` in the shell, in `root`, to its end; it reads nothing, and what it left running is ended then.

    Raises:
        TaskstateError: code "timeout" after so many seconds, or "too-large": it prints more than can be kept. The
            command is ended then, with all that it started.
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
    """Write what a process prints into `log` until it has ended; what it left running is ended with it."""
    import selectors
    import time

    until = None if timeout is None else time.monotonic() + timeout
    last = None  # when to stop listening
    stream = process.stdout.fileno() if process.stdout else -1
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            ready = selector.select(_MOMENT)
            chunk = os.read(stream, _CHUNK) if ready else b""
            log.write(chunk)
            if log.tell() > MAX_BYTES:
                what = f"`{command}` prints more than {MAX_BYTES // 1024**2} MiB"
                raise TaskstateError(what, help="have it print less, or into a file", code="too-large")
            if last is None and _has_ended(process):
                _end(process)
                last = time.monotonic() + _MOMENT
            if (ready and not chunk) or (last is not None and (not ready or time.monotonic() > last)):
                break
            _require_time(until, command, timeout)
    while not _has_ended(process):
        time.sleep(_MOMENT / 10)
        _require_time(until, command, timeout)


def _has_ended(process: subprocess.Popen[bytes]) -> bool:
    """Return whether a process has ended; where the system allows it is not waited for, so that its number stays."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _require_time(until: float | None, command: str, timeout: float | None) -> None:
    import time

    if until is not None and time.monotonic() > until:
        what = f"`{command}` had not ended after {timeout:g} seconds"
        raise TaskstateError(what, help="mend it, or give it more time with --timeout", code="timeout")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process that was not waited for yet, with all that it has started and that still runs."""
    import signal

    if process.returncode is None:  # its number is still its own, though it may have ended
        with suppress(ProcessLookupError, PermissionError):  # some systems say so where only ended ones are left
            os.killpg(process.pid, signal.SIGKILL)


def log_stem(feature_id: str) -> str:
    """Return what the name of the artifact begins with that holds the log of what proved a feature."""
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", feature_id)
    unlike = "" if safe == feature_id else f"-{digest(feature_id.encode())[:8]}"
    return f"feature-{safe}{unlike}"

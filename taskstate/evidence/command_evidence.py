"""Runs a shell command as evidence for a feature, and keeps its exit status, log and log hash.

The output goes into a temporary file, up to the size that may be kept. Its tail, without terminal escapes and
credentials, becomes part of the evidence itself.
"""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.evidence.process import run_in_shell, unfollowed
from taskstate.secrets.mask import masked
from taskstate.storage import temporary
from taskstate.storage.files import MAX_BYTES, digest
from taskstate.syntax.spans import CONTROLS, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.evidence.process import Following

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
        text = masked(text, allow).rstrip()
        if len(text) <= _TAIL:
            return text.strip("\n")
        cut = text[-_TAIL:]
        line_end = cut.find("\n")
        return cut[line_end + 1 :].strip("\n") if 0 <= line_end < len(cut) - 1 else cut


def run_command(
    root: Path, command: str, *, timeout: float | None = None, progress: Following = unfollowed
) -> CommandResult:
    """Run `command` in a shell in `root` until it ends; `progress` is told of it, and of what it prints.

    Its standard input is empty. Processes that it left running in the background are killed afterwards.

    Raises:
        TaskstateError: code "timeout": it ran longer than `timeout` seconds; code "too-large": it prints more than can
            be kept. It is killed then, with all that it started. Code "command": it cannot be started.
    """
    with temporary.nameless_file() as log, progress(f"running {command}") as follow:

        def keep(chunk: bytes) -> None:
            log.write(chunk)
            follow(chunk)
            if log.tell() > MAX_BYTES:
                message = f"`{command}` prints more than {MAX_BYTES // 1024**2} MiB"
                raise TaskstateError(message, help="have it print less, or into a file", code="too-large")

        ended = run_in_shell(root, command, keep, timeout=timeout)
        if ended.timed_out:
            message = f"`{command}` had not ended after {timeout:g} seconds"
            raise TaskstateError(message, help="fix it, or give it more time with --timeout", code="timeout")
        log.seek(0)
        return CommandResult(command, ended.exit_status, log.read())


def log_stem(feature_id: str) -> str:
    """Return the beginning of the artifact's name for the log of a feature's command."""
    # Two ids that differ only in unsafe characters would otherwise share one name, hence the hash.
    safe = re.sub(r"[^A-Za-z0-9._-]", "_", feature_id)
    suffix = "" if safe == feature_id else f"-{digest(feature_id.encode())[:8]}"
    return f"feature-{safe}{suffix}"

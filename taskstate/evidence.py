"""Runs a command that proves something, and keeps what is worth remembering of it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from taskstate.files import digest

if TYPE_CHECKING:
    from pathlib import Path


def run_command(root: Path, command: str) -> dict[str, object]:
    """Run `command` in the shell, in `root`, and return it with its exit status and the SHA-256 of what it printed."""
    done = subprocess.run(  # noqa: S602 - running the caller's own command line is what is asked for
        command,
        shell=True,
        cwd=root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    return {"command": command, "exit_status": done.returncode, "log_sha256": digest(done.stdout)}

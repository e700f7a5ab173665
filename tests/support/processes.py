"""Processes that tests start: several commands at once, and whether a process has ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_at_once(root: Path, commands: Sequence[tuple[list[str], str]]) -> list[int]:
    """Run several commands in `root` at the same time, each with its standard input; return their exit statuses."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "taskstate", *arguments], cwd=root, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        for arguments, _ in commands
    ]
    for process, (_, content) in zip(started, commands, strict=True):
        assert process.stdin
        process.stdin.write(content.encode())
        process.stdin.close()
    return [process.wait() for process in started]


def is_gone(pid: int, *, patience: float = 10) -> bool:
    """Return whether a process ends within so many seconds."""
    until = time.monotonic() + patience
    while True:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with suppress(OSError):  # no such folder on some systems
            if Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0] == "Z":
                return True
        if time.monotonic() > until:
            return False
        time.sleep(0.02)

"""Whether a process that a test started has ended."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path


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

"""Says whether a process of git waits, instead of working: seldom asked, so loaded where git says nothing for long."""

from __future__ import annotations

from pathlib import Path

_SLEEPS = "S"  # the state of a thread that waits, but not for a disk
_STATE, _USER_TIME, _SYSTEM_TIME = 0, 11, 12  # fields in `/proc/PID/stat` behind the name


def work_while_idle(pid: int) -> int | None:
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

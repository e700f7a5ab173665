"""Says whether git waits or reads without end, instead of working: loaded only where it says nothing for long."""

from __future__ import annotations

import os
import signal
import stat
from contextlib import suppress
from pathlib import Path

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_GIT = "git"  # the name of git's processes; those that it starts, such as a filter, have others
_SLEEPS, _ENDED = "S", "Z"  # the states of a thread that waits, but not for a disk, and of one that is no more
_MOST_MEMORY = 2 * 1024**3  # bytes; what git maps of its packs is not counted
_STATE, _USER_TIME, _SYSTEM_TIME = 0, 11, 12  # fields in `/proc/PID/stat` behind the name


class Thread(NamedTuple):
    """A thread of a process: the name of its program, its state, the ticks for which it worked, what it started."""

    program: str
    state: str
    ticks: int
    children: tuple[int, ...]


def bound(pid: int) -> None:
    """Bound the memory of git and of what it started: some of its files it reads whole, however large they are."""
    import resource

    for each in _family(pid):
        with suppress(OSError, AttributeError):  # it has ended; this system has no such call
            soft, hard = resource.prlimit(each, resource.RLIMIT_DATA)
            if soft == resource.RLIM_INFINITY or soft > _MOST_MEMORY:
                resource.prlimit(each, resource.RLIMIT_DATA, (_MOST_MEMORY, hard))


def end(pid: int) -> None:
    """End git with the processes of git that it started: one that waits would not notice that nobody reads it."""
    for each in reversed(list(_family(pid))):
        with suppress(OSError):
            os.kill(each, signal.SIGKILL)


def reads_device(pid: int) -> bool:
    """Return whether git, or one that it started, has a device open that may say something without end."""
    return any(_is_device(name) for each in _family(pid) for name in _open_files(each))


def work_while_idle(pid: int) -> int | None:
    """Return how much git has worked, in ticks, if it and all that it started wait now.

    None if something works, if it is no process of git's, or if nobody knows.
    """
    ticks = 0
    try:
        for each in _family(pid):
            for thread in _threads(each):
                if thread.state not in {_SLEEPS, _ENDED} or thread.program != _GIT:
                    return None
                ticks += thread.ticks
    except (OSError, ValueError, IndexError):
        return None
    return ticks


def _family(pid: int) -> Iterator[int]:
    """Yield a process of git and those that it started, these after it; of another program, only itself."""
    yield pid
    with suppress(OSError, ValueError, IndexError):
        for thread in _threads(pid):
            if thread.program == _GIT:
                for child in thread.children:
                    yield from _family(child)


def _threads(pid: int) -> list[Thread]:
    return [_thread(each) for each in Path(f"/proc/{pid}/task").iterdir()]


def _thread(place: Path) -> Thread:
    name, _, rest = (place / "stat").read_text(encoding="utf-8", errors="replace").partition("(")[2].rpartition(")")
    fields = rest.split()
    children = tuple(map(int, (place / "children").read_text(encoding="ascii").split()))
    return Thread(name, fields[_STATE], int(fields[_USER_TIME]) + int(fields[_SYSTEM_TIME]), children)


def _open_files(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/fd/{each}" for each in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        return []


def _is_device(name: str) -> bool:
    try:
        status = os.stat(name)
        return stat.S_ISCHR(status.st_mode) and not os.path.samestat(status, os.stat(os.devnull))
    except OSError:  # closed since
        return False

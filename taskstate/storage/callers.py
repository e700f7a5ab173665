"""Says by which programs this one was called: a client says nowhere else how it was started, nor whether it still runs.

A number of a process is given again, so a process is known by that and by the moment of its start.
"""

from __future__ import annotations

import os
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files, folders
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# By client, the name of its program, and a part of the path where its own is the script of another one.
PROGRAMS = {
    "claude": ("claude", "/claude-code"),
    "codex": ("codex", "/@openai/codex"),
    "gemini": ("gemini", "/gemini-cli/"),
}
_PROC = "/proc"  # where Linux tells of processes
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "busybox", "cmd", "powershell", "pwsh"))
_STATE, _PARENT, _START = 0, 1, 19  # of the fields of /proc/PID/stat after the name
_GONE = {b"Z", b"X"}  # has ended, though nobody has asked how
_PS = ("/usr/bin/env", "LC_ALL=C", "TZ=UTC0", "ps", "-A", "-ww", "-o", "pid=,ppid=,lstart=,command=")
_SECONDS, _MOMENT = 5, 5  # that it may take; words of a moment that it prints


class Caller(NamedTuple):
    """A program above this one: its words, which `process` it is, and whether a terminal is its input."""

    words: tuple[str, ...]
    process: str = ""
    at_terminal: bool = False


def callers() -> Iterator[Caller]:
    """Yield the programs above this one, the nearest first; on Linux alone, which tells all of them."""
    pid = os.getppid()
    with suppress(TaskstateError, OSError, ValueError, IndexError):
        while pid > 1:
            words = files.read(f"{_PROC}/{pid}/cmdline").decode("utf-8", "replace").rstrip("\0").split("\0")
            source, fields = folders.link_text(f"{_PROC}/{pid}/fd/0"), _stat(pid)
            yield Caller(tuple(words), _process(pid, fields), source.startswith((b"/dev/pts/", b"/dev/tty")))
            pid = int(fields[_PARENT])


def processes() -> Iterator[Caller]:
    """Yield the programs above this one, the nearest first; elsewhere than on Linux as `ps` tells them."""
    if folders.is_folder(_PROC):
        yield from callers()
        return
    table, pid = _table(), os.getppid()
    while pid > 1 and pid in table:
        started, pid, words = table[pid]
        yield Caller(words, started)


def client_of(words: Sequence[str]) -> str:
    """Return the client whose program was started with these words; empty for another program."""
    if _is_shell(words) and any(word.startswith("-") and "c" in word for word in words[1:3]):
        return ""  # what it runs has the name of a folder in it, or the words for a hook
    names = [(os.path.basename(word), word) for word in words[:4]]
    for client, (name, part) in PROGRAMS.items():
        if any(each in {name, f"{name}.js", f"{name}.exe"} or part in word for each, word in names):
            return client
    return ""


def client_process() -> str:
    """Return the process of the client that has called this hook; empty where the system does not tell.

    That is the nearest program above that is a client's, else what has started the shell in which the hook runs.
    """
    above = [*processes()]
    others = [each.process for each in above if not _is_shell(each.words)]
    return next((each.process for each in above if client_of(each.words)), others[0] if others else "")


def is_running(process: str) -> bool:
    """Return whether a process that was named here runs; one of which nothing is known does not."""
    pid = process.partition(" ")[0]
    if not pid.isdecimal():
        return False
    if not folders.is_folder(_PROC):
        return _table().get(int(pid), ("",))[0] == process
    with suppress(TaskstateError, OSError, IndexError):
        return _process(int(pid), _stat(int(pid))) == process
    return False


def _is_shell(words: Sequence[str]) -> bool:
    return os.path.basename(words[0]).lstrip("-").removesuffix(".exe") in _SHELLS


def _stat(pid: int) -> list[bytes]:
    return files.read(f"{_PROC}/{pid}/stat").rpartition(b") ")[2].split()


def _process(pid: int, fields: Sequence[bytes]) -> str:
    return "" if fields[_STATE] in _GONE else f"{pid} {fields[_START].decode()}"


def _table() -> Mapping[int, tuple[str, int, tuple[str, ...]]]:
    """Return by its number each process: as it is known, its parent, and its words."""
    from taskstate.storage import programs

    found = dict[int, tuple[str, int, tuple[str, ...]]]()
    with suppress(OSError, TimeoutError):
        for line in programs.run(_PS, stdin=b"", timeout=_SECONDS).stdout.decode("utf-8", "replace").splitlines():
            pid, parent, *rest = line.split()
            if len(rest) > _MOMENT:
                moment = " ".join(rest[:_MOMENT])
                found[int(pid)] = f"{pid} {moment}", int(parent), tuple(rest[_MOMENT:])
    return found

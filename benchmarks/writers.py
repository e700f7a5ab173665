"""Measures twenty agents that add a session to one task at the same moment, until the last has done it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from benchmarks.measurement import Compared, Measurement, repository
from benchmarks.timing import interleaved, processes
from benchmarks.tools import ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WRITERS = 20
_SESSION = ("session", "add", "1", "--state", "read it", "--next", "go on", "--did")


def writers(folder: Path) -> Iterator[Measurement]:
    """Measure whole processes; each session is another one."""
    root, taskstate = repository(folder), ordinary().taskstate
    author = ("git", "config", "user.name", "somebody")
    new = (taskstate, "new", "1", "--title", "T", "--description", "d", "--criterion", "c", "--quiet")
    for command in (author, (taskstate, "init", "--quiet"), new):
        subprocess.run(command, cwd=root, check=True)
    sessions = [(taskstate, *_SESSION, f"read part {number}") for number in range(_WRITERS)]
    versions = [(taskstate, "--version")] * _WRITERS
    taken = interleaved(
        {"ours": lambda: processes(sessions, root), "reference": lambda: processes(versions, root)}, rounds=5
    )
    what = f"{_WRITERS} `session add` at once on one task, until the last is done"
    yield Compared(what, f"{_WRITERS} `taskstate --version` at once", 2.0).by(taken)

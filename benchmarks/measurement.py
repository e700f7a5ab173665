"""The records of a benchmark and its result, and helpers that all benchmarks share."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from benchmarks.timing import Seconds


class Measurement(NamedTuple):
    """The result of a benchmark: the ratio of taskstate to the reference, and its upper limit (0: no target).

    `ours` and `theirs` are the times that the ratio was made of, where it was made of times.
    """

    name: str
    reference: str
    ratio: float
    target: float
    note: str = ""
    ours: Seconds | None = None
    theirs: Seconds | None = None


class Benchmark(NamedTuple):
    """A benchmark by its name, and the function that measures it in an empty folder.

    A `long` one takes several minutes, and is run where all are wanted.
    """

    name: str
    measure: Callable[[Path], Iterator[Measurement]]
    long: bool = False


class Compared(NamedTuple):
    """What is compared: a name, that of the reference, the upper limit of the ratio (0: none), and a note."""

    name: str
    reference: str
    target: float = 0
    note: str = ""

    def by(self, taken: Mapping[str, Seconds], name: str = "ours") -> Measurement:
        """Return the measurement of a candidate beside the one named "reference"."""
        ours, theirs = taken[name], taken["reference"]
        return Measurement(self.name, self.reference, ours / theirs, self.target, self.note, ours, theirs)


def ratio(taken: Mapping[str, float], name: str = "ours") -> float:
    """Return how many times as long as the reference a candidate took."""
    return taken[name] / taken["reference"]


def repository(folder: Path, *, git: bool = True) -> Path:
    """Return a folder with the set-up of git and taskstate, so that caches and queries work as in real use."""
    (folder / ".taskstate" / "tasks").mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text(".taskstate/cache/\n.rumdl_cache/\n", encoding="utf-8")
    if git:
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder

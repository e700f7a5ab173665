"""The records of a benchmark and its result, and helpers that all benchmarks share."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


class Measurement(NamedTuple):
    """The result of a benchmark: the ratio of taskstate to the reference, and its upper limit (0: no target)."""

    name: str
    reference: str
    ratio: float
    target: float
    note: str = ""


class Benchmark(NamedTuple):
    """A benchmark by its name, and the function that measures it in an empty folder."""

    name: str
    measure: Callable[[Path], Iterator[Measurement]]


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

"""What a question is answered with, and what all questions need."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path


class Answer(NamedTuple):
    """What was measured: `ratio` of ours to the floor, and at most what it should be (0: no such target)."""

    question: str
    floor: str
    ratio: float
    target: float
    note: str = ""


class Question(NamedTuple):
    """A name to ask for, and what measures it in an empty folder."""

    name: str
    ask: Callable[[Path], Iterator[Answer]]


def ratio(taken: Mapping[str, float], name: str = "ours") -> float:
    """Return how many times as long as the floor a candidate took."""
    return taken[name] / taken["floor"]


def repository(folder: Path, *, git: bool = True) -> Path:
    """Return a folder that git and taskstate have set up, so that ours asks and remembers what it would at work."""
    (folder / ".taskstate" / "tasks").mkdir(parents=True, exist_ok=True)
    (folder / ".gitignore").write_text(".taskstate/cache/\n.rumdl_cache/\n", encoding="utf-8")
    if git:
        subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder

"""Counts how many concurrent histories conflict: merged by meaning, and merged as text by git.

A history is a task with the changes of two branches, made with the real jobs and by hand. Each file that both branches
changed is merged by `git merge-file`, git's own text merge, and by `taskstate.merge`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.branches import Branch, draw
from benchmarks.measurement import Measurement
from taskstate.merge.merge_files import merge_files
from taskstate.units.three_way import Versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HISTORIES = 200
_SEED = 20260201
_BEFORE, _AFTER = 6, 5  # the most steps before the fork, and on each branch


def merges(folder: Path) -> Iterator[Measurement]:
    """Measure how many histories have conflicts that a person must resolve."""
    ours, text = count_conflicts(folder)
    name = f"conflicting merges, of {HISTORIES} generated histories of two branches"
    yield Measurement(name, "git's own text merge", ours / text, 0, f"{ours} against {text} histories")


def count_conflicts(folder: Path, histories: int = HISTORIES) -> tuple[int, int]:
    """Return how many of the generated histories conflict when merged by meaning, and how many when merged as text."""
    ours = text = 0
    for number in range(histories):
        base, left, right = generate(folder / str(number), number)
        both = [
            (name, Versions(base.get(name, b""), left[name], right[name]))
            for name in left.keys() & right.keys()
            if base.get(name) not in (left[name], right[name])
        ]
        ours += any(merge_files(versions, name).conflicts for name, versions in both)
        text += any(conflicts_as_text(versions) for _, versions in both)
    return ours, text


def generate(folder: Path, number: int) -> Versions[Mapping[str, bytes]]:
    """Return the files of a history: those of the common version and of both branches."""
    random = Random(f"{_SEED} {number}")  # noqa: S311 - reproducible on purpose
    trunk = Branch(folder / "base", "base")
    trunk.begin()
    trunk.do(draw(random, random.randint(0, _BEFORE)))
    left = trunk.fork(folder / "left", "left", minutes=random.choice((3, 7)), later=random.choice((0, 30)))
    right = trunk.fork(folder / "right", "right", minutes=random.choice((3, 7)), later=random.choice((0, 30)))
    for branch in (left, right):
        branch.do(draw(random, random.randint(1, _AFTER)))
    return Versions(trunk.files(), left.files(), right.files())


def conflicts_as_text(versions: Versions[bytes]) -> bool:
    """Return whether git's own text merge leaves conflicts."""
    with tempfile.TemporaryDirectory(prefix="taskstate-merge-") as folder:
        paths = [Path(folder) / name for name in ("base", "ours", "theirs")]
        for path, data in zip(paths, versions, strict=True):
            path.write_bytes(data)
        base, ours, theirs = paths
        done = subprocess.run(["git", "merge-file", "-p", ours, base, theirs], stdout=subprocess.DEVNULL, check=False)
    return done.returncode != 0

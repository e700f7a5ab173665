"""Counts how many concurrent histories merge without a conflict: by meaning, and as git merges text.

A history is a task, and what two branches did to it with the real jobs and by hand. Each file that both branches have
changed is merged by `git merge-file`, which is git's own text merge, and by `taskstate.merge`.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from benchmarks.answer import Answer
from benchmarks.branches import Branch, draw
from taskstate.merge.files import merge_files
from taskstate.merge.three_way import Versions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

HISTORIES = 200
_SEED = 20260201
_BEFORE, _AFTER = 6, 5  # at most so many steps on the common version, and on each branch


def merges(folder: Path) -> Iterator[Answer]:
    """Yield the answer on how many histories need a person."""
    ours, text = count_conflicts(folder)
    what = f"conflicting merges, of {HISTORIES} generated histories of two branches"
    yield Answer(what, "git's own text merge", ours / text, 0, f"{ours} against {text} histories")


def count_conflicts(folder: Path, histories: int = HISTORIES) -> tuple[int, int]:
    """Return how many of so many generated histories conflict by meaning, and how many as text."""
    ours = text = 0
    for number in range(histories):
        base, left, right = generate(folder / str(number), number)
        both = [
            (name, Versions(base.get(name, b""), left[name], right[name]))
            for name in left.keys() & right.keys()
            if base.get(name) not in (left[name], right[name])
        ]
        ours += any(merge_files(sides, name).conflicts for name, sides in both)
        text += any(conflicts_as_text(sides) for _, sides in both)
    return ours, text


def generate(folder: Path, number: int) -> Versions[Mapping[str, bytes]]:
    """Return the files of a history: the common version's, and those of both branches."""
    random = Random(f"{_SEED} {number}")  # noqa: S311 - reproducible on purpose
    trunk = Branch(folder / "base", "base")
    trunk.begin()
    trunk.do(draw(random, random.randint(0, _BEFORE)))
    left = trunk.fork(folder / "left", "left", minutes=random.choice((3, 7)), later=random.choice((0, 30)))
    right = trunk.fork(folder / "right", "right", minutes=random.choice((3, 7)), later=random.choice((0, 30)))
    for branch in (left, right):
        branch.do(draw(random, random.randint(1, _AFTER)))
    return Versions(trunk.files(), left.files(), right.files())


def conflicts_as_text(sides: Versions[bytes]) -> bool:
    """Return whether git's own text merge leaves conflicts."""
    with tempfile.TemporaryDirectory(prefix="taskstate-merge-") as folder:
        paths = [Path(folder) / name for name in ("base", "ours", "theirs")]
        for path, data in zip(paths, sides, strict=True):
            path.write_bytes(data)
        base, ours, theirs = paths
        done = subprocess.run(["git", "merge-file", "-p", ours, base, theirs], stdout=subprocess.DEVNULL, check=False)
    return done.returncode != 0

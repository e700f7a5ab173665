"""Measures `search` over five thousand tasks against ripgrep over the same files."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import TOOLS, installed, ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SOUGHT = "const token = await sign"
_TARGET = 3.0
_FLAGS = ("--fixed-strings", "--ignore-case", "--line-number")  # as `search` looks


def searching(folder: Path, which: corpus.Corpus = corpus.C3) -> Iterator[Measurement]:
    """Measure finding a line that many tasks have, as a whole process; the interpreter's start is taken off."""
    what = f"`search` over {which.files:,} tasks, {which.total}"
    try:
        tool = installed("ripgrep")
    except RuntimeError as error:
        yield Measurement(what, f"ripgrep, skipped: {error}", math.nan, _TARGET)
        return
    taskstate, interpreter = ordinary()
    root = repository(folder)
    tasks = root / ".taskstate" / "tasks"
    for name, data in corpus.generate(which):
        (tasks / name).write_bytes(data)
    taken = interleaved(
        {
            "ours": program((taskstate, "search", _SOUGHT), root),
            "reference": program(
                (tool, "--fixed-strings", "--ignore-case", "--line-number", _SOUGHT, str(tasks)), root
            ),
            "start": program((interpreter, "-c", "pass"), root),
        }
    )
    ours, theirs = taken["ours"], taken["reference"]
    note = f"the interpreter's start, {1000 * taken['start']:.0f} ms, taken off ours"
    ratio = (ours - taken["start"]) / theirs
    yield Measurement(what, TOOLS["ripgrep"].version, ratio, _TARGET, note, ours, theirs)

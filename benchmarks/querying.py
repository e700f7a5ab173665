"""Measures `query` over five thousand tasks: a question with the index there, and the first index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Measurement, repository
from benchmarks.timing import interleaved, program
from benchmarks.tools import ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_QUESTION = ("query", "stuck", "--limit", "1")
_LINT = ("lint", "--no-cache", "--against", "none", "--exit-zero", "--quiet")
_TARGETS = 2.0, 1.0
_ROUNDS = 3  # of what takes as long as linting all files


def querying(folder: Path, which: corpus.Corpus = corpus.C3) -> Iterator[Measurement]:
    """Measure a question as a whole process beside the start of DuckDB alone, and the first index beside `lint`."""
    taskstate, interpreter = ordinary("query")
    root = repository(folder)
    tasks = root / ".taskstate" / "tasks"
    for name, data in corpus.generate(which):
        (tasks / name).write_bytes(data)
    over = f"over {which.files:,} tasks, {which.total}"
    taken = interleaved(
        {
            "ours": program((taskstate, *_QUESTION), root),
            "reference": program((interpreter, "-c", "import duckdb; duckdb.connect().execute('SELECT 1')"), root),
        }
    )
    ours, theirs = taken["ours"], taken["reference"]
    note = f"{1000 * ours:.0f} ms by the clock, start of the command included"
    yield Measurement(f"`query stuck` {over}", "the start of DuckDB", ours / theirs, _TARGETS[0], note, ours, theirs)
    taken = interleaved(
        {
            "ours": program((taskstate, "query", "--rebuild"), root),
            "reference": program(
                (taskstate, "lint", "--no-cache", "--against", "none", "--exit-zero", "--quiet"), root
            ),
        },
        rounds=_ROUNDS,
    )
    ours, theirs = taken["ours"], taken["reference"]
    yield Measurement(f"the first index {over}", "`lint --no-cache`", ours / theirs, _TARGETS[1], "", ours, theirs)

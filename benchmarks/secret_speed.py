"""Measures scanning for secrets: a whole state file, and only the lines that a new session changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Measurement, ratio
from benchmarks.timing import interleaved, timed
from taskstate.secrets import scan
from taskstate.writing.secret_check import changed_parts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SESSION = "### Session 99 - 2026-01-31 12:00\n\n**What I did:**\n\n- read the header of each message\n\n"


def secret_speed(folder: Path) -> Iterator[Measurement]:
    """Measure scanning C1, and scanning what a new session changes in it."""
    del folder
    ((_, data),) = corpus.generate(corpus.C1)
    old = data.decode()
    new = old.replace("revision: ", "revision: 1", 1).replace("## 5. Git", f"{_SESSION}## 5. Git", 1)

    def changed() -> None:
        for part in changed_parts(old, new):
            scan.find.__wrapped__(part.of(new))  # without the cache of the last text

    taken = interleaved(
        {
            "ours": timed(lambda: scan.find.__wrapped__(old)),
            "changed": timed(changed),
            "reference": timed(lambda: old.encode().decode()),
        },
        rounds=15,
    )
    speed = f"{len(data) / taken['ours'] / 1e6:.0f} MB/s"
    yield Measurement("looking for secrets in C1", f"encoding and decoding it; {speed} here", ratio(taken), 0)
    part = taken["changed"] / taken["ours"]
    yield Measurement(
        "looking for secrets in what a session changes", "in all of C1", part, 1.0, f"{taken['changed'] * 1e3:.2f} ms"
    )

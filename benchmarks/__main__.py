"""Runs the benchmarks: `python -m benchmarks [--write] [BENCHMARK ...]`."""

from __future__ import annotations

import argparse
import math
import platform
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.suite import BENCHMARKS

if TYPE_CHECKING:
    from benchmarks.measurement import Measurement

RESULTS = Path(__file__).parent / "RESULTS.md"
_HEAD = """\
# Results

Written by `python -m benchmarks --write`. Each ratio is taskstate's figure divided by that of the reference beside it.
Both are measured alternately in one run, as the median of at least five rounds: times depend on the machine, these
ratios much less. "Cold" means without a cache from an earlier run. The corpora come from a seeded generator
(`corpus.py`), with the same bytes everywhere.

"""


def main() -> int:
    """Run the named benchmarks, or all of them, and print the measurements as a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "benchmarks", nargs="*", metavar="BENCHMARK", help=f"one of {', '.join(BENCHMARKS)} (default: all)"
    )
    parser.add_argument("--write", action="store_true", help=f"also write the measurements to {RESULTS.name}")
    parser.add_argument(
        "--corpus", metavar="NAME", help=f"only write a corpus ({', '.join(corpus.CORPORA)}) to the folder --into"
    )
    parser.add_argument("--into", metavar="FOLDER", type=Path, help="where to write the corpus")
    args = parser.parse_args()
    unknown = [name for name in args.benchmarks if name not in BENCHMARKS]
    if unknown or (args.corpus is None) != (args.into is None) or args.corpus not in {None, *corpus.CORPORA}:
        parser.error(
            f"there is no benchmark {unknown[0]!r}" if unknown else "--corpus NAME and --into FOLDER belong together"
        )
    if args.corpus:
        print(f"{len(corpus.write(corpus.CORPORA[args.corpus], args.into)):,} files in {args.into}")
        return 0
    measurements = [measurement for name in args.benchmarks or BENCHMARKS for measurement in _run(name)]
    if args.write:
        RESULTS.write_text(_HEAD + table(measurements) + _python_version(), encoding="utf-8")
    return 0


def _run(name: str) -> list[Measurement]:
    with tempfile.TemporaryDirectory(prefix="taskstate-benchmark-") as folder:
        measurements = []
        for measurement in BENCHMARKS[name].measure(Path(folder)):
            print(table([measurement]).split("\n")[2], flush=True)
            measurements.append(measurement)
        return measurements


def table(measurements: list[Measurement]) -> str:
    """Return the measurements as a Markdown table."""
    rows = ["| benchmark | reference | ratio | target |", "| --- | --- | --- | --- |"]
    for measurement in measurements:
        target = f"{measurement.target:g}" if measurement.target else ""
        figure = "" if math.isnan(measurement.ratio) else f"{measurement.ratio:.3g}"  # none: the reference was skipped
        note = f" ({measurement.note})" if measurement.note else ""
        rows.append(f"| {measurement.name} | {measurement.reference}{note} | {figure} | {target} |")
    return "\n".join(rows) + "\n"


def _python_version() -> str:
    version = ".".join(platform.python_version_tuple()[:2])
    return f"\nMeasured with Python {version}.\n"


if __name__ == "__main__":
    raise SystemExit(main())

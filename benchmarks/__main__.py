"""Runs the benchmarks: `python -m benchmarks [--all] [--write] [BENCHMARK ...]`."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus, report
from benchmarks.suite import BENCHMARKS

if TYPE_CHECKING:
    from benchmarks.measurement import Measurement


def main() -> int:
    """Run the named benchmarks, or all of them, and print the measurements as a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "benchmarks",
        nargs="*",
        metavar="BENCHMARK",
        help=f"one of {', '.join(BENCHMARKS)} (default: those that take some ten minutes together)",
    )
    parser.add_argument("--all", action="store_true", help="run all benchmarks, which takes hours")
    parser.add_argument("--write", action="store_true", help="also write the measurements to the documentation")
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
    names = args.benchmarks or [name for name, benchmark in BENCHMARKS.items() if args.all or not benchmark.long]
    measured = {name: _run(name) for name in names}
    if args.write:
        report.record(measured)
    return 0


def _run(name: str) -> list[Measurement]:
    with tempfile.TemporaryDirectory(prefix="taskstate-benchmark-") as folder:
        measurements = []
        for measurement in BENCHMARKS[name].measure(Path(folder)):
            print(report.table([measurement]).split("\n")[2], flush=True)
            measurements.append(measurement)
        return measurements


if __name__ == "__main__":
    raise SystemExit(main())

"""Measures what the targets ask for: `python -m benchmarks [--write] [QUESTION ...]`."""

from __future__ import annotations

import argparse
import platform
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.questions import QUESTIONS

if TYPE_CHECKING:
    from benchmarks.answer import Answer

RESULTS = Path(__file__).parent / "RESULTS.md"
_HEAD = """\
# Results

Written by `python -m benchmarks --write`. Each figure is ours divided by the floor beside it, both taken in one run in
turns, the median of at least five rounds: times depend on the machine, these ratios much less. What is "cold" keeps
nothing from an earlier run. The corpora come from a seeded generator (`corpus.py`), the same bytes everywhere.

"""


def main() -> int:
    """Ask the questions that are named, or all, and show the answers as a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "questions", nargs="*", metavar="QUESTION", help=f"one of {', '.join(QUESTIONS)} (default: all)"
    )
    parser.add_argument("--write", action="store_true", help=f"write the answers to {RESULTS.name} too")
    parser.add_argument(
        "--corpus", metavar="NAME", help=f"only write a corpus ({', '.join(corpus.CORPORA)}) into --into"
    )
    parser.add_argument("--into", metavar="FOLDER", type=Path, help="where to write the corpus")
    args = parser.parse_args()
    unknown = [name for name in args.questions if name not in QUESTIONS]
    if unknown or (args.corpus is None) != (args.into is None) or args.corpus not in {None, *corpus.CORPORA}:
        parser.error(
            f"there is no question {unknown[0]!r}" if unknown else "--corpus NAME and --into FOLDER belong together"
        )
    if args.corpus:
        print(f"{len(corpus.write(corpus.CORPORA[args.corpus], args.into)):,} files in {args.into}")
        return 0
    answers = [answer for name in args.questions or QUESTIONS for answer in _ask(name)]
    if args.write:
        RESULTS.write_text(_HEAD + table(answers) + _with(), encoding="utf-8")
    return 0


def _ask(name: str) -> list[Answer]:
    with tempfile.TemporaryDirectory(prefix="taskstate-benchmark-") as folder:
        answers = []
        for answer in QUESTIONS[name].ask(Path(folder)):
            print(table([answer]).split("\n")[2], flush=True)
            answers.append(answer)
        return answers


def table(answers: list[Answer]) -> str:
    """Return the answers as a Markdown table."""
    rows = ["| question | against | ratio | at most |", "| --- | --- | --- | --- |"]
    for answer in answers:
        target = f"{answer.target:g}" if answer.target else ""
        note = f" ({answer.note})" if answer.note else ""
        rows.append(f"| {answer.question} | {answer.floor}{note} | {answer.ratio:.3g} | {target} |")
    return "\n".join(rows) + "\n"


def _with() -> str:
    version = ".".join(platform.python_version_tuple()[:2])
    return f"\nTaken with Python {version}.\n"


if __name__ == "__main__":
    raise SystemExit(main())

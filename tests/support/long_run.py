"""What the long forms of tests share, which are run by hand: the seed among their arguments, and what they print."""

from __future__ import annotations

import argparse
import random
import sys


def parser_of(name: str, description: str | None, **numbers: int) -> argparse.ArgumentParser:
    """Return the parser of `python -m tests.NAME`, with an option for each number, given its default, and `--seed`."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.{name}", description=description)
    seed = random.SystemRandom().randrange(10_000)
    for option, default in {**numbers, "seed": seed}.items():
        parser.add_argument(f"--{option}", type=int, default=default, metavar="N")
    return parser


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()

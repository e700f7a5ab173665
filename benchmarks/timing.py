"""Measures comparable times: the candidates alternate for several rounds, and the median of each counts."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from statistics import linear_regression, median
from time import perf_counter
from typing import TYPE_CHECKING

from taskstate.syntax.document import forget_parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

ROUNDS = 7


def interleaved(candidates: Mapping[str, Callable[[], float]], *, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median of each candidate's times in seconds, after a warm-up round.

    In each round every candidate runs once, in rotating order, so that a machine that becomes slower or faster
    affects all of them alike.
    """
    names = list(candidates)
    taken: dict[str, list[float]] = {name: [] for name in names}
    for turn in range(rounds + 1):
        start = turn % len(names)
        for name in names[start:] + names[:start]:
            seconds = candidates[name]()
            if turn:
                taken[name].append(seconds)
    return {name: median(times) for name, times in taken.items()}


def timed(action: Callable[[], object]) -> Callable[[], float]:
    """Return a candidate that carries out an action and returns its time, with no text parsed before."""

    def run() -> float:
        forget_parsed()
        start = perf_counter()
        action()
        return perf_counter() - start

    return run


def python(arguments: Sequence[str], folder: Path) -> Callable[[], float]:
    """Return a candidate that runs a whole Python process in a folder."""
    return program((sys.executable, *arguments), folder)


def program(command: Sequence[str], folder: Path, given: bytes = b"") -> Callable[[], float]:
    """Return a candidate that runs a program in a folder (Python with compiled modules, as when installed).

    The program finds `given` on standard input.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run() -> None:
        subprocess.run(command, cwd=folder, env=environment, input=given, stdout=subprocess.PIPE, check=False)

    return timed(run)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent by which the times grow with the sizes (the slope in a log-log plot): 1 is linear."""
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    return linear_regression(x, y).slope

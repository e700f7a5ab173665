"""Measures comparable times: the candidates alternate for several rounds, and the median of each counts."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import tempfile
from statistics import linear_regression, median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Self

from taskstate.syntax.document import forget_parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

ROUNDS = 7


class Seconds(float):
    """How long something took by the clock: once, or as the median of several times between `low` and `high`.

    `cpu` is the time of the processor, that of child processes included: other programs on the machine do not count.
    """

    cpu: float
    low: float
    high: float

    def __new__(cls, wall: float, cpu: float = math.nan, low: float = math.nan, high: float = math.nan) -> Self:
        """Return a time."""
        made = super().__new__(cls, wall)
        made.cpu, made.low, made.high = cpu, low, high
        return made

    @classmethod
    def median_of(cls, times: Sequence[float]) -> Seconds:
        """Return the median of several times, by the clock and of the processor."""
        cpu = median(each.cpu if isinstance(each, Seconds) else math.nan for each in times)
        return cls(median(times), cpu, min(times), max(times))


def interleaved(candidates: Mapping[str, Callable[[], float]], *, rounds: int = ROUNDS) -> dict[str, Seconds]:
    """Return the median of each candidate's times, after a warm-up round.

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
    return {name: Seconds.median_of(times) for name, times in taken.items()}


def timed(action: Callable[[], object]) -> Callable[[], Seconds]:
    """Return a candidate that carries out an action and returns its time, with no text parsed before.

    The garbage collector waits meanwhile, as with `timeit`: it would look at all that the benchmarks themselves hold.
    """

    def run() -> Seconds:
        forget_parsed()
        gc.collect()
        gc.disable()
        try:
            start, cpu = perf_counter(), process_time()
            action()
            return Seconds(perf_counter() - start, process_time() - cpu)
        finally:
            gc.enable()

    return run


def program(command: Sequence[str], folder: Path, given: bytes = b"") -> Callable[[], Seconds]:
    """Return a candidate that runs a program in a folder (Python with compiled modules, as when installed).

    The program finds `given` on standard input. What it prints goes into a file, which it is not told to be nowhere:
    some programs then do less.
    """
    return lambda: processes((command,), folder, given)


def processes(commands: Sequence[Sequence[str]], folder: Path, given: bytes = b"") -> Seconds:
    """Start these programs at once in a folder, and return the time until the last has ended."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as source:
        source.write(given)
        source.flush()
        start, cpu = perf_counter(), 0.0
        running = []
        for command in commands:
            source.seek(0)
            running.append(
                subprocess.Popen(command, cwd=folder, env=environment, stdin=source, stdout=said, stderr=said)
            )
        for process in running:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu += used.ru_utime + used.ru_stime
        return Seconds(perf_counter() - start, cpu)


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the exponent by which the times grow with the sizes (the slope in a log-log plot): 1 is linear."""
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    return linear_regression(x, y).slope

"""Measures how time and memory grow: with the size of a file, and with the number of each construct in it.

Each command runs in a process of its own on state files in which one construct stands 1,000, 3,000 and 10,000 times,
and on plain text of the same size. What counts is time of the processor. The ratio is that of whole processes, start-up
included, which is what a person feels; for the exponent what the small file takes is left out. The memory of a process
is at least that of this one when it starts it, so what takes much memory here comes last.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import corpus, repeated
from benchmarks.measurement import Measurement, repository
from benchmarks.timing import exponent, interleaved, timed
from taskstate.lint.engine import findings
from taskstate.model.config_reader import read_config

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.repeated import Construct
    from taskstate.model.config import Config

_ROUNDS = 5
_SIZES = (1, 10, 100, 1_000, 5_000, 20_000)  # KB
_ITEMS = (1_000, 10_000, 100_000)
_COUNTS = (1_000, 3_000, 10_000)
_LEAST = 0.02  # seconds: less is noise
_TRIES = 2
_LIMIT = 60  # seconds
_MOST = 3.0  # times what plain text of the same size takes
STATE_FILE = ".taskstate/tasks/task-1-state.md"
_COMMANDS = {
    "lint": ("lint", "--no-cache", STATE_FILE),
    "fmt": ("fmt", STATE_FILE),
    "show": ("show", "1"),
    "brief": ("brief", "1"),
    "session add": ("session", "add", "1", "--did", "read it", "--state", "read", "--next", "go on"),
}


def growth(folder: Path) -> Iterator[Measurement]:
    """Measure how the time of each command grows with each construct, and that of lint with the size of a file."""
    config = read_config({}, "the benchmark")
    root = repository(folder)
    (root / "taskstate.toml").write_text("", encoding="utf-8")
    least = {command: _least(root, command, repeated.base()) for command in _COMMANDS}
    for name, construct in repeated.CONSTRUCTS.items():
        for command in _COMMANDS:
            yield _construct(root, name, construct, command, least[command])
    yield _list_growth(config)
    yield _size_growth(config)


def _size_growth(config: Config) -> Measurement:
    """Measure how the time of lint grows with the size of a file."""
    sizes = [corpus.Corpus(name=f"{size} KB", files=1, least=size, most=size, total="") for size in _SIZES]
    files = {each.name: next(corpus.generate(each)) for each in sizes}
    runs = {name: timed(partial(findings, data, file, config)) for name, (file, data) in files.items()}
    taken = interleaved(runs, rounds=_ROUNDS)
    slope = exponent([len(data) for _, data in files.values()], [taken[name] for name in files])
    what = f"lint against file size, {_SIZES[0]} KB to {_SIZES[-1] // 1000} MB, in process"
    return Measurement(what, "linear: the exponent", slope, 1.05)


def _list_growth(config: Config) -> Measurement:
    """Measure how the time of lint grows with the length of a list."""
    name, small = next(corpus.generate(corpus.Corpus(name="list", files=1, least=3, most=3, total="")))
    files = [small.replace(b"## Notes\n", b"## Notes\n\n" + b"- one more item\n" * items) for items in _ITEMS]
    runs = {str(len(data)): timed(partial(findings, data, name, config)) for data in files}
    taken = interleaved(runs, rounds=_ROUNDS)
    slope = exponent([len(data) for data in files], [taken[str(len(data))] for data in files])
    return Measurement(
        f"lint against the length of a list, to {_ITEMS[-1]:,} items", "linear: the exponent", slope, 1.05
    )


class _Run(NamedTuple):
    """What a process took: seconds of the processor, and MB of memory at its peak."""

    seconds: float
    megabytes: float


def _construct(root: Path, name: str, construct: Construct, command: str, least: float) -> Measurement:
    *texts, text = (repeated.repeated(construct, count) for count in _COUNTS)
    run, plain = _run(root, command, text), _run(root, command, repeated.plain(len(text)))
    seconds = [*(_least(root, command, each) for each in texts), run.seconds]
    beyond = [max(each - least, _LEAST) for each in seconds]
    slope = f"exponent {exponent(_COUNTS, beyond):.2f}" if beyond[0] > _LEAST else "too little for an exponent"
    note = f"{run.seconds:.2f} s, {run.megabytes:.0f} MB, {slope}"
    what = f"`{command}` on {_COUNTS[-1]:,} of: {name}"
    return Measurement(what, "plain text of the same size", run.seconds / plain.seconds, _MOST, note)


def _least(root: Path, command: str, text: str) -> float:
    """Return the least of several times, which is the one that other load disturbed least."""
    return min(_run(root, command, text).seconds for _ in range(_TRIES))


def _run(root: Path, command: str, text: str) -> _Run:
    """Run a command on a text in an otherwise empty repository; one that takes too long is ended."""
    (root / STATE_FILE).write_text(text, encoding="utf-8", newline="")
    for left in (root / ".git" / "taskstate", root / ".taskstate" / "private", root / ".taskstate" / "archives"):
        shutil.rmtree(left, ignore_errors=True)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    arguments = (sys.executable, "-m", "taskstate", *_COMMANDS[command])
    process = subprocess.Popen(
        ("sh", "-c", f'ulimit -t {_LIMIT}; exec "$@"', "sh", *arguments),
        cwd=root,
        env={**environment, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return _Run(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)

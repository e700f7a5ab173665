"""Lint as a whole process: one file against the interpreter's own start, thousands against the fastest peer.

The peer is rumdl (Rust), with its defaults: it reads every file too, and checks Markdown style; ours checks what the
file says as well. Both write what they find to nobody.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.answer import Answer, ratio, repository
from benchmarks.timing import ROUNDS, interleaved, program, python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SLOW_ROUNDS = 5
_RUMDL = Path(sys.executable).with_name("rumdl")
_OURS = (str(Path(sys.executable).with_name("taskstate")), "lint")
# The corpus names commits that no repository has, and more sessions than a task should take.
_CONFIG = '[lint]\nignore = ["TS410"]\n[size]\nmax-sessions = 1000\n'
_TEN = corpus.Corpus(name="ten", files=1, least=10, most=10, total="10 KB")
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_MB = 1024  # KB, which `ru_maxrss` counts in on Linux


def lint_one(folder: Path) -> Iterator[Answer]:
    """Yield the answers on linting one file: where nothing is remembered of it, and where all is."""
    floor = "`python -c pass`"
    for which, miss, hit in ((_TEN, 5.0, 3.0), (corpus.C1, 6.0, 0.0)):
        root = repository(folder / which.name, git=False)  # or each made-up commit would be a finding
        (path,) = corpus.write(which, root)
        commands = {
            "miss": program((*_OURS, "--no-cache", str(path)), root),
            "hit": program((*_OURS, str(path)), root),
            "floor": python(("-c", "pass"), root),
        }
        taken = interleaved(commands, rounds=ROUNDS)
        yield Answer(f"lint one file of {which.total}, cache miss", floor, ratio(taken, "miss"), miss)
        yield Answer(f"lint one file of {which.total}, cache hit", floor, ratio(taken, "hit"), hit)


def lint_many(folder: Path) -> Iterator[Answer]:
    """Yield the answers on linting thousands of files, cold and warm, and on the memory that it takes."""
    for which, warm in ((corpus.C2, 0.0), (corpus.C3, 0.5)):
        root = repository(folder / which.name)
        (root / "taskstate.toml").write_text(_CONFIG, encoding="utf-8")
        corpus.write(which, root)
        ours, theirs = root / ".taskstate" / "cache", root / ".rumdl_cache"
        rumdl = (str(_RUMDL), "check", ".")
        commands = {
            "ours": _without(ours, program(_OURS, root)),
            "floor": _without(theirs, program(rumdl, root)),
            "warm": program(_OURS, root),
            "their warm": program(rumdl, root),
        }
        what, note = f"{which.name} ({which.files:,} files, {which.total})", f"{_count(root)} files read by rumdl"
        cold = interleaved({name: commands[name] for name in ("ours", "floor")}, rounds=_SLOW_ROUNDS)
        yield Answer(f"lint cold {what}", "rumdl cold", ratio(cold), 1.0, note)
        again = interleaved({"ours": commands["warm"], "floor": commands["their warm"]}, rounds=_SLOW_ROUNDS)
        yield Answer(f"lint warm {what}", "rumdl warm", ratio(again), warm)
    yield Answer("peak memory of linting C3, all processes, at most", "1 MB", _peak(folder / corpus.C3.name), 150)


def _without(cache: Path, run: Callable[[], float]) -> Callable[[], float]:
    """Return a candidate that remembers nothing; forgetting is not timed."""

    def cold() -> float:
        shutil.rmtree(cache, ignore_errors=True)
        return run()

    return cold


def _count(root: Path) -> str:
    """Return how many files the peer says that it has read."""
    said = subprocess.run([_RUMDL, "check", "."], cwd=root, capture_output=True, encoding="utf-8", check=False).stdout
    found = re.search(r"in ([0-9,]+) files", said)
    return found[1] if found else "?"


def _peak(root: Path) -> float:
    """Return the most memory, in MB, that the processes of a whole cold run can have taken together.

    A process of its own starts it, so that no other child counts; the largest of the processes stands for each.
    """
    shutil.rmtree(root / ".taskstate" / "cache", ignore_errors=True)
    said = subprocess.run([sys.executable, "-c", _PEAK, *_OURS], cwd=root, capture_output=True, check=True).stdout
    return int(said.split()[-1]) / _MB * (1 + (os.cpu_count() or 1))

"""Measures lint as a whole process: one file against starting the interpreter, thousands against the fastest peer.

The peer is rumdl (Rust) with its defaults. It also reads every file, and checks Markdown style, while taskstate checks
the content as well. The output of both is discarded.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Compared, Measurement, repository
from benchmarks.timing import ROUNDS, interleaved, program
from benchmarks.tools import installed, ordinary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_SLOW_ROUNDS = 5
_MANY_ROUNDS = 21  # where a tenth is to be told from noise
_HOOK = 0.3  # seconds
# The corpus names commits that do not exist, and has more sessions than a task should have.
_CONFIG = '[lint]\nignore = ["TS410"]\n[size]\nmax-sessions = 1000\n'
_TEN = corpus.Corpus(name="ten", files=1, least=10, most=10, total="10 KB")
_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stderr=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""
_MB = 1024  # the unit of `ru_maxrss` on Linux is a KB


def lint_one(folder: Path) -> Iterator[Measurement]:
    """Measure linting one file, with a cache miss and with a cache hit, and what extras cost that nobody calls."""
    reference, ours, extras = "`python -c pass`", ordinary(), ordinary("lsp", "mcp", "pre-commit", "tokens")
    for which, miss, hit, alone in ((_TEN, 5.0, 4.0, 3.0), (corpus.C1, 6.0, 0.0, 0.0)):
        root = repository(folder / which.name, git=False)  # with git, each made-up commit would be a finding
        (path,) = corpus.write(which, root)
        commands = {
            "miss": program((ours.taskstate, "lint", "--no-cache", str(path)), root),
            "hit": program((ours.taskstate, "lint", str(path)), root),
            "alone": program((ours.taskstate, "lint", "--against", "none", str(path)), root),
            "extras": program((extras.taskstate, "lint", "--against", "none", str(path)), root),
            "reference": program((ours.python, "-c", "pass"), root),
        }
        taken = interleaved(commands, rounds=ROUNDS)
        what = f"lint one file of {which.total}, cache"
        yield Compared(f"{what} miss", reference, miss).by(taken, "miss")
        yield Compared(f"{what} hit", reference, hit).by(taken, "hit")
        yield Compared(f"{what} hit, `--against none`", reference, alone).by(taken, "alone")
        yield Compared(f"{what} hit, `--against none`, with all extras", reference, alone).by(taken, "extras")


def lint_many(folder: Path) -> Iterator[Measurement]:
    """Measure linting a thousand files, cold and warm, and the memory that it takes."""
    yield from _lint(folder, corpus.C2, warm=0.0)


def lint_most(folder: Path) -> Iterator[Measurement]:
    """Measure linting five thousand files, cold and warm, and the memory that it takes."""
    yield from _lint(folder, corpus.C3, warm=0.5)


def _lint(folder: Path, which: corpus.Corpus, *, warm: float) -> Iterator[Measurement]:
    what = f"{which.name} ({which.files:,} files, {which.total})"
    try:
        rumdl = (installed("rumdl"), "check", ".")
    except RuntimeError as error:
        yield Measurement(f"lint {what}", f"rumdl, skipped: {error}", math.nan, 1.0)
        return
    command = (ordinary().taskstate, "lint")
    root = repository(folder / which.name)
    (root / "taskstate.toml").write_text(_CONFIG, encoding="utf-8")
    corpus.write(which, root)
    ours, theirs = root / ".git" / "taskstate", root / ".rumdl_cache"
    note = f"{_count(root, rumdl)} files read by rumdl"
    cold = {"ours": _without(ours, program(command, root)), "reference": _without(theirs, program(rumdl, root))}
    yield Compared(f"lint cold {what}", "rumdl cold", 1.0, note).by(interleaved(cold, rounds=_SLOW_ROUNDS))
    again = {"ours": program(command, root), "reference": program(rumdl, root)}
    yield Compared(f"lint warm {what}", "rumdl warm", warm).by(interleaved(again, rounds=_SLOW_ROUNDS))
    shutil.rmtree(ours, ignore_errors=True)
    peak = peak_megabytes(command, root) * (1 + (os.cpu_count() or 1))  # each process is counted like the largest one
    shutil.rmtree(theirs, ignore_errors=True)
    note = f"rumdl: {peak_megabytes(rumdl, root):.0f} MB"
    yield Measurement(f"peak memory of lint cold {what}, all processes, at most", "1 MB", peak, 150, note)


def lint_history(folder: Path) -> Iterator[Measurement]:
    """Measure what comparing with HEAD costs where nothing has changed, and the hook where one file has."""
    command = (ordinary().taskstate, "lint")
    root = repository(folder / corpus.C2.name)
    (root / "taskstate.toml").write_text(_CONFIG, encoding="utf-8")
    changed = corpus.write(corpus.C2, root)[0]
    for git in (("add", "--all"), ("-c", "user.name=x", "-c", "user.email=x@localhost", "commit", "-qm", "x")):
        subprocess.run(["git", *git], cwd=root, check=True)
    alone, what = (*command, "--against", "none"), f"{corpus.C2.files:,} unchanged tasks"
    one, one_alone = (*command, str(changed)), (*alone, str(changed))
    for name, ours, reference, rounds in (
        (f"lint warm with history, {what}", command, alone, _MANY_ROUNDS),
        (f"lint cold with history, {what}", (*command, "--no-cache"), (*alone, "--no-cache"), _SLOW_ROUNDS),
        ("lint one unchanged file with history, cache hit", one, one_alone, _MANY_ROUNDS),
    ):
        taken = interleaved({"ours": program(ours, root), "reference": program(reference, root)}, rounds=rounds)
        yield Compared(name, "`--against none`", 1.1).by(taken)
    changed.write_bytes(changed.read_bytes().replace(b"status: in_progress", b"status: blocked", 1))
    subprocess.run(["git", "add", "--all"], cwd=root, check=True)
    hook = program(("env", "GIT_INDEX_FILE=.git/index", *command, "--staged"), root)  # as git runs it
    seconds = interleaved({"ours": hook})["ours"]
    what = f"the hook's own time, one changed file among {corpus.C2.files:,} tasks"
    yield Measurement(what, f"{_HOOK} s", seconds / _HOOK, 1.0, f"{seconds:.3f} s")


def _without(cache: Path, run: Callable[[], float]) -> Callable[[], float]:
    """Return a candidate that runs without a cache; deleting the cache is not timed."""

    def cold() -> float:
        shutil.rmtree(cache, ignore_errors=True)
        return run()

    return cold


def _count(root: Path, rumdl: tuple[str, ...]) -> str:
    """Return the number of files that the peer reports to have read."""
    output = subprocess.run(rumdl, cwd=root, capture_output=True, encoding="utf-8", check=False).stdout
    match = re.search(r"in ([0-9,]+) files", output)
    return match[1] if match else "?"


def peak_megabytes(command: Sequence[str], root: Path) -> float:
    """Return the memory of the largest process of a command at its peak, in MB.

    A separate process starts the command, so that no other child counts.
    """
    output = subprocess.run([sys.executable, "-c", _PEAK, *command], cwd=root, capture_output=True, check=True).stdout
    return int(output.split()[-1]) / _MB

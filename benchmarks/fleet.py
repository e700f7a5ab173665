"""Measures `fleet` over fifty bare repositories of twenty state files: a first run, and one that finds nothing new.

`fleet_growth` measures first runs over more of them, up to 20,000 files, and how the time grows.
"""

from __future__ import annotations

import subprocess
from random import Random
from typing import TYPE_CHECKING

from benchmarks.corpus import state_file
from benchmarks.measurement import Measurement
from benchmarks.timing import exponent, interleaved, processes, program
from benchmarks.tools import ordinary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REPOSITORIES, FILES = 50, 20
_MANY = (100, 300, 1_000)  # repositories
_KB = (3, 17)  # of a file, as in C3
_ROUNDS = 3
_TARGETS = 20.0, 1.0
_COMMIT = "commit refs/heads/main\ncommitter A <a@example.invalid> 1767225600 +0000\ndata 1\nx\n"
# What any index has to do: list the files of each commit, read them, and hash them.
_FLOOR = """
import hashlib, pathlib, subprocess
for folder in sorted(pathlib.Path().iterdir()):
    listed = subprocess.run(["git", "ls-tree", "-r", "-z", "-l", "HEAD"], cwd=folder, capture_output=True).stdout
    ids = b"".join(line.split()[2] + b"\\n" for line in listed.split(b"\\0") if line)
    said = subprocess.run(["git", "cat-file", "--batch", "--buffer"], cwd=folder, input=ids, capture_output=True).stdout
    hashlib.sha256(said).hexdigest(), hashlib.sha1(said).hexdigest()
"""


def fleet(folder: Path, repositories: int = REPOSITORIES, files: int = FILES) -> Iterator[Measurement]:
    """Measure lint of all repositories by one child at a time beside git alone, and a run that finds nothing new."""
    taskstate, interpreter = ordinary("query")
    mirrors, out = folder / "mirrors", folder / "out"
    made(mirrors, repositories, files)
    lint = (taskstate, "fleet", "lint", str(mirrors), "--jobs", "1", "--exit-zero", "--quiet")
    over = f"{repositories} repositories of {files} files"
    taken = interleaved(
        {"ours": program(lint, folder), "reference": program((interpreter, "-c", _FLOOR), mirrors)}, rounds=_ROUNDS
    )
    ours, theirs = taken["ours"], taken["reference"]
    note = f"{1000 * ours.cpu / repositories / files:.1f} ms of the processor for a file"
    name = f"`fleet lint` of {over}, one child at a time"
    yield Measurement(name, "git reading them, and their hashes", ours / theirs, _TARGETS[0], note, ours, theirs)
    again = (taskstate, "fleet", "index", str(mirrors), "--out", str(out), "--quiet")
    subprocess.run(again, check=True)
    taken = interleaved(
        {"ours": program(again, folder), "reference": program((interpreter, "-c", "import duckdb"), folder)}
    )
    ours, theirs = taken["ours"], taken["reference"]
    name = f"`fleet index` of {over}, nothing new"
    yield Measurement(name, "importing DuckDB twice", ours / theirs / 2, _TARGETS[1], "", ours, theirs)


def fleet_growth(folder: Path) -> Iterator[Measurement]:
    """Measure how the time of a first run grows, with lint and without, and what finding nothing new takes then."""
    taskstate, interpreter = ordinary("query")
    command = (taskstate, "fleet", "index", "--jobs", "1", "--quiet", "--out")
    taken: dict[str, list[float]] = {"`fleet index`": [], "`fleet index --no-lint`": []}
    for number in _MANY:
        mirrors = folder / f"mirrors-{number}"
        made(mirrors, number, FILES)
        out = {name: f"{mirrors}-{position}" for position, name in enumerate(taken)}
        floor = processes(((interpreter, "-c", _FLOOR),), mirrors)
        for name, seconds in taken.items():
            flags = ("--no-lint",) if "no-lint" in name else ()
            first = processes(((*command, out[name], *flags, str(mirrors)),), folder)
            seconds.append(first.cpu)
            note = f"{1000 * first.cpu / number / FILES:.1f} ms of the processor for a file"
            what = f"{name} of {number} repositories of {FILES} files"
            yield Measurement(what, "git reading them, and their hashes", first.cpu / floor.cpu, 0, note, first, floor)
    for name, seconds in taken.items():
        slope = exponent(_MANY, seconds)
        yield Measurement(f"{name}, {_MANY[0]} to {_MANY[-1]} repositories", "linear: the exponent", slope, 1.05)


def made(mirrors: Path, repositories: int, files: int) -> None:
    """Make bare repositories of one commit each."""
    for number in range(repositories):
        root = mirrors / f"{number:05}.git"
        subprocess.run(["git", "init", "--quiet", "--bare", "--initial-branch=main", str(root)], check=True)
        parts = [_COMMIT.encode()]
        for task in range(1, files + 1):
            random = Random(f"{number} {task}")  # noqa: S311 - the same each time
            text = state_file(random, task, random.uniform(*_KB)).encode()
            parts.append(b"M 100644 inline .taskstate/tasks/task-%d-state.md\ndata %d\n%s\n" % (task, len(text), text))
        subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=b"".join(parts), check=True)

"""The questions that the targets ask: each measures ours against a floor, in one run, and gives the ratio."""

from __future__ import annotations

import hashlib
import os
import subprocess
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from benchmarks import corpus
from benchmarks.timing import exponent, interleaved, python, timed
from taskstate import blocks, scan, sessions
from taskstate.config import read_config
from taskstate.document import parse
from taskstate.lint.engine import findings
from taskstate.stamp import Stamp
from taskstate.workspace import Workspace
from taskstate.writing import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from taskstate.config import Config

_SLOW_ROUNDS = 5
_HASH_ALL = """
import hashlib, os
for folder, _, names in os.walk("."):
    if "/.git" not in folder:
        for name in names:
            hashlib.sha256(open(os.path.join(folder, name), "rb").read()).digest()
"""
_ENTRY = sessions.Entry(
    did=("read the header of each message, and refused those without one\nthe test covers both", "moved `limit`"),
    state="all tests pass",
    next=("write the second reader", "measure it"),
)
_SIZES = (1, 10, 100, 1_000, 5_000)  # KB


class Answer(NamedTuple):
    """What was measured: `ratio` of ours to the floor, and at most what it should be (0: no such target)."""

    question: str
    floor: str
    ratio: float
    target: float
    note: str = ""


class Question(NamedTuple):
    """A name to ask for, and what measures it in an empty folder."""

    name: str
    ask: Callable[[Path], Iterator[Answer]]


def lint_many(folder: Path, *, which: corpus.Corpus = corpus.C2) -> Iterator[Answer]:
    """Yield the answers on linting a corpus cold, inside a process and as one."""
    config = _config()
    paths = corpus.write(which, _repository(folder))

    def lint() -> None:
        for path in paths:
            findings(path.read_bytes(), path.name, config)

    def read() -> None:
        for path in paths:
            hashlib.sha256(path.read_bytes()).digest()

    inside = interleaved({"ours": timed(lint), "floor": timed(read)}, rounds=_SLOW_ROUNDS)
    floor = "reading and hashing the same files"
    yield Answer(f"lint {which.name} ({which.files:,} files, {which.total}), in process", floor, _ratio(inside), 0)
    commands = {"ours": python(("-m", "taskstate", "lint"), folder), "floor": python(("-c", _HASH_ALL), folder)}
    whole = interleaved(commands, rounds=_SLOW_ROUNDS)
    yield Answer(f"lint {which.name}, whole process", floor, _ratio(whole), 0)


def lint_one(folder: Path) -> Iterator[Answer]:
    """Yield the answers on linting one file as a whole process."""
    _repository(folder)
    ten = corpus.Corpus(name="one", files=1, least=10, most=10, total="10 KB")
    for which, target in ((ten, 5.0), (corpus.C1, 6.0)):
        (path,) = corpus.write(which, folder / which.name)
        run = {"ours": python(("-m", "taskstate", "lint", str(path)), folder), "floor": python(("-c", "pass"), folder)}
        yield Answer(
            f"lint one file of {which.total}, whole process", "`python -c pass`", _ratio(interleaved(run)), target
        )


def add_session(folder: Path) -> Iterator[Answer]:
    """Yield the answers on appending a session to C1 in process, durable write included."""
    floor = "reading, hashing, writing and fsyncing the same bytes"
    ((_, data),) = corpus.generate(corpus.C1)
    for limit, target, what in ((100, 5.0, "`session add` on C1"), (75, 0.0, "`session add` on C1 that archives")):
        root = _repository(folder / str(limit))
        workspace = Workspace(root=root, config=_config(limit))
        workspace.tasks.mkdir(parents=True)
        taken = interleaved({"ours": _adding(workspace, data), "floor": _copying(root, data)}, rounds=15)
        yield Answer(f"{what}, in process", floor, _ratio(taken), target)


def scan_blocks(folder: Path) -> Iterator[Answer]:
    """Yield the answer on finding the blocks of C1 by the scanner and by markdown-it-py."""
    del folder
    ((_, data),) = corpus.generate(corpus.C1)
    text = data.decode()
    start = parse(text).front_matter.content.end + len("---\n")
    found = {
        "ours": timed(lambda: scan.scan(text, start)),
        "floor": timed(lambda: blocks.reference_blocks(text, start)),
    }
    taken = interleaved(found)
    speed = f"{len(data) / taken['ours'] / 1e6:.0f} MB/s against {len(data) / taken['floor'] / 1e6:.1f} MB/s here"
    yield Answer("the scanner on C1", "markdown-it-py at block level", _ratio(taken), 0, speed)


def growth(folder: Path) -> Iterator[Answer]:
    """Yield the answer on how lint grows with the size of a file."""
    del folder
    config = _config()
    sizes = [corpus.Corpus(name=f"{size} KB", files=1, least=size, most=size, total="") for size in _SIZES]
    files = {each.name: next(corpus.generate(each)) for each in sizes}
    runs = {name: timed(partial(findings, data, file, config)) for name, (file, data) in files.items()}
    taken = interleaved(runs, rounds=_SLOW_ROUNDS)
    slope = exponent([len(data) for _, data in files.values()], [taken[name] for name in files])
    what = f"lint against file size, {_SIZES[0]} KB to {_SIZES[-1] // 1000} MB, in process"
    yield Answer(what, "linear: the exponent", slope, 1.05)


QUESTIONS = {
    question.name: question
    for question in (
        Question("lint-one", lint_one),
        Question("session-add", add_session),
        Question("lint-many", lint_many),
        Question("scanner", scan_blocks),
        Question("growth", growth),
    )
}


def _config(limit: int = 75) -> Config:
    return read_config({"size": {"max-kb": limit}}, "the benchmark")


def _repository(folder: Path) -> Path:
    """Return a folder that git has set up, so that our own process asks git what it would ask at work."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    return folder


def _ratio(taken: dict[str, float]) -> float:
    return taken["ours"] / taken["floor"]


def _adding(workspace: Workspace, data: bytes) -> Callable[[], float]:
    """Return a candidate that appends a session; each time to another text, so that nothing remembered helps."""
    path = workspace.tasks / "task-1-state.md"
    now = datetime(2025, 2, 3, 12, tzinfo=UTC)
    times = iter(range(1_000))

    def run() -> float:
        number = next(times)
        path.write_bytes(data.replace(b"Customer accounts", b"Customer accounts %d" % number))
        for archive in workspace.state_root.glob("archives/*"):
            archive.unlink()
        request = Request(stamp=Stamp(actor="somebody", now=now + timedelta(minutes=number), git_head="0" * 40))
        return timed(lambda: sessions.add(workspace, "1", _ENTRY, request))()

    return run


def _copying(folder: Path, data: bytes) -> Callable[[], float]:
    source, target = folder / "source", folder / "target"
    source.write_bytes(data)

    def copy() -> None:
        read = source.read_bytes()
        hashlib.sha256(read).digest()
        with target.open("wb") as file:
            file.write(read)
            file.flush()
            os.fsync(file.fileno())

    return timed(copy)

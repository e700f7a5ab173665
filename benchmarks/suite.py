"""All benchmarks: each compares taskstate with a reference in one run and yields the ratio."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.appending import append_many
from benchmarks.beside import beside, beside_all
from benchmarks.briefs import saving, starting
from benchmarks.detection.detection import detection
from benchmarks.editing import editing
from benchmarks.fleet import fleet, fleet_growth
from benchmarks.growth import growth
from benchmarks.hooks import hooks
from benchmarks.linting import lint_history, lint_many, lint_most, lint_one
from benchmarks.mcp import mcp
from benchmarks.measurement import Benchmark, Compared, Measurement, repository
from benchmarks.merges import merges
from benchmarks.next_task import next_task
from benchmarks.querying import querying
from benchmarks.scale import most_tasks, sizes, tasks
from benchmarks.searching import searching
from benchmarks.secret_speed import secret_speed
from benchmarks.shared_context import shared_context
from benchmarks.snapshots import snapshots
from benchmarks.timing import interleaved, timed
from benchmarks.turns import turns
from benchmarks.writers import writers
from taskstate.model.config_reader import read_config
from taskstate.model.write_metadata import WriteMetadata
from taskstate.storage import kept_records
from taskstate.syntax import markdown_blocks, markdown_fast_scanner
from taskstate.syntax.document import parse
from taskstate.tasks import sessions
from taskstate.tasks.new_session import NewSession
from taskstate.workspace.workspace import Workspace
from taskstate.writing.change import Request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from taskstate.model.config import Config

_ENTRY = NewSession(
    did=("read the header of each message, and refused those without one\nthe test covers both", "moved `limit`"),
    state="all tests pass",
    next=("write the second reader", "measure it"),
)


def add_session(folder: Path) -> Iterator[Measurement]:
    """Measure appending a session to C1 in process, including the durable write."""
    reference = "reading, hashing, writing and fsyncing the same bytes"
    ((_, data),) = corpus.generate(corpus.C1)
    for limit, target, what in ((100, 5.0, "`session add` on C1"), (75, 0.0, "`session add` on C1 that archives")):
        root = repository(folder / str(limit))
        workspace = Workspace(root=root, config=_config(limit))
        workspace.tasks.mkdir(parents=True, exist_ok=True)
        taken = interleaved({"ours": _adding(workspace, data), "reference": _copying(root, data)}, rounds=15)
        yield Compared(f"{what}, in process", reference, target).by(taken)


def scan_blocks(folder: Path) -> Iterator[Measurement]:
    """Measure finding the blocks of C1 with the scanner and with markdown-it-py."""
    del folder
    ((_, data),) = corpus.generate(corpus.C1)
    text = data.decode()
    start = parse(text).front_matter.content.end + len("---\n")
    candidates = {
        "ours": timed(lambda: markdown_fast_scanner.scan(text, start)),
        "reference": timed(lambda: markdown_blocks.reference_blocks(text, start)),
    }
    taken = interleaved(candidates)
    speed = f"{len(data) / taken['ours'] / 1e6:.0f} MB/s against {len(data) / taken['reference'] / 1e6:.1f} MB/s here"
    yield Compared("the scanner on C1", "markdown-it-py at block level", 0, speed).by(taken)


# Those that are not `long` take some ten minutes together.
BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("lint-one", lint_one),
        Benchmark("session-add", add_session),
        Benchmark("writers", writers),
        Benchmark("lint-many", lint_many),
        Benchmark("lint-most", lint_most, long=True),
        Benchmark("lint-history", lint_history, long=True),
        Benchmark("beside", beside),
        Benchmark("beside-all", beside_all, long=True),
        Benchmark("search", searching),
        Benchmark("query", querying, long=True),
        Benchmark("fleet", fleet, long=True),
        Benchmark("fleet-growth", fleet_growth, long=True),
        Benchmark("next", next_task),
        Benchmark("brief", starting),
        Benchmark("hooks", hooks),
        Benchmark("lsp", editing),
        Benchmark("scanner", scan_blocks),
        Benchmark("secrets", secret_speed),
        Benchmark("sizes", sizes),
        Benchmark("tasks", tasks, long=True),
        Benchmark("most-tasks", most_tasks, long=True),
        Benchmark("append-many", append_many, long=True),
        Benchmark("growth", growth, long=True),
        Benchmark("snapshots", snapshots),
        Benchmark("merges", merges, long=True),
        Benchmark("tokens", saving),
        Benchmark("turns", turns, long=True),
        Benchmark("shared-context", shared_context, long=True),
        Benchmark("detection", detection, long=True),
        Benchmark("mcp", mcp, long=True),
    )
}


def _config(limit: int = 75) -> Config:
    return read_config({"size": {"max-kb": limit}}, "the benchmark")


def _adding(workspace: Workspace, data: bytes) -> Callable[[], float]:
    """Return a candidate that appends a session, each time to a different text, so that no cache helps."""
    path = workspace.tasks / "task-1-state.md"
    now = datetime(2025, 2, 3, 12, tzinfo=UTC)
    times = iter(range(1_000))

    def run() -> float:
        number = next(times)
        path.write_bytes(data.replace(b"Customer accounts", b"Customer accounts %d" % number))
        for archive in workspace.state_root.glob("archives/*"):
            archive.unlink()
        for record in kept_records.records(workspace.private)[0]:  # or the last session would be missed
            record.path.unlink()
        request = Request(
            metadata=WriteMetadata(actor="somebody", now=now + timedelta(minutes=number), git_head="0" * 40)
        )
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

"""Measures appending to a task with a thousand sessions: the cost of an append, and the size of the state file.

The cost of one append depends on the size of the state file, which grows to its limit and shrinks at each archiving. So
a new and an old task are compared over whole rounds from one archiving to the next: the new one after its first
archiving, when its file has the usual size, and the old one after a thousand sessions.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import corpus
from benchmarks.measurement import Measurement, repository
from benchmarks.timing import timed
from taskstate.model.config_reader import read_config
from taskstate.model.task_state import KB
from taskstate.model.write_metadata import WriteMetadata
from taskstate.tasks import sessions
from taskstate.tasks.new_session import NewSession
from taskstate.workspace.archive_file import read_archive
from taskstate.workspace.workspace import Workspace
from taskstate.writing.change import Request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

COUNT = 1_000
_LIMIT = 16  # KB, so that a round is some 30 sessions
_ROUNDS = 2
_NOW = datetime(2025, 2, 3, 12, tzinfo=UTC)
_BOUNDED = 1.2


class Growing:
    """A task to which sessions are appended one by one, in process."""

    def __init__(self, folder: Path) -> None:
        limits = {"size": {"max-kb": _LIMIT, "warn-kb": _LIMIT}}
        self.workspace = Workspace(root=repository(folder), config=read_config(limits, "the benchmark"))
        self.path = self.workspace.tasks / "task-1-state.md"
        small = corpus.Corpus(name="append", files=1, least=3, most=3, total="")
        self.path.write_bytes(next(data for _, data in corpus.generate(small)))
        self.number = 0
        self.sizes: list[int] = []

    @property
    def archived(self) -> int:
        """The highest session number in the archive."""
        return read_archive(self.workspace, "1").last

    def append(self) -> None:
        """Append the next session."""
        self.number += 1
        request = Request(
            metadata=WriteMetadata(actor="somebody", now=_NOW + timedelta(minutes=self.number), git_head="0" * 40)
        )
        sessions.add(self.workspace, "1", _entry(self.number), request)
        self.sizes.append(self.path.stat().st_size)

    def append_round(self) -> int:
        """Append sessions until some are archived, and return their number."""
        before, archived = self.number, self.archived
        while self.archived == archived:
            self.append()
        return self.number - before


def append_many(folder: Path) -> Iterator[Measurement]:
    """Measure appending to a long history compared with a short one, and the largest state file."""
    old, young = Growing(folder / "old"), Growing(folder / "young")
    while old.number < COUNT:
        old.append()
    old.append_round()
    young.append_round()
    count = _ROUNDS * young.append_round()
    taken = [(timed(young.append)(), timed(old.append)()) for _ in range(count)]
    early, late = (median(seconds) for seconds in zip(*taken, strict=True))
    note = f"in turns, medians of {count}, a limit of {_LIMIT} KB"
    yield Measurement(f"append to {COUNT:,} sessions of a task", "to the first ones", late / early, _BOUNDED, note)
    yield Measurement(
        f"the largest state file in {old.number:,} appends", "its limit", max(old.sizes) / (_LIMIT * KB), 1.0
    )


def _entry(number: int) -> NewSession:
    did = (f"step {number}: read the header of each message, and refused those without one", f"moved limit {number}")
    return NewSession(did=did, state="all tests pass", next=("write the second reader", f"measure step {number}"))

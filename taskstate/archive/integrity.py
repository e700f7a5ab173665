"""What is wrong with an archive file by itself: entries against their hashes, batches against one another.

The rule tells it in the archive file, and in the state file whose archive it is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.model.archive_format import batch_contents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.model.archive_format import ArchivedSession, BatchContents


_PAIR = 2  # such a run is told as its two numbers


class ArchiveFault(NamedTuple):
    """A fault in an archive file: where it stands, the sessions that it is about, and what is wrong."""

    at: int
    numbers: Sequence[int]
    message: str


class _Archived(NamedTuple):
    text: str


class ArchiveContents(_Archived):
    """The sessions in the text of an archive file."""

    @cached_property
    def batches(self) -> tuple[BatchContents, ...]:
        """The batches, oldest first."""
        return batch_contents(self.text)

    @cached_property
    def entries(self) -> tuple[ArchivedSession, ...]:
        """The entries of all batches."""
        return tuple(entry for batch in self.batches for entry in batch.entries)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The sessions that are there, or that a batch says are there."""
        return tuple(sorted({number for batch in self.batches for number in batch.numbers}))

    @cached_property
    def faults(self) -> tuple[ArchiveFault, ...]:
        """What is wrong, in the order of the text."""
        closed = any(batch.trailer is not None for batch in self.batches)
        found: list[ArchiveFault] = []
        last = 0
        for batch in self.batches:
            found += _gap(batch, last)
            for entry in batch.entries:
                message = _wrong(batch, entry, last, closed=closed)
                if message:
                    found.append(ArchiveFault(entry.start, (entry.number,), message))
                last = max(last, entry.number)
            found += _trailer(batch)
            last = max((last, *batch.numbers))
        return tuple(found)


def runs_of(numbers: Iterable[int]) -> tuple[range, ...]:
    """Return the runs in which numbers rise one by one."""
    runs: list[range] = []
    for number in sorted(numbers):
        if runs and runs[-1].stop == number:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return tuple(runs)


def describe_runs(*runs: range) -> str:
    """Return the numbers of sessions in words."""
    told = [words for run in runs for words in _words(run)]
    words = ", ".join(told[:-1]) + (" and " if len(told) > 1 else "") + told[-1]
    return f"session {words}" if words.isdigit() else f"the sessions {words}"


def _words(run: range) -> list[str]:
    return [f"{run.start} to {run.stop - 1}"] if len(run) > _PAIR else [str(number) for number in run]


def _gap(batch: BatchContents, last: int) -> Iterator[ArchiveFault]:
    """Yield where a batch replaced a summary of sessions that no batch before it holds."""
    if batch.before is not None and batch.before > last:
        numbers = range(last + 1, batch.before + 1)
        yield ArchiveFault(batch.start, numbers, f"the batch with {describe_runs(numbers)} is gone")


def _wrong(batch: BatchContents, entry: ArchivedSession, last: int, *, closed: bool) -> str:
    """Return what is wrong with an entry; in a file that somebody made by hand, without any trailer, little can be."""
    if entry.number <= last:
        where = f"stands behind session {last}" if entry.number < last else "is there twice"
        return f"session {entry.number} {where}"
    if batch.trailer is None:
        return f"session {entry.number} stands behind the last batch, and no lines close it" if closed else ""
    if not entry.listed_sha:
        return f"session {entry.number} stands in a batch whose closing lines do not name it"
    return "" if entry.listed_sha == entry.sha else f"session {entry.number} was altered: its SHA-256 is another one"


def _trailer(batch: BatchContents) -> Iterator[ArchiveFault]:
    """Yield where the closing lines of a batch name sessions that are gone, or others than their hashes."""
    if batch.trailer is None:
        return
    lost = tuple(number for number in batch.numbers if all(entry.number != number for entry in batch.entries))
    if lost:
        are, them = ("is", "it") if len(lost) == 1 else ("are", "them")
        message = f"{describe_runs(*runs_of(lost))} {are} gone, though the batch's closing lines name {them}"
        yield ArchiveFault(batch.trailer, lost, message)
    elif batch.range != (batch.numbers[0], batch.numbers[-1]):
        first, last = batch.range or (0, 0)
        have = describe_runs(*runs_of(batch.numbers))
        message = f"the closing lines of a batch say {first}-{last}, and have the hashes of {have}"
        yield ArchiveFault(batch.trailer, batch.numbers, message)

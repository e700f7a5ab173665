"""Finds faults in an archive file by itself: entries that differ from their hashes, batches that contradict each other.

The linter reports them in the archive file, and in the state file that it belongs to.
"""

from __future__ import annotations

import re
from functools import cached_property

from taskstate.messages import one_line
from taskstate.model.archive_format import batch_contents, find_batches, grown_summaries, is_rolled_list, text_outside
from taskstate.syntax.escaping import is_blank
from taskstate.syntax.spans import Span, filled_lines, first_other, is_within, line_start
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.model.archive_format import ArchivedSession, BatchContents

_TITLE = r"\ufeff?# Task #\S+ Archive\b"  # of an archive in our form, where lines close each batch
_MOST_SHOWN = 40  # characters of a text that belongs to no batch
MOVE_OUT = "move it into the Notes of the state file"
_NOT_NAMED = "is in a batch whose closing lines do not name it"
_HASHES = "have the hashes of"
_GONE = " gone, though"
_CLOSING = r"(?m)^(?:Archived on|Reason|Sessions archived|Size|Entries SHA-256):|^## |\Z"
_PAIR = 2  # a run of two is written as its two numbers


class ArchiveFault(NamedTuple):
    """A fault in an archive file: its offset, the sessions concerned, and a message.

    `is_unclosed` tells that it may follow from closing lines that are gone or cannot be read.
    """

    at: int
    numbers: Sequence[int]
    message: str
    is_unclosed: bool = False


class _Archived(NamedTuple):
    text: str


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
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
    def sound(self) -> tuple[ArchivedSession, ...]:
        """The entries of which no fault speaks."""
        wrong = {number for fault in self.faults for number in fault.numbers}
        return tuple(entry for entry in self.entries if entry.number not in wrong)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The sessions that are in the archive, or that a trailer lists, in order."""
        return tuple(sorted({number for batch in self.batches for number in batch.numbers}))

    @cached_property
    def is_ours(self) -> bool:
        """Whether it has the title of our archives, or the closing lines of a batch."""
        return bool(re.match(_TITLE, self.text)) or any(batch.trailer is not None for batch in self.batches)

    @cached_property
    def outside(self) -> tuple[ArchiveFault, ...]:
        """The texts that belong to no batch, in an archive of our form: what a person wrote into it."""
        if not self.is_ours:
            return ()
        shown = [(each.start, each.of(self.text)) for each in text_outside(self.text)]
        found = [
            (at, f"text outside of any batch: {one_line(text, _MOST_SHOWN)!r}")
            for at, text in shown
            if not is_blank(text)
        ]
        found += [(at, "somebody wrote into this summary after it was archived") for at in grown_summaries(self.text)]
        return tuple(ArchiveFault(at, (), message) for at, message in sorted(found))

    @cached_property
    def faults(self) -> tuple[ArchiveFault, ...]:
        """The faults, in the order of the text."""
        faults: list[ArchiveFault] = []
        last, seen = 0, set[str]()
        for batch in self.batches:
            if batch.is_hashed and batch.entries and seen.issuperset(entry.sha for entry in batch.entries):
                message = f"the batch with {describe_runs(*runs_of(batch.numbers))} is there twice"
                faults.append(ArchiveFault(batch.start, batch.numbers, message))
                continue
            seen.update(entry.sha for entry in batch.entries)
            faults += _missing_batch(batch, last)
            for entry in batch.entries:
                message = _entry_fault(batch, entry, last)
                if message:
                    numbers = (entry.listed_as, entry.number) if entry.listed_as else (entry.number,)
                    faults.append(ArchiveFault(entry.start, numbers, message, message.endswith(_NOT_NAMED)))
                last = max(last, entry.listed_as or entry.number)
            faults += (
                _trailer_fault(batch) if batch.trailer is not None else self._open_batch(batch) if self.is_ours else ()
            )
            last = max((last, *batch.numbers))
        return tuple(faults)

    @cached_property
    def findings(self) -> tuple[ArchiveFault, ...]:
        """The faults, of closing lines that are gone or damaged only one, where they stand or should."""
        strays = [fault for fault in self.faults if fault.message.endswith(_NOT_NAMED)]
        gone = {number for fault in self.faults if _GONE in fault.message for number in fault.numbers}
        if gone and gone == {number for fault in strays for number in fault.numbers}:  # what follows was moved past
            return tuple(fault._replace(message=f"{fault.message}: it was moved") for fault in strays)
        unclosed = [fault for fault in self.faults if fault.is_unclosed]
        others = tuple(fault for fault in self.faults if not fault.is_unclosed)
        entries = [fault for fault in unclosed if fault.message.endswith(_NOT_NAMED)]
        if len(unclosed) < _PAIR or not entries:
            return self.faults
        numbers = [number for fault in entries for number in fault.numbers]
        line = re.compile(_CLOSING).search(self.text, self.text.find("\n", entries[-1].at))
        at = line.start() if line else entries[-1].at
        if line and not line[0].endswith(":"):
            at = line_start(self.text, len(self.text[:at].rstrip()))
        others = tuple(each for each in others if not (_HASHES in each.message and each.numbers[-1] + 1 in numbers))
        message = f"the lines that close {describe_runs(*runs_of(numbers))} are gone or damaged"
        return (*others, ArchiveFault(at, numbers, message))

    def edited(self, committed: ArchiveContents) -> Iterator[ArchiveFault]:
        """Yield a fault for each batch whose sessions are those of a committed one, and whose other lines differ."""
        if self.text == committed.text or self.faults:
            return
        is_told = False
        kept = {tuple(each.sha for each in batch.entries): rest for batch, rest in committed.around if batch.is_hashed}
        for batch, rest in self.around:
            other = first_other(rest, kept.get(tuple(each.sha for each in batch.entries), rest))
            if other and not any(rest[0][0] <= fault.at <= rest[-1][0] for fault in self.outside):
                is_told = True
                numbers, old = describe_runs(*runs_of(batch.numbers)), one_line(other[1], _MOST_SHOWN)
                message = f"the text beside {numbers} was edited; committed was {old!r}"
                yield ArchiveFault(other[0], batch.numbers, message)

        present = set(self.rolled_lines)
        gone = next((line for line in committed.rolled_lines if line not in present), "")
        if gone and not is_told:
            message = "a list that was moved here was edited, or is gone; committed was "
            at = self.edited_at((committed.text,), len(self.text.rstrip()))
            yield ArchiveFault(at, (), f"{message}{one_line(gone, _MOST_SHOWN)!r}")

    def lost(self, committed: ArchiveContents) -> Iterator[ArchiveFault]:
        """Yield a fault where the file has lost committed sessions, or has another text of them, with its hash."""
        present = {entry.number: entry.content_sha for entry in self.entries}
        changed = [each.number for each in committed.sound if present.get(each.number) != each.content_sha]
        if changed and not self.faults:
            numbers = describe_runs(*runs_of(changed))
            verb = "was" if len(changed) == 1 else "were"
            at = self.edited_at((committed.text,), line_start(self.text, len(self.text.rstrip())))
            yield ArchiveFault(at, changed, f"{numbers} {verb} changed here, or removed, after the commit")

    def edited_at(self, past: Iterable[str], at: int) -> int:
        """Return where the first line stands that a past text had otherwise; `at` where none had."""
        lines = filled_lines(self.text, Span(0, len(self.text)))
        found = (first_other(lines, filled_lines(text, Span(0, len(text)))) for text in past)
        return next((other[0] for other in found if other and other[1]), at)

    @property
    def rolled_lines(self) -> list[str]:
        """The lines of the lists that were moved out of the state file."""
        lists = [batch for batch in find_batches(self.text) if is_rolled_list(batch)]
        spans = [Span(each.start, each.start + len(each.text)) for each in lists]
        return [line for span in spans for _, line in filled_lines(self.text, span)]

    @cached_property
    def around(self) -> list[tuple[BatchContents, list[tuple[int, str]]]]:
        """The batches, each with its lines that are no session's: the summary that was replaced, and what closes it."""
        found = []
        for whole, batch in zip(find_batches(self.text), self.batches, strict=True):
            entries = [Span(entry.start, entry.end) for entry in batch.entries]
            lines = filled_lines(self.text, Span(whole.start, whole.start + len(whole.text)))
            found.append((batch, [each for each in lines if not is_within(entries, each[0])]))
        return found

    def _open_batch(self, batch: BatchContents) -> Iterator[ArchiveFault]:
        """Yield a fault where no lines close sessions: where those of the whole archive are cut off, at its end."""
        numbers = describe_runs(*runs_of(batch.numbers)) if batch.entries else ""
        if numbers and len(self.batches) == 1:
            at = line_start(self.text, len(self.text.rstrip()))
            message = f"the archive ends without the closing lines of {numbers}: its end was cut off"
            yield ArchiveFault(at, batch.numbers, message)
        elif numbers:
            verb, pronoun = ("is", "it") if len(batch.numbers) == 1 else ("are", "them")
            message = f"{numbers} {verb} after the last batch, and no lines close {pronoun}"
            yield ArchiveFault(batch.start, batch.numbers, message)


def from_git(path: str) -> str:
    """Return what to do with an archive file of which no whole version is known: how git lists and restores it."""
    import shlex

    own = shlex.quote(path)
    return f"`git log --oneline -- {own}` lists its versions, `git restore --source COMMIT -- {own}` restores one"


def runs_of(numbers: Iterable[int]) -> tuple[range, ...]:
    """Return numbers as runs of consecutive ones."""
    runs: list[range] = []
    for number in sorted(numbers):
        if runs and runs[-1].stop == number:
            runs[-1] = range(runs[-1].start, number + 1)
        else:
            runs.append(range(number, number + 1))
    return tuple(runs)


def missing_ends(expected: range, numbers: tuple[int, ...]) -> tuple[range, ...]:
    """Return the expected sessions that are missing before and behind those that an archive has; all if it has none."""
    if not numbers:
        return (expected,)
    begin, end = min(numbers), max(numbers)
    return range(expected.start, min(expected.stop, begin)), range(max(expected.start, end + 1), expected.stop)


def not_archived(runs: tuple[range, ...]) -> str:
    """Return the message for sessions that a summary stands for, and that the archive does not have."""
    it = "it" if sum(map(len, runs)) == 1 else "them"
    return f"the archive lacks {describe_runs(*runs)}, and the Archived Summary covers {it}"


def not_summarised(numbers: Sequence[int]) -> str:
    """Return the message for archived sessions that no summary stands for."""
    verb, it = ("is", "it") if len(numbers) == 1 else ("are", "them")
    return f"{describe_runs(*runs_of(numbers))} {verb} in the archive, and no Archived Summary covers {it}"


def describe_runs(*runs: range) -> str:
    """Return runs of session numbers in words.

    Takes runs and not numbers, because a summary may claim to stand for a billion sessions.
    """
    parts = [words for run in runs for words in _words(run)]
    words = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
    return f"session {words}" if words.isdigit() else f"the sessions {words}"


def _words(run: range) -> list[str]:
    return [f"{run.start} to {run.stop - 1}"] if len(run) > _PAIR else [str(number) for number in run]


def _missing_batch(batch: BatchContents, last: int) -> Iterator[ArchiveFault]:
    """Yield a fault where a batch replaced a summary of sessions that no earlier batch holds."""
    if batch.before is not None and batch.before > last:
        numbers = range(last + 1, batch.before + 1)
        yield ArchiveFault(batch.start, numbers, f"the batch with {describe_runs(numbers)} is gone", is_unclosed=True)


def _entry_fault(batch: BatchContents, entry: ArchivedSession, last: int) -> str:
    """Return what is wrong with an entry, or ""; without hashes only the order can be checked."""
    if entry.listed_as:
        return f"session {entry.listed_as} was renumbered by hand: its heading says {entry.number}"
    if entry.number <= last:
        where = f"comes after session {last}" if entry.number < last else "is there twice"
        return f"session {entry.number} {where}"
    if not batch.is_hashed:
        return ""
    if not entry.listed_sha:
        return f"session {entry.number} {_NOT_NAMED}"
    return "" if entry.listed_sha == entry.sha else f"session {entry.number} was altered: its SHA-256 differs"


def _trailer_fault(batch: BatchContents) -> Iterator[ArchiveFault]:
    """Yield a fault where a trailer lists sessions that are missing, or a range that its hashes contradict."""
    if batch.trailer is None:
        return
    if not batch.is_hashed:
        yield from _unhashed_fault(batch, batch.trailer)
        return
    held = {entry.listed_as or entry.number for entry in batch.entries}
    missing = tuple(number for number in batch.numbers if number not in held)
    if missing:
        verb, pronoun = ("is", "it") if len(missing) == 1 else ("are", "them")
        message = f"{describe_runs(*runs_of(missing))} {verb}{_GONE} the batch's closing lines name {pronoun}"
        behind = next((entry.start for entry in batch.entries if entry.number > missing[0]), batch.trailer)
        yield ArchiveFault(behind, missing, message)
    elif batch.range != (batch.numbers[0], batch.numbers[-1]):
        first, last = batch.range or (0, 0)
        listed = describe_runs(*runs_of(batch.numbers))
        message = f"the closing lines of a batch say {first}-{last}, and {_HASHES} {listed}"
        yield ArchiveFault(batch.trailer, batch.numbers, message)


def _unhashed_fault(batch: BatchContents, trailer: int) -> Iterator[ArchiveFault]:
    """Yield a fault where a trailer lost its hashes, or names a range of which sessions are missing.

    An archive that was written by hand has none, and is taken as it is.
    """
    if batch.is_cut:
        yield ArchiveFault(trailer, batch.numbers, "the closing lines of a batch have lost their hashes")
        return
    first, last = batch.range or (1, 0)
    present = [number for number in batch.numbers if first <= number <= last]
    if len(present) < len(batch.numbers) or (last - first + 1) > len(present):
        held = describe_runs(*runs_of(batch.numbers)) if batch.numbers else "no session"
        message = f"the closing lines of a batch say {first}-{last}, and it has {held}"
        yield ArchiveFault(trailer, batch.numbers, message)

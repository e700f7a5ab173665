"""Finds the sessions of a log that stand in the archive, too: after a merge, or where an older text was saved again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from taskstate.model.progress_log import session_time
from taskstate.model.session_words import session_words
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from taskstate.archive.integrity import ArchiveContents
    from taskstate.model.progress_log import Session
    from taskstate.model.task_state import TaskState

TAKE_OUT = "`taskstate doctor --fix` deletes from the log what the archive has, too"


class Doubled(NamedTuple):
    """A session of the log that stands in the archive, too, and its number there."""

    session: Session
    archived_as: int


def doubled(sessions: Sequence[Session], archive: ArchiveContents) -> tuple[Doubled, ...]:
    """Return the sessions of a log that the archive holds as well, perhaps in other marks of Markdown.

    The same words under two numbers may be two sessions: "ran the tests", twice in one minute. They are one where
    another minute lies between the numbers, or another session that stands in both files.
    """
    entries = {each.number: archive.text[each.start : each.end] for each in archive.entries}
    times = {number: session_time(entry.partition("\n")[0].strip("# \r")) for number, entry in entries.items()}
    pairs = list(_alike(sessions, entries, times))
    times.update((session.number, session.time) for session in sessions)
    minutes = _Order.of(times.items())
    others = _Order.of((number, words) for (session, at), words in pairs for number in (session.number, at))
    return tuple(
        pair
        for pair, words in pairs
        if pair.session.number == pair.archived_as
        or minutes.has_other(pair, pair.session.time)
        or others.has_other(pair, words)
    )


def _alike(
    sessions: Sequence[Session], entries: Mapping[int, str], times: Mapping[int, str | None]
) -> Iterator[tuple[Doubled, str]]:
    """Yield each session of a log with an archived one of the same time and words, and these words."""
    both = {session.time for session in sessions}.intersection(times.values())
    held: dict[str, dict[int, None]] = {}
    for number in sorted(times, reverse=True) if both else ():  # so that the lowest is the last, which is taken first
        if times[number] in both:
            held.setdefault(session_words(entries[number]), {})[number] = None
    for session in sessions:
        words = session_words(session.entry) if session.time in both else ""
        numbers = held.get(words)
        if numbers:
            number = session.number if session.number in numbers else next(reversed(numbers))
            del numbers[number]
            yield Doubled(session, number), words


class _Order(NamedTuple):
    """What stands under which number, in order, and for each the index of the next that is another one."""

    numbers: list[int]
    values: list[str | None]
    changes: list[int]

    @classmethod
    def of(cls, numbered: Iterable[tuple[int, str | None]]) -> _Order:
        """Return what stands under these numbers."""
        ordered = sorted(numbered, key=lambda each: each[0])
        values = [value for _, value in ordered]
        changes = [len(values)] * len(values)
        for index in range(len(values) - 2, -1, -1):
            changes[index] = changes[index + 1] if values[index] == values[index + 1] else index + 1
        return cls([number for number, _ in ordered], values, changes)

    def has_other(self, pair: Doubled, value: str | None) -> bool:
        """Return whether anything but this value stands between the two numbers of a session."""
        low, high = sorted((pair.session.number, pair.archived_as))
        first, stop = bisect_right(self.numbers, low), bisect_left(self.numbers, high)
        return first < stop and (self.values[first] != value or self.changes[first] < stop)


def is_archived_as(number: int, archived_as: int) -> str:
    """Return the message for a session of the log that stands in the archive under another number."""
    return f"session {number} of the Progress Log is session {archived_as} of the archive"


def take_out(state: TaskState, archive: ArchiveContents) -> str:
    """Return what to do with sessions of the log that the archive holds, too."""
    covers = state.archived == max(archive.numbers, default=0)
    return TAKE_OUT if covers else "delete from the log what the archive has, too"

"""Merges the Progress Log: no session of either side is lost, and the numbers rise.

A session is identified by its text without its number, since an earlier merge may have renumbered it. Sessions that
both sides added are ordered by time. Archived sessions keep their numbers, and so do all others as long as the numbers
rise; where a session must be renumbered, references to it are updated in what its side has added.
"""

from __future__ import annotations

from collections import Counter
from heapq import merge

from taskstate.merge.lines import merge_text
from taskstate.merge.summaries import ArchivedPart, archived_since, merge_summary
from taskstate.model.algorithms import longest_rising
from taskstate.model.progress_log import session_of
from taskstate.model.session_references import fuller, identity, renumbered
from taskstate.model.task_state import PART_LEVEL
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.three_way import Versions, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Section
    from taskstate.units.three_way import Prefer


class _Entry(NamedTuple):
    """An entry of the log: a session or, without a number, another subsection."""

    text: str
    number: int | None
    time: str


class _Log(NamedTuple):
    """The log of one version: the text above the first heading, the archived part, and the entries by identity."""

    intro: str
    rolled: ArchivedPart
    entries: Mapping[str, _Entry]


class MergedLog(NamedTuple):
    """The merged section, and the numbers and identities of the sessions that a reader must find in it."""

    text: str
    sessions: tuple[tuple[int, str], ...]


def merge_log(versions: Versions[TaskState], prefer: Prefer) -> MergedLog:
    """Return the merged Progress Log; ours and theirs must both have one."""
    base = _log(versions.base, {}, {})
    ours = _log(versions.ours, base.entries, {})
    logs = Versions(base, ours, _log(versions.theirs, base.entries, ours.entries))
    summary, last = merge_summary(logs.each(lambda log: log.rolled), prefer)
    retained = _Retained(logs, last, prefer)
    order = _in_order(retained.of(logs.ours), retained.of(logs.theirs), logs)
    numbers = _numbers(order, logs, last, retained.conflicting)
    moves = logs.each(lambda log: _moved(log, numbers))
    texts = [_text(key, logs, numbers, moves, prefer) for key in order]
    parts = [merge_text(logs.each(lambda log: log.intro), prefer), *([summary] if summary else []), *texts]
    sessions = tuple((numbers[key], identity(text)) for key, text in zip(order, texts, strict=True) if key in numbers)
    return MergedLog("".join(_spaced(part) for part in parts), sessions)


def _spaced(part: str) -> str:
    """Return a part with one blank line at its end, which separates it from the next part."""
    return part if part.endswith("\n\n") else f"{part.rstrip(chr(10))}\n\n"


# One version


def _log(state: TaskState, base: Mapping[str, _Entry], other: Mapping[str, _Entry]) -> _Log:
    section = state.section("Progress Log")
    children = state.document.children(section, PART_LEVEL) if section else ()
    text = state.document.text
    end = children[0].span.start if children else section.span.end if section else 0
    summary = state.summary.section if state.summary else None
    entries = _keyed([_entry(state, child) for child in children if child != summary], base, other)
    return _Log(
        intro=text[section.span.start : end] if section else "",
        rolled=ArchivedPart(
            state=state,
            text=summary.span.of(text) if summary else "",
            last=state.archived,
            numbers={key: entry.number for key, entry in entries.items() if entry.number is not None},
        ),
        entries=entries,
    )


def _entry(state: TaskState, section: Section) -> _Entry:
    session = session_of(state.document, section)
    text = section.span.of(state.document.text)
    return _Entry(text, session.number if session else None, (session.time or "") if session else "")


def _keyed(entries: Sequence[_Entry], base: Mapping[str, _Entry], other: Mapping[str, _Entry]) -> dict[str, _Entry]:
    """Return entries by key; an entry that was edited since `base` is found there by its number and time.

    A session that its turn completed since has the key of its other form, there or on the `other` side.
    """
    count: Counter[str] = Counter()
    keys: list[str] = []
    for entry in entries:
        name = identity(entry.text)
        count[name] += 1
        keys.append(f"{name}\0{count[name]}")
    present = set(keys)
    unmatched = {_position(entry): key for key, entry in base.items() if key not in present}
    pairs = zip(keys, entries, strict=True)
    keyed = {key if key in base else unmatched.pop(_position(entry), key): entry for key, entry in pairs}
    known = {**other, **base}
    free = {key: entry for key, entry in known.items() if key not in keyed}
    return {key if key in known else _other_form(entry, free) or key: entry for key, entry in keyed.items()}


def _other_form(entry: _Entry, free: dict[str, _Entry]) -> str:
    """Return the key of another form of a session, taken out of `free`, or "" if there is none."""
    at_once = (key for key, each in free.items() if each.number is not None and each.time == entry.time)
    found = next((key for key in at_once if fuller(free[key].text, entry.text)), "")
    free.pop(found, None)
    return found


def _position(entry: _Entry) -> tuple[int | None, str]:
    return entry.number, entry.time if entry.number is not None else entry.text.split("\n", 1)[0]


# Which entries stay, and in which order


class _Retained:
    """Decides which entries stay in the log; `conflicting` are those that one side archived and the other edited."""

    def __init__(self, logs: Versions[_Log], last: int, prefer: Prefer) -> None:
        self.logs = logs
        self.last = last
        self.prefer = prefer
        self.archived = archived_since(logs.each(lambda log: log.rolled))
        self.conflicting: set[str] = set()

    def of(self, log: _Log) -> list[str]:
        """Return the keys of one side's entries that stay in the log."""
        return [key for key in log.entries if self._stays(key, log)]

    def _stays(self, key: str, log: _Log) -> bool:
        ours = log is self.logs.ours
        other = self.logs.theirs if ours else self.logs.ours
        if key in other.entries:
            return True
        entry, before = log.entries[key], self.logs.base.entries.get(key)
        if before is None:  # new, or restored from an archive to which the other side has added
            common = self.logs.base.rolled.last
            return entry.number is None or not log.rolled.last < entry.number <= min(common, self.last)
        untouched = identity(before.text) == identity(entry.text)
        if key in (self.archived.theirs if ours else self.archived.ours):
            if untouched:
                return False
            self.conflicting.add(key)
            return self.prefer == ("ours" if ours else "theirs")
        # Only archiving removes sessions, so one that the other side lacks was not deleted on purpose.
        return entry.number is not None or not untouched


def _in_order(ours: list[str], theirs: list[str], logs: Versions[_Log]) -> list[str]:
    """Return the keys of both sides: the order of each side is kept, and between common entries times decide."""
    moments = {**_moments(logs.theirs), **_moments(logs.ours)}
    our_positions, their_positions = ({key: index for index, key in enumerate(keys)} for keys in (ours, theirs))
    common = [key for key in ours if key in their_positions]
    fixed = [common[index] for index in longest_rising([their_positions[key] for key in common])]
    reordered = set(common).difference(fixed)  # in different order on the two sides: ours counts
    merged: list[str] = []
    start = (0, 0)
    for key in (*fixed, None):
        stop = (our_positions[key], their_positions[key]) if key is not None else (len(ours), len(theirs))
        added = [each for each in theirs[start[1] : stop[1]] if each not in reordered]
        merged += merge(ours[start[0] : stop[0]], added, key=moments.__getitem__)
        merged += [key] if key is not None else []
        start = (stop[0] + 1, stop[1] + 1)
    return merged


def _moments(log: _Log) -> dict[str, tuple[str, str]]:
    """Return the time of each entry, for one without a time that of the entry before it; the key breaks ties."""
    moments: dict[str, tuple[str, str]] = {}
    time = ""
    for key, entry in log.entries.items():
        time = entry.time or time
        moments[key] = (time, key)
    return moments


# Numbers


def _numbers(order: Sequence[str], logs: Versions[_Log], last: int, conflicting: set[str]) -> dict[str, int]:
    """Return the number of each session: its present one if that is free, else the next free one."""
    numbers: dict[str, int] = {}
    for key in order:
        present = [log.entries[key].number or 0 for log in (logs.ours, logs.theirs) if key in log.rolled.numbers]
        if present and key in conflicting:
            numbers[key] = max(present)
        elif present:
            last = numbers[key] = max(last + 1, *present)
    return numbers


def _moved(log: _Log, numbers: Mapping[str, int]) -> dict[int, int]:
    """Return the sessions of one version that were renumbered, old numbers to new ones."""
    pairs = ((number, numbers.get(key, number)) for key, number in log.rolled.numbers.items())
    return {old: new for old, new in pairs if old != new}


def _text(
    key: str, logs: Versions[_Log], numbers: Mapping[str, int], moves: Versions[dict[int, int]], prefer: Prefer
) -> str:
    """Return the merged text of an entry."""
    entries = Versions(*(log.entries.get(key) for log in logs))
    pairs = zip(entries, moves, strict=True)
    texts = Versions(*(_version(key, entry, entries.base, numbers, moved) for entry, moved in pairs))
    if entries.ours is None or entries.theirs is None:
        return texts.theirs if entries.ours is None else texts.ours
    identities = texts.each(identity)
    if unconflicted := trivial_merge(identities):
        return texts.ours if identities.ours == unconflicted[0] else texts.theirs
    return (not entries.base and fuller(texts.ours, texts.theirs)) or merge_text(texts, prefer)


def _version(
    key: str, entry: _Entry | None, before: _Entry | None, numbers: Mapping[str, int], moves: Mapping[int, int]
) -> str:
    """Return one side's text of an entry under its new number."""
    if entry is None or key not in numbers:
        return entry.text if entry else ""
    is_new_or_moved = before is None or numbers[key] != entry.number
    return renumbered(entry.text, numbers[key], moves if is_new_or_moved else {})

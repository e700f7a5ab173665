"""Merges the Progress Log: no session of either side is lost, and the numbers rise.

A session is known by what it says and when, without its number, because an earlier merge may have given it another
one. Sessions that both sides added are put in the order of their times. Those that are archived keep their numbers, and
so do all others as far as the numbers still rise; a session that must take another number is followed by the references
to it in what its side has added.
"""

from __future__ import annotations

from collections import Counter
from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

from taskstate.merge.lines import merge_text
from taskstate.merge.summaries import ArchivedPart, archived_since, merge_summary
from taskstate.merge.three_way import Versions, trivial_merge
from taskstate.model.algorithms import longest_rising
from taskstate.model.session_references import identity, renumbered
from taskstate.model.task_state import PART_LEVEL, session_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.merge.three_way import Prefer
    from taskstate.model.task_state import TaskState
    from taskstate.syntax.document import Section


class _Entry(NamedTuple):
    """A part of the log under a heading of its own: a session or, without a number, something else."""

    text: str
    number: int | None
    time: str


class _Log(NamedTuple):
    """One version: what stands above the first heading, the summary, and the entries by what they are known by."""

    intro: str
    rolled: ArchivedPart
    entries: Mapping[str, _Entry]


class MergedLog(NamedTuple):
    """The merged section, and the numbers and identities of the sessions that it must be seen to hold."""

    text: str
    sessions: tuple[tuple[int, str], ...]


def merge_log(sides: Versions[TaskState], prefer: Prefer) -> MergedLog:
    """Return three Progress Logs as one; both sides must have one."""
    base = _log(sides.base, {})
    logs = Versions(base, _log(sides.ours, base.entries), _log(sides.theirs, base.entries))
    summary, last = merge_summary(logs.each(lambda log: log.rolled), prefer)
    stays = _Staying(logs, last, prefer)
    order = _in_order(stays.of(logs.ours), stays.of(logs.theirs), logs)
    numbers = _numbers(order, logs, last, stays.held)
    moved = logs.each(lambda log: _moved(log, numbers))
    texts = [_text(key, logs, numbers, moved, prefer) for key in order]
    parts = [merge_text(logs.each(lambda log: log.intro), prefer), *([summary] if summary else []), *texts]
    sessions = tuple((numbers[key], identity(text)) for key, text in zip(order, texts, strict=True) if key in numbers)
    return MergedLog("".join(_spaced(part) for part in parts), sessions)


def _spaced(part: str) -> str:
    """Return a part with the blank line at its end that keeps it from what follows."""
    return part if part.endswith("\n\n") else f"{part.rstrip(chr(10))}\n\n"


# One version


def _log(state: TaskState, known: Mapping[str, _Entry]) -> _Log:
    section = state.section("Progress Log")
    children = state.document.children(section, PART_LEVEL) if section else ()
    text = state.document.text
    end = children[0].span.start if children else section.span.end if section else 0
    summary = state.summary.section if state.summary else None
    entries = _keyed([_entry(state, child) for child in children if child != summary], known)
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


def _keyed(entries: Sequence[_Entry], known: Mapping[str, _Entry]) -> dict[str, _Entry]:
    """Return entries by what they are known by; one that was edited since is known by its number and time."""
    count: Counter[str] = Counter()
    keys: list[str] = []
    for entry in entries:
        name = identity(entry.text)
        count[name] += 1
        keys.append(f"{name}\0{count[name]}")
    found = set(keys)
    missing = {_place(entry): key for key, entry in known.items() if key not in found}
    return {
        key if key in known else missing.pop(_place(entry), key): entry
        for key, entry in zip(keys, entries, strict=True)
    }


def _place(entry: _Entry) -> tuple[int | None, str]:
    return entry.number, entry.time if entry.number is not None else entry.text.split("\n", 1)[0]


# Which sessions stay, and in which order


class _Staying:
    """Which entries the merged log holds; `held` are those that one side archived and the other edited."""

    def __init__(self, logs: Versions[_Log], last: int, prefer: Prefer) -> None:
        self.logs = logs
        self.last = last
        self.prefer = prefer
        self.gone = archived_since(logs.each(lambda log: log.rolled))
        self.held: set[str] = set()

    def of(self, log: _Log) -> list[str]:
        """Return the entries of one side that stay."""
        return [key for key in log.entries if self._stays(key, log)]

    def _stays(self, key: str, log: _Log) -> bool:
        ours = log is self.logs.ours
        other = self.logs.theirs if ours else self.logs.ours
        if key in other.entries:
            return True
        entry, before = log.entries[key], self.logs.base.entries.get(key)
        if before is None:  # new, or taken back out of an archive that the other side has added to
            common = self.logs.base.rolled.last
            return entry.number is None or not log.rolled.last < entry.number <= min(common, self.last)
        untouched = identity(before.text) == identity(entry.text)
        if key in (self.gone.theirs if ours else self.gone.ours):
            if untouched:
                return False
            self.held.add(key)
            return self.prefer == ("ours" if ours else "theirs")
        return entry.number is not None or not untouched  # sessions are only ever removed by archiving


def _in_order(ours: list[str], theirs: list[str], logs: Versions[_Log]) -> list[str]:
    """Return the entries of both sides: each side's order stays, and between common ones the times decide."""
    moments = {**_moments(logs.theirs), **_moments(logs.ours)}
    here, places = ({key: index for index, key in enumerate(keys)} for keys in (ours, theirs))
    common = [key for key in ours if key in places]
    fixed = [common[index] for index in longest_rising([places[key] for key in common])]
    loose = set(common).difference(fixed)  # in another order on either side: ours counts
    merged: list[str] = []
    at = (0, 0)
    for key in (*fixed, None):
        stop = (here[key], places[key]) if key is not None else (len(ours), len(theirs))
        new = [each for each in theirs[at[1] : stop[1]] if each not in loose]
        merged += merge(ours[at[0] : stop[0]], new, key=moments.__getitem__)
        merged += [key] if key is not None else []
        at = (stop[0] + 1, stop[1] + 1)
    return merged


def _moments(log: _Log) -> dict[str, tuple[str, str]]:
    """Return when each entry was, one without a time when the one before it was; equal times are told apart."""
    moments: dict[str, tuple[str, str]] = {}
    time = ""
    for key, entry in log.entries.items():
        time = entry.time or time
        moments[key] = (time, key)
    return moments


# Numbers


def _numbers(order: Sequence[str], logs: Versions[_Log], last: int, held: set[str]) -> dict[str, int]:
    """Return the number of each session: the one that it has, or else the next that is free."""
    numbers: dict[str, int] = {}
    for key in order:
        had = [log.entries[key].number or 0 for log in (logs.ours, logs.theirs) if key in log.rolled.numbers]
        if had and key in held:
            numbers[key] = max(had)
        elif had:
            last = numbers[key] = max(last + 1, *had)
    return numbers


def _moved(log: _Log, numbers: Mapping[str, int]) -> dict[int, int]:
    """Return the sessions of one version that have another number now."""
    pairs = ((number, numbers.get(key, number)) for key, number in log.rolled.numbers.items())
    return {old: new for old, new in pairs if old != new}


def _text(
    key: str, logs: Versions[_Log], numbers: Mapping[str, int], moved: Versions[dict[int, int]], prefer: Prefer
) -> str:
    """Return the merged text of an entry."""
    had = Versions(*(log.entries.get(key) for log in logs))
    texts = Versions(*(_version(key, entry, had.base, numbers, move) for entry, move in zip(had, moved, strict=True)))
    if had.ours is None or had.theirs is None:
        return texts.theirs if had.ours is None else texts.ours
    said = texts.each(identity)
    if found := trivial_merge(said):
        return texts.ours if said.ours == found[0] else texts.theirs
    return merge_text(texts, prefer)


def _version(
    key: str, entry: _Entry | None, before: _Entry | None, numbers: Mapping[str, int], moved: Mapping[int, int]
) -> str:
    """Return one side's text of an entry under its new number."""
    if entry is None or key not in numbers:
        return entry.text if entry else ""
    follows = before is None or numbers[key] != entry.number
    return renumbered(entry.text, numbers[key], moved if follows else {})

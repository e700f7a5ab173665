"""Merges the Archived Summary, and determines which sessions each side has archived since the base.

The archive file is not read here, so this is inferred: a session that is missing in one side's log, and whose number
its summary covers, was archived; numbers above those are sessions that this side added and archived itself. The merge
of the archive files (`archives`) arrives at the same numbers.
"""

from __future__ import annotations

import re

from taskstate.archive.summary import merge_summaries
from taskstate.merge.lines import merge_text
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.three_way import Versions, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.task_state import TaskState
    from taskstate.units.three_way import Prefer

_STATEMENT = re.compile(r"^(.*?)\((?:S\d{1,9}(?:-S\d{1,9})?, ){0,9}S(?:\d{1,9}-S)?(\d{1,9})\)[ \t]*$", re.MULTILINE)


class ArchivedPart(NamedTuple):
    """The archived part of one version's log: its summary's text, and the last archived number.

    `numbers` are the numbers of the sessions that are still in the log, by the keys of their entries.
    """

    state: TaskState
    text: str
    last: int
    numbers: Mapping[str, int]


def merge_summary(versions: Versions[ArchivedPart], prefer: Prefer) -> tuple[str, int]:
    """Return the summary of the merged log, and the last session number that the merged archive will hold."""
    unconflicted = trivial_merge(versions.each(lambda side: side.text.rstrip()))
    if unconflicted:
        return next((side.text, side.last) for side in versions if side.text.rstrip() == unconflicted[0])
    ours, theirs = versions.ours, versions.theirs
    if min(ours.last, theirs.last) < versions.base.last:  # one side restored a batch, the other archived one
        return max((ours.last, ours.text), (theirs.last, theirs.text))[::-1]
    archived = archived_since(versions)
    their_new = _newly_archived(versions.base, theirs, archived.theirs, archived.ours)
    our_new = _newly_archived(versions.base, ours, archived.ours, archived.theirs)
    if not their_new and not our_new:
        return merge_text(versions.each(lambda side: side.text), prefer), ours.last
    if not their_new or _contains(ours, theirs, theirs.last - their_new):
        return ours.text, ours.last
    if not our_new or _contains(theirs, ours, ours.last - our_new):
        return theirs.text, theirs.last
    last = ours.last + their_new
    return merge_summaries(
        ours.state, theirs.state, above=theirs.last - their_new, shift=last - theirs.last
    ) + "\n\n", last


def archived_since(versions: Versions[ArchivedPart]) -> Versions[frozenset[str]]:
    """Return for each version the keys of those sessions of the base that it has archived since."""
    return versions.each(lambda side: _archived_since(versions.base, side))


def _archived_since(base: ArchivedPart, side: ArchivedPart) -> frozenset[str]:
    if side.last <= base.last:
        return frozenset()
    return frozenset(key for key, number in base.numbers.items() if key not in side.numbers and number <= side.last)


def _newly_archived(base: ArchivedPart, side: ArchivedPart, archived: frozenset[str], others: frozenset[str]) -> int:
    """Return how many sessions a side has archived that the other side has not: its own, and those of the base."""
    last_of_base = min(side.last, base.last + len(archived))
    return side.last - last_of_base + len(archived - others)


def _contains(whole: ArchivedPart, part: ArchivedPart, above: int) -> bool:
    """Return whether one summary contains all that another one says about sessions above a number.

    Then both sides have archived the same sessions, perhaps under different numbers.
    """
    statements = {text for text, last in _statements(part) if last > above}
    return bool(statements) and statements.issubset(text for text, _ in _statements(whole))


def _statements(side: ArchivedPart) -> list[tuple[str, int]]:
    """Return the statements of a summary, each with the last session that it is about."""
    return [(line[1], int(line[2])) for line in _STATEMENT.finditer(side.text)]

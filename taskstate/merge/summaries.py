"""Merges the Archived Summary, and finds out what each side has archived since the common version.

What the archive file holds is not seen here, so it is counted: a session that one side's log lacks, and whose number
its summary covers, went into the archive; numbers above those are sessions that this side added and archived itself.
The archive's own merge (`archives`) comes to the same numbers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive.summary import merge_summaries
from taskstate.merge.lines import merge_text
from taskstate.merge.three_way import Versions, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.merge.three_way import Prefer
    from taskstate.model.task_state import TaskState

_ABOUT = re.compile(r"^(.*?)\((?:S\d{1,9}(?:-S\d{1,9})?, ){0,9}S(?:\d{1,9}-S)?(\d{1,9})\)[ \t]*$", re.MULTILINE)


class ArchivedPart(NamedTuple):
    """What one version has rolled into the archive: its summary's text, the highest number, and the log's sessions.

    `numbers` holds those of the sessions that are still in the log, by what they are known by.
    """

    state: TaskState
    text: str
    last: int
    numbers: Mapping[str, int]


def merge_summary(sides: Versions[ArchivedPart], prefer: Prefer) -> tuple[str, int]:
    """Return the summary of the merged log, and the highest number that the archive will hold."""
    found = trivial_merge(sides.each(lambda side: side.text.rstrip()))
    if found:
        return next((side.text, side.last) for side in sides if side.text.rstrip() == found[0])
    ours, theirs = sides.ours, sides.theirs
    if min(ours.last, theirs.last) < sides.base.last:  # one side took a batch back out, the other put one in
        return max((ours.last, ours.text), (theirs.last, theirs.text))[::-1]
    gone = archived_since(sides)
    more = sides.theirs.last - _known(sides.base, theirs, gone.theirs) + len(gone.theirs - gone.ours)
    own = sides.ours.last - _known(sides.base, ours, gone.ours) + len(gone.ours - gone.theirs)
    if not more and not own:
        return merge_text(sides.each(lambda side: side.text), prefer), ours.last
    if not more or _tells(ours, theirs, theirs.last - more):
        return ours.text, ours.last
    if not own or _tells(theirs, ours, ours.last - own):
        return theirs.text, theirs.last
    last = ours.last + more
    return merge_summaries(ours.state, theirs.state, above=theirs.last - more, shift=last - theirs.last) + "\n\n", last


def archived_since(sides: Versions[ArchivedPart]) -> Versions[frozenset[str]]:
    """Return the sessions of the common version that each side has archived since."""
    return sides.each(lambda side: _archived_since(sides.base, side))


def _archived_since(base: ArchivedPart, side: ArchivedPart) -> frozenset[str]:
    if side.last <= base.last:
        return frozenset()
    return frozenset(key for key, number in base.numbers.items() if key not in side.numbers and number <= side.last)


def _known(base: ArchivedPart, side: ArchivedPart, gone: frozenset[str]) -> int:
    """Return up to which of a side's archived numbers they stand for sessions that the common version knew."""
    return min(side.last, base.last + len(gone))


def _tells(whole: ArchivedPart, part: ArchivedPart, above: int) -> bool:
    """Return whether one summary says all that another does about sessions above a number.

    Then both sides have archived the same sessions, perhaps under other numbers.
    """
    about = {text for text, last in _told(part) if last > above}
    return bool(about) and about.issubset(text for text, _ in _told(whole))


def _told(side: ArchivedPart) -> list[tuple[str, int]]:
    """Return what a summary says, each with the last session that it is about."""
    return [(line[1], int(line[2])) for line in _ABOUT.finditer(side.text)]

"""Merges archive files batch by batch: what our side archived keeps its numbers, the other side's entries follow.

Where one side's batches hold all that the other side archived, they are taken as they are, also where the other side
has taken one back out: what is in the archive stays there, and the state file's merge knows. Otherwise the other side's
entries that ours lacks come behind ours, under the next numbers, with new hashes: a number cannot mean two sessions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from taskstate.archive.archiver import trailer
from taskstate.merge.lines import lines_of, merge_text
from taskstate.merge.three_way import PREFERENCES, Versions
from taskstate.model.archive_format import ENTRY_LEVEL, entry_hash, find_batches, is_rolled_list
from taskstate.model.session_references import identity, renumbered
from taskstate.model.task_state import session_number
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.merge.three_way import Prefer
    from taskstate.model.archive_format import Batch

_WHEN = re.compile(r"^Archived on: (.*)$", re.MULTILINE)
_WHY = re.compile(r"^Reason: (.*)$", re.MULTILINE)


class _Entry(NamedTuple):
    """A part of a batch: an archived session or, without a number, the summary that the batch replaced."""

    text: str
    number: int | None


def merge_archives(sides: Versions[str]) -> tuple[list[str], list[str]]:
    """Return three archive files as one, in lines: with ours preferred, and with theirs."""
    ours, theirs = (lines_of(_merge(sides, prefer)) for prefer in PREFERENCES)
    return ours, theirs


def _merge(sides: Versions[str], prefer: Prefer) -> str:
    found = sides.each(find_batches)
    batches = found.each(lambda side: [batch for batch in side if not is_rolled_list(batch)])
    if any(not batch.trailer for side in batches for batch in side) or _title(sides.ours) != _title(sides.theirs):
        return merge_text(sides, prefer)  # somebody has written into it by hand
    united = _united(sides, batches)
    return _with_lists(united, found) if united else merge_text(sides, prefer)


def _with_lists(text: str, found: Versions[list[Batch]]) -> str:
    """Return an archive with the lists of both sides that were rolled out of the state file, such as old commits."""
    there = {batch.entries for batch in find_batches(text) if is_rolled_list(batch)}
    lists = (batch.entries for side in (found.ours, found.theirs) for batch in side if is_rolled_list(batch))
    missing = [each for each in dict.fromkeys(lists) if each not in there]
    return text + "".join(f"\n{each}\n" for each in missing)


def _title(text: str) -> str:
    return text.split("\n", 1)[0]


def _united(sides: Versions[str], all_batches: Versions[list[Batch]]) -> str:
    """Return ours with what theirs has archived besides; nothing where the result would not read as it should."""
    entries = all_batches.each(lambda batches: [entry for batch in batches for entry in _entries(batch.entries)])
    mine, other = ({identity(each.text) for each in side if each.number is not None} for side in entries[1:])
    if other <= mine:
        return sides.ours
    if mine <= other:
        return sides.theirs
    before = [number for batch in all_batches.ours for number in _numbers(batch.entries)]
    last = max(before, default=0)
    moved: dict[int, int] = {}
    for entry in entries.theirs:
        if entry.number is not None and identity(entry.text) not in mine:
            moved[entry.number] = last = last + 1
    text = "".join((sides.ours, *(_moved(batch, mine, moved) for batch in all_batches.theirs)))
    after = [batch for batch in find_batches(text) if not is_rolled_list(batch)]
    told = [number for batch in after for number in _numbers(batch.entries)]
    return text if told == [*before, *moved.values()] and all(batch.trailer for batch in after) else ""


def _moved(batch: Batch, known: set[str], moved: Mapping[int, int]) -> str:
    """Return a batch without the sessions that are known already, the others under their new numbers."""
    kept = [each for each in _entries(batch.entries) if each.number is None or identity(each.text) not in known]
    new = [
        each if each.number is None else _Entry(renumbered(each.text, moved[each.number], moved), moved[each.number])
        for each in kept
    ]
    hashes = {each.number: entry_hash(each.text.replace("##", "###", 1)) for each in new if each.number is not None}
    if not hashes:
        return ""
    entries = "".join(each.text for each in new)
    when, why = _WHEN.search(batch.trailer), _WHY.search(batch.trailer)
    closing = trailer(entries, hashes, reason=why[1] if why else "", now=when[1] if when else "", newline="\n")
    return f"\n{entries.rstrip(chr(10))}\n\n{closing}"


def _entries(text: str) -> list[_Entry]:
    """Return the parts of a batch, in the order in which they stand."""
    sections = [section for section in parse(text).sections if section.level == ENTRY_LEVEL]
    return [_Entry(section.span.of(text), session_number(section.title)) for section in sections]


def _numbers(text: str) -> list[int]:
    return [entry.number for entry in _entries(text) if entry.number is not None]

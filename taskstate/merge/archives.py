"""Merges archive files batch by batch: our entries keep their numbers, those that only theirs has follow.

Where one side's batches contain all that the other side archived, they are the result, even if the other side restored
a batch: archived sessions stay in the archive, and the merge of the state files knows that. Otherwise the entries that
only theirs has are appended with the next numbers and new hashes, because a number must never name two sessions.
"""

from __future__ import annotations

import re

from taskstate.archive.archiver import trailer
from taskstate.merge.lines import merge_text
from taskstate.model.archive_format import ENTRY_LEVEL, entry_hash, find_batches, is_rolled_list, text_outside
from taskstate.model.progress_log import session_number
from taskstate.model.session_references import identity, renumbered
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.archive_format import Batch
    from taskstate.units.three_way import Prefer, Versions

_ARCHIVED_ON = re.compile(r"^Archived on: (.*)$", re.MULTILINE)
_REASON = re.compile(r"^Reason: (.*)$", re.MULTILINE)


class _Entry(NamedTuple):
    """An entry of a batch: an archived session or, without a number, the summary that the batch replaced."""

    text: str
    number: int | None


def merge_archive(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged archive file."""
    all_batches = versions.each(find_batches)
    batches = all_batches.each(lambda side: [batch for batch in side if not is_rolled_list(batch)])
    if any(not batch.trailer for side in batches for batch in side) or _title(versions.ours) != _title(versions.theirs):
        return merge_text(versions, prefer)  # somebody has edited it by hand
    merged = _combined(versions, batches)
    return _with_lists(merged, versions, all_batches) if merged else merge_text(versions, prefer)


def _with_lists(text: str, versions: Versions[str], all_batches: Versions[list[Batch]]) -> str:
    """Return an archive with the lists that either side moved out of its state file, and with what people wrote."""
    present = {batch.entries for batch in find_batches(text) if is_rolled_list(batch)}
    lists = (
        batch.entries for side in (all_batches.ours, all_batches.theirs) for batch in side if is_rolled_list(batch)
    )
    before, ours, theirs = versions.each(lambda side: [span.of(side) for span in text_outside(side)])
    present.update(before, (span.of(text) for span in text_outside(text)))
    missing = [each for each in dict.fromkeys((*lists, *ours, *theirs)) if each not in present]
    return text + "".join(f"\n{each}\n" for each in missing)


def _title(text: str) -> str:
    return text.split("\n", 1)[0]


def _combined(versions: Versions[str], all_batches: Versions[list[Batch]]) -> str:
    """Return ours with the entries that only theirs has; "" where the result would not read as expected."""
    entries = all_batches.each(lambda batches: [entry for batch in batches for entry in _entries(batch.entries)])
    our_identities, their_identities = (
        {identity(each.text) for each in side if each.number is not None} for side in entries[1:]
    )
    if their_identities <= our_identities:
        return versions.ours
    if our_identities <= their_identities:
        return versions.theirs
    before = [number for batch in all_batches.ours for number in _numbers(batch.entries)]
    last = max(before, default=0)
    new_numbers: dict[int, int] = {}
    for entry in entries.theirs:
        if entry.number is not None and identity(entry.text) not in our_identities:
            new_numbers[entry.number] = last = last + 1
    added = (_renumbered_batch(batch, our_identities, new_numbers) for batch in all_batches.theirs)
    text = versions.ours + "".join(added)
    after = [batch for batch in find_batches(text) if not is_rolled_list(batch)]
    actual = [number for batch in after for number in _numbers(batch.entries)]
    return text if actual == [*before, *new_numbers.values()] and all(batch.trailer for batch in after) else ""


def _renumbered_batch(batch: Batch, present: set[str], new_numbers: Mapping[int, int]) -> str:
    """Return a batch without the sessions in `present`, the others under their new numbers."""
    texts: list[str] = []
    hashes: dict[int, str] = {}
    for each in _entries(batch.entries):
        if each.number is None:
            texts.append(each.text)
        elif identity(each.text) not in present:
            number = new_numbers[each.number]
            texts.append(renumbered(each.text, number, new_numbers))
            hashes[number] = entry_hash(texts[-1].replace("##", "###", 1))
    if not hashes:
        return ""
    entries = "".join(texts)
    archived_on, reason = _ARCHIVED_ON.search(batch.trailer), _REASON.search(batch.trailer)
    closing = trailer(
        entries, hashes, reason=reason[1] if reason else "", now=archived_on[1] if archived_on else "", newline="\n"
    )
    return f"\n{entries.rstrip(chr(10))}\n\n{closing}"


def _entries(text: str) -> list[_Entry]:
    """Return the entries of a batch in order."""
    sections = [section for section in parse(text).sections if section.level == ENTRY_LEVEL]
    return [_Entry(section.span.of(text), session_number(section.title)) for section in sections]


def _numbers(text: str) -> list[int]:
    return [entry.number for entry in _entries(text) if entry.number is not None]

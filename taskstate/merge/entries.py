"""Merges a section of a permanent task entry by entry: list items, paragraphs and fences are what people change whole.

An entry is known by its bold label, or else by what it says. Entries that only one side added are kept, in an order
that does not depend on which side is ours.
"""

from __future__ import annotations

from itertools import pairwise

from taskstate.merge.lines import merge_text
from taskstate.model.entries import Entry, entries
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.units.three_way import Versions, interleave, trivial_merge

if TYPE_CHECKING:
    from taskstate.units.three_way import Prefer


class _Part(NamedTuple):
    """A part of a section: its heading, its entries by what they are known by, and what follows the last one."""

    head: str
    entries: dict[str, Entry]
    tail: str
    is_loose: bool  # blank lines stand between its list items


def merge_entries(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged part of a section; one with anything but entries in it is merged by line."""
    unconflicted = trivial_merge(versions)
    if unconflicted:
        return unconflicted[0]
    parts = versions.each(_part)
    base, ours, theirs = parts
    if base is None or ours is None or theirs is None:
        return merge_text(versions, prefer)
    merged: list[Entry] = []
    for name in interleave(list(ours.entries), list(theirs.entries), rank=str):
        entry = _merged(Versions(*(part.entries.get(name) for part in (base, ours, theirs))), prefer)
        if entry:
            merged.append(entry)
    head = merge_text(versions._replace(base=base.head, ours=ours.head, theirs=theirs.head), prefer)
    is_loose = ours.is_loose or theirs.is_loose
    return f"{head}{_joined(merged, is_loose=is_loose)}{ours.tail or theirs.tail}"


def _merged(versions: Versions[Entry | None], prefer: Prefer) -> Entry | None:
    """Return the merged entry, or None where it is removed; where both changed it, the preferred side's."""
    texts = versions.each(lambda each: each and each.text)
    if texts.ours in (texts.base, texts.theirs):
        return versions.theirs
    if texts.theirs == texts.base:
        return versions.ours
    ours, theirs = versions.ours, versions.theirs
    if ours and theirs and ours.same == theirs.same:
        return min(ours, theirs, key=lambda each: each.text)
    return versions.preferred(prefer)


def _part(text: str) -> _Part | None:
    """Return a text in its parts, or None where it cannot be said which entry is which."""
    found = entries(text)
    known = {each.key or each.same: each for each in found}
    between = [text[first.span.end : second.span.start] for first, second in pairwise(found)]
    if len(known) < len(found) or "".join(between).strip():
        return None
    start, end = (found[0].span.start, found[-1].span.end) if found else (len(text), len(text))
    items = [gap for gap, pair in zip(between, pairwise(found), strict=True) if _are_items(*pair)]
    return _Part(text[:start], known, text[end:], any(gap.count("\n") > 1 for gap in items))


def _are_items(first: Entry, second: Entry) -> bool:
    return first.is_item and second.is_item


def _joined(merged: list[Entry], *, is_loose: bool) -> str:
    """Return the entries as text, with a blank line between those that are no items of one list."""
    text = merged[0].text if merged else ""
    for first, second in pairwise(merged):
        text += ("\n" if _are_items(first, second) and not is_loose else "\n\n") + second.text
    return text

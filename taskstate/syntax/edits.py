"""Replaces parts of a text by their position: the one way in which an existing file is changed.

All other bytes stay as they were, since no text is ever parsed and rendered again.
"""

from __future__ import annotations

from bisect import bisect_right

from taskstate.errors import EditConflict
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Edit(NamedTuple):
    """Replace `text[start:end]` by `new`; everything else stays untouched."""

    start: int
    end: int
    new: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return `text` with all `edits` made at once.

    The order of the edits does not matter, but insertions at the same offset keep theirs.

    Raises:
        EditConflict: two edits overlap, or one lies outside the text.
    """
    pieces: list[str] = []
    at = 0
    for edit in in_order(edits):
        if edit.start < at or edit.end < edit.start or edit.end > len(text):
            raise EditConflict(
                f"an edit of characters {edit.start} to {edit.end} overlaps another or lies outside the text"
            )
        pieces += (text[at : edit.start], edit.new)
        at = edit.end
    pieces.append(text[at:])
    return "".join(pieces)


def touch(some: Sequence[Edit], others: Sequence[Edit]) -> bool:
    """Return whether any of some edits overlaps one of the others, or lies right beside it."""
    ordered = in_order(others)
    for edit in some if ordered else ():
        before = bisect_right(ordered, edit.end, key=lambda each: each.start) - 1
        if before >= 0 and ordered[before].end >= edit.start:
            return True
    return False


def in_order(edits: Iterable[Edit]) -> list[Edit]:
    """Return the edits sorted by offset; at the same offset insertions come first, in their given order."""
    return sorted(edits, key=lambda edit: (edit.start, edit.end))

from __future__ import annotations

import pytest

from taskstate.errors import EditConflict
from taskstate.syntax.edits import Edit, apply, in_order


def test_edits_are_made_at_once() -> None:
    """All spans mean the text before any edit, in whatever order the edits are given."""
    edits = [Edit(4, 5, ""), Edit(0, 1, "AA"), Edit(2, 2, "-")]
    assert apply("abcde", edits) == "AAb-cd"


def test_insertions_at_one_place_keep_their_order() -> None:
    """What is inserted first stands first, and before what replaces the text there."""
    assert apply("ab", [Edit(1, 2, "!"), Edit(1, 1, "x"), Edit(1, 1, "y")]) == "axy!"


def test_edits_may_touch() -> None:
    """One edit may begin where another ends."""
    assert apply("abcd", [Edit(1, 2, "x"), Edit(2, 3, "y")]) == "axyd"


def test_no_edit_changes_nothing() -> None:
    """Applying nothing gives the text itself."""
    assert apply("a\r\nb", ()) == "a\r\nb"


@pytest.mark.parametrize(
    "edits", [[Edit(0, 2, ""), Edit(1, 3, "")], [Edit(0, 4, "")], [Edit(2, 1, "")], [Edit(-1, 0, "")]]
)
def test_overlaps_and_places_outside_the_text_are_refused(edits: list[Edit]) -> None:
    """An edit never reaches into another, behind the text, before it, or backwards."""
    with pytest.raises(EditConflict, match="overlaps another or lies outside the text"):
        apply("abc", edits)


def test_in_order_sorts_by_place() -> None:
    """Edits come in the order of the text, an insertion before a replacement at the same place."""
    edits = [Edit(3, 4, "c"), Edit(1, 2, "b"), Edit(1, 1, "a")]
    assert in_order(edits) == [Edit(1, 1, "a"), Edit(1, 2, "b"), Edit(3, 4, "c")]

"""Edits of whole lines that make one text of another."""

from __future__ import annotations

import pytest

from taskstate.lsp.positions import line_edits
from taskstate.syntax.edits import apply
from tests.support.steps import FEW, LEAST, LIMIT, MANY, growth


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "a\n"),
        ("a\n", ""),
        ("a\nb\nc\n", "a\nc\n"),
        ("a\r\nb", "a\r\nx\r\nb"),
        ("a\n\nb\n\n", "\nb\n\na"),
        ("a", "b"),
    ],
)
def test_edits_make_the_other_text(before: str, after: str) -> None:
    """Lines that both texts have stay as they are."""
    edits = line_edits(before, after)
    assert apply(before, edits) == after
    assert all(edit.start < edit.end or edit.new for edit in edits)


def test_lines_that_repeat_take_work_by_their_number() -> None:
    """Each session has the same labels and blank lines: comparing all with all would take a minute for thousands."""
    text = "### Session {0}\n\n**What I did:**\n\n- did {0}\n\n**Issues encountered:**\n\n- None\n\n"
    pairs = [
        (before, before.replace("- None", "None"))
        for before in ("".join(map(text.format, range(count))) for count in (LEAST, FEW, MANY))
    ]
    assert len(line_edits(*pairs[0])) == LEAST
    assert growth(lambda pair: line_edits(*pair), pairs) < LIMIT

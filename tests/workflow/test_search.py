"""`search` looks at few lines, and finds what looking at each would find."""

from __future__ import annotations

import sys

from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.workflow.search import _key, _lines

WORDS = st.text(st.sampled_from("aAsSß\u017fKk\ufb01 \t\r\n\u2028\x1c"), max_size=30)


@given(WORDS, WORDS)
@example("die Straße\r\nim Nebel", "STRASSE")
@example("\u212a", "k")
@example("\ufb01\nfi a", "fi")
def test_a_line_is_found_where_its_words_are(text: str, sought: str) -> None:
    """Case, blanks and the kind of line end make no difference, nor letters that become two."""
    needle = _key(sought) or "a"
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    expected = [(number, line.strip()) for number, line in enumerate(lines, 1) if needle in _key(line)]
    assert list(_lines(text.encode(), needle)) == expected


def test_folding_keeps_lines_and_words() -> None:
    """A blank stays what it is, and no other character becomes one: so a folded text has the same lines and words."""
    folded = [(each, each.casefold()) for each in map(chr, range(sys.maxunicode + 1))]
    changed = [(each, many) for each, many in folded if each != many]
    assert not [each for each, many in changed if each.isspace() or any(map(str.isspace, many))]

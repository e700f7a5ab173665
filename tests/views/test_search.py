"""`search` looks at few lines, and finds what looking at each would find."""

from __future__ import annotations

import sys

from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.views.search import _key, _lines

WORDS = st.text(st.sampled_from("aAsSß\u017fKk\ufb01 \t\r\n\u2028\x1c"), max_size=30)
ASCII = st.text(st.sampled_from("aAsSk \t\r\n\x1c"), max_size=60)  # of which each letter stays where it is


@given(st.one_of(WORDS, ASCII), WORDS)
@example("a\r\nb\rA\na", "A")
@example("die Straße\r\nim Nebel", "STRASSE")
@example("\u212a", "k")
@example("\ufb01\nfi a", "fi")
def test_a_line_is_found_where_its_words_are(text: str, sought: str) -> None:
    """Case, blanks and the kind of line end make no difference, nor letters that become two."""
    needle = _key(sought) or "a"
    assert list(_lines(text.encode(), needle)) == found_by_looking_at_each(text, needle)


@given(st.binary(max_size=30), st.sampled_from(["a", "s", "ss", "\ufffd", "\u0131", "a b"]))
@example(b"a\xff\r\xc3A B", "a b")
def test_bytes_that_are_no_text_hide_no_line(data: bytes, needle: str) -> None:
    """What is no UTF-8 is shown as such, and all else is found beside it."""
    assert list(_lines(data, needle)) == found_by_looking_at_each(data.decode("utf-8", "replace"), needle)


def found_by_looking_at_each(text: str, needle: str) -> list[tuple[int, str]]:
    """Return what is found without any short cut."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return [(number, line.strip()) for number, line in enumerate(lines, 1) if needle in _key(line)]


def test_folding_keeps_lines_and_words() -> None:
    """A blank stays what it is, and no other character becomes one: so a folded text has the same lines and words."""
    folded = [(each, each.casefold()) for each in map(chr, range(sys.maxunicode + 1))]
    changed = [(each, many) for each, many in folded if each != many]
    assert not [each for each, many in changed if each.isspace() or any(map(str.isspace, many))]

"""What a session says is the same in any marks of Markdown, and differs where a word does."""

from __future__ import annotations

import pytest

from taskstate.model.session_words import session_words

ENTRY = """### Session 4 - 2026-01-31 12:04

**What I did:**

* Tried *this*, __that__ and snake_case; C:\\temp, 3 > 2 &amp; a <b>tag</b>
  1) one
  2) two

+ plus, as in session 3

| a | b |
|---|---|
| 1 | a long cell |

**Next steps:** Go on, a line that somebody wraps
"""
OTHER_MARKS = {
    "a formatter": """## Session 7 - 2026-01-31 12:04

**What I did:**

- Tried _this_, **that** and snake\\_case; C:\\\\temp, 3 > 2 & a \\<b>tag\\</b>

  1. one
  1. two

* plus, as in session 6

| a   | b           |
| --- | ----------- |
| 1   | a long cell |

**Next steps:** Go on, a line
that somebody wraps""",
    "other line ends": ENTRY.replace("\n", "\r\n"),
    "a comment": ENTRY.replace("+ plus", "<!-- seen -->\n+ plus"),
}


@pytest.mark.parametrize("other", OTHER_MARKS.values(), ids=OTHER_MARKS)
def test_other_marks_are_the_same_words(other: str) -> None:
    """Bullets, emphasis, escapes, entities, tables, line breaks, and the numbers of lists and sessions do not count."""
    assert session_words(other) == session_words(ENTRY)


@pytest.mark.parametrize(
    ("old", "new"), [("two", "three"), ("3 > 2", "3 < 2"), ("12:04", "12:05"), ("Go on,", "Go on"), ("3 > 2", "3 > -2")]
)
def test_other_words_are_another_session(old: str, new: str) -> None:
    """A word, a minute, a sign within a line: whatever says something counts."""
    assert session_words(ENTRY.replace(old, new)) != session_words(ENTRY)

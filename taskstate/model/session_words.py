"""What a text says, apart from how its Markdown is written: a formatter changes marks and line ends, and no word."""

from __future__ import annotations

from functools import lru_cache

from taskstate.model.session_references import identity
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import without_comments

# The marks before a line, those of emphasis, code and escapes, and lines that rule a table off or underline a heading.
_MARKS = r"(?m)^[ \t>]*(?:(?:[-+*]|\d{1,9}[.)])(?:[ \t]+|$))*(?:#{1,6}[ \t]+)?|[*_`~\\]|-{3,}|={3,}"


@lru_cache(maxsize=2_000)
def without_marks(text: str) -> str:
    """Return a text in one line without comments and the marks of Markdown: what is the same before and after one."""
    import html  # only what differs is looked at so closely

    plain = compiled(_MARKS).sub("", without_comments(text.replace("\r", "\n"), keep_open=True))
    return " ".join(html.unescape(plain).replace("|", " ").split())


@lru_cache(maxsize=2_000)
def session_words(entry: str) -> str:
    """Return what a session says, whatever its number and its marks: what two forms of the same session share."""
    return identity(without_marks(entry))

"""Finds lines of the Progress Log that are meant as headings of sessions, and are a paragraph for Markdown."""

from __future__ import annotations

import re
from bisect import bisect_right

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.syntax.document import Document, Section

# `**Session 8 - 2026-01-31 12:00**`, and `###Session 8 - …` with no blank or a hard one behind the marks. Possessive,
# so that a line of many blanks costs no more than its length. It begins with the end of the line above: a pattern that
# begins with one certain character is found many times as fast.
_LINE = (
    r"(?i)\n(?:#{1,6}(?![ \t])[^\S\r\n]*+|(?P<bold>\*\*|__))(?P<title>session[^\S\r\n]++#?\d++\b[^\r\n*_]*+)"
    r"(?(bold)(?P=bold):?[^\S\r\n]*+)(?=[\r\n]|\Z)"
)
_DATE = r"\d{4}-\d{2}-\d{2}"
_FIELD = r"(?i)\s*(?:\*\*|__)what i did\b"


class SessionLine(NamedTuple):
    """A line that is meant as the heading of a session, with its title."""

    span: Span
    title: str


def session_lines(document: Document, log: Section) -> Iterator[SessionLine]:
    """Yield the lines in the log that look like the heading of a session, and have a date or its first field below."""
    text = document.text
    blocks = [block.span for block in document.blocks_in(log.body)]
    starts = [span.start for span in blocks]
    for line in compiled(_LINE).finditer(text, log.body.start - 1, log.body.end):
        title = line["title"].rstrip().removesuffix(":")
        is_session = re.compile(_DATE).search(title) or re.compile(_FIELD).match(text, line.end())
        begin = line.start() + 1
        index = bisect_right(starts, begin) - 1
        if is_session and not (index >= 0 and begin < blocks[index].end):
            yield SessionLine(Span(begin, line.end()), title)

"""The blank lines around headings, lists and fences, blanks at line ends, and the one line end at the end of the file.

A comment directly above a heading, list or fence stays there: it speaks of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.formatting.markdown import format_part
from taskstate.formatting.parts import body_parts
from taskstate.syntax.edits import Edit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.formatting.parts import BodyPart
    from taskstate.syntax.document import Document

_BLANK_LINES = r"(?:[ \t]*(?:\r\n?|\n))*"
_LINE_END = r"\r\n?|\n"
_BLANKS = " \t\r\n"


def spacing_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that lay the body out."""
    return tuple(_Spacing(document).edits())


class _Spacing:
    """One pass over the body; `at` is the end of what has been laid out."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        self.newline = document.newline
        front_matter = document.front_matter.span
        self.body = front_matter.end if front_matter else document.front_matter.content.end
        self.at = _trimmed(self.text, 0, self.body)
        self.comments = {block.span.end for block in document.blocks if block.kind == "html"}

    def edits(self) -> Iterator[Edit]:
        """Yield the edits of the whole body, in order."""
        found = body_parts(self.document)
        yield from self.preamble(found[0].section.span.start if found else len(self.text))
        for part in found:
            if not part.joined:
                yield from self.gap(part.section.span.start)
            yield from self.frozen(part) if part.frozen else self.part(part)
        yield from self.put(self.at, len(self.text), self.newline)

    def preamble(self, end: int) -> Iterator[Edit]:
        """Yield the edit that sets apart what stands before the first heading; it is nobody's part."""
        start = _content_start(self.text, self.body, end)
        if start < end:
            yield from self.gap(start)
            self.at = _end_of_content(self.text, start, end)

    def gap(self, until: int) -> Iterator[Edit]:
        """Yield the edit that leaves one blank line up to `until`."""
        adjacent = len(re.compile(_LINE_END).findall(self.text, self.at, until)) == 1 and self.ends_with_comment()
        yield from self.put(self.at, until, self.newline * (1 if adjacent else 2))

    def ends_with_comment(self) -> bool:
        at = self.at
        while at and self.text[at - 1] in " \t":
            at -= 1
        return at in self.comments

    def frozen(self, part: BodyPart) -> Iterator[Edit]:
        """Yield nothing: every byte stays, up to the blank lines that follow."""
        self.at = _end_of_content(self.text, part.section.span.start, part.section.own.end)
        yield from ()

    def part(self, part: BodyPart) -> Iterator[Edit]:
        """Yield the edits of a heading's blank line and of the text below it."""
        heading, own = part.section.heading, part.section.own
        self.at = _trimmed(self.text, *heading)
        start, end = _content_start(self.text, own.start, own.end), _trimmed(self.text, own.start, own.end)
        if start >= end:
            return
        yield from self.put(self.at, start, self.newline * 2)
        self.at = end
        if part.section.level > 1:  # below the title there is nothing that the kind declares
            fences = tuple(
                (block.span.start - start, block.span.end - start) for block in self.document.blocks_in(own, "fence")
            )
            laid = format_part(self.text[start:end], fences=fences, newline=self.newline, listed=part.listed)
            yield from self.put(start, end, laid)

    def put(self, start: int, end: int, new: str) -> Iterator[Edit]:
        """Yield the edit that gives a place that text, if it has another one."""
        if self.text[start:end] != new:
            yield Edit(start, end, new)


def _content_start(text: str, start: int, end: int) -> int:
    """Return where the first line begins that is not blank."""
    found = re.compile(_BLANK_LINES).match(text, start, end)
    at = found.end() if found else start
    return end if not text[at:end].strip(_BLANKS) else at


def _trimmed(text: str, start: int, end: int) -> int:
    """Return the end of a place without the blanks and blank lines at its end."""
    while end > start and text[end - 1] in _BLANKS:
        end -= 1
    return end


def _end_of_content(text: str, start: int, end: int) -> int:
    """Return the end of the last line of a place that is not blank; the blanks at its end belong to it."""
    at = _trimmed(text, start, end)
    while at < end and text[at] in " \t":
        at += 1
    return at

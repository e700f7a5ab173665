"""Formats the space around headings, lists and fences: blank lines, blanks at line ends, a final line end.

A comment directly above a heading, list or fence stays there, because it refers to it.
"""

from __future__ import annotations

from itertools import zip_longest

from taskstate.formatting.markdown import format_part
from taskstate.formatting.parts import body_parts
from taskstate.syntax.edits import Edit
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span, end_of_content, trimmed
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.formatting.parts import BodyPart
    from taskstate.syntax.document import Document

_BLANK_LINES = r"(?:[ \t]*+(?:\r\n?|\n))*+"  # possessive: remembering each line costs 250 bytes
_LINE_END = r"\r\n?|\n"
_BLANKS = " \t\r\n"


def spacing_edits(document: Document) -> tuple[Edit, ...]:
    """Return the edits that format the space in the body."""
    return tuple(_Spacing(document).edits())


class _Spacing:
    """Goes through the body once; `at` is the offset up to which it is formatted."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.text = document.text
        self.newline = document.newline
        front_matter = document.front_matter.span
        self.body = front_matter.end if front_matter else document.front_matter.content.end
        self.at = trimmed(self.text, Span(0, self.body)).end
        self.comments = {block.span.end for block in document.blocks if block.kind == "html"}

    def edits(self) -> Iterator[Edit]:
        """Yield the edits of the whole body, in order."""
        all_parts = body_parts(self.document)
        yield from self.preamble(all_parts[0].section.span.start if all_parts else len(self.text))
        for part, following in zip_longest(all_parts, all_parts[1:]):
            if not part.joined:
                yield from self.gap(part.section.span.start)
            if not part.frozen:
                yield from self.part(part)
            elif following is None or not following.joined:  # every byte stays, and blank lines behind it are formatted
                self.at = end_of_content(self.text, Span(part.section.span.start, part.section.own.end))
        yield from self.replace(self.at, len(self.text), self.newline)

    def preamble(self, end: int) -> Iterator[Edit]:
        """Yield the edit for the space around the text before the first heading, which belongs to no part."""
        start = _content_start(self.text, self.body, end)
        if start < end:
            yield from self.gap(start)
            self.at = end_of_content(self.text, Span(start, end))

    def gap(self, until: int) -> Iterator[Edit]:
        """Yield the edit that leaves one blank line up to `until`."""
        if self.text[self.at : until] != self.newline * 2:  # nearly everywhere it is
            adjacent = len(compiled(_LINE_END).findall(self.text, self.at, until)) == 1 and self.ends_with_comment()
            yield from self.replace(self.at, until, self.newline * (1 if adjacent else 2))

    def ends_with_comment(self) -> bool:
        """Tell whether a comment ends here, blanks aside; slicing the text at each gap would be quadratic."""
        end = self.at
        while end and self.text[end - 1] in " \t":
            end -= 1
        return end in self.comments

    def part(self, part: BodyPart) -> Iterator[Edit]:
        """Yield the edits for the blank line below a heading, and for the text that follows."""
        heading, own = part.section.heading, part.section.own
        self.at = trimmed(self.text, heading).end
        start, end = _content_start(self.text, own.start, own.end), trimmed(self.text, own).end
        if start >= end:
            return
        yield from self.replace(self.at, start, self.newline * 2)
        self.at = end
        if part.section.level > 1:  # the kind declares nothing below the title
            fences = tuple(
                (block.span.start - start, block.span.end - start) for block in self.document.blocks_in(own, "fence")
            )
            formatted = format_part(self.text[start:end], fences=fences, newline=self.newline, listed=part.listed)
            yield from self.replace(start, end, formatted)

    def replace(self, start: int, end: int, new: str) -> Iterator[Edit]:
        """Yield the edit that replaces a range by `new`, unless it has that text already."""
        if self.text[start:end] != new:
            yield Edit(start, end, new)


def _content_start(text: str, start: int, end: int) -> int:
    """Return the start of the first line that is not blank."""
    match = compiled(_BLANK_LINES).match(text, start, end)
    at = match.end() if match else start
    return end if not text[at:end].strip(_BLANKS) else at

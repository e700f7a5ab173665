"""Converts between offsets in a text and the lines and columns of an editor, which counts in UTF-16, UTF-8 or UTF-32.

Lines end as in `syntax.spans`, which is how the protocol defines them; `str.splitlines` finds other ends too.
"""

from __future__ import annotations

from itertools import pairwise

from lsprotocol import types

from taskstate.merge.lines import matching_lines
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span, line_starts, position
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_MARK = "\ufeff"
_WIDE = 0x10000  # from here on a character takes two units in UTF-16
_BYTES = (0x80, 0x800, _WIDE)  # from each on a character takes one byte more in UTF-8


class Positions:
    """The positions in one text, counted in the units that were agreed on.

    A byte order mark counts as what it is: a character of a text that the editor sent. In a file that was read from
    disk (`is_read`) it takes no column, since no editor shows it.
    """

    def __init__(self, text: str, encoding: str, *, is_read: bool = False) -> None:
        self.text = text
        self._encoding = encoding
        self._starts = line_starts(text)
        if is_read and text.startswith(_MARK):
            self._starts[0] = len(_MARK)

    def position(self, offset: int) -> types.Position:
        """Return the position of an offset; one outside of the text counts as its nearest end."""
        offset = min(max(offset, self._starts[0]), len(self.text))
        line, column = position(self._starts, offset)
        before = self.text[offset - column : offset]
        return types.Position(line, column if before.isascii() else sum(map(self._units, before)))

    def range(self, span: Span) -> types.Range:
        """Return the range that a span covers."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, place: types.Position) -> int:
        """Return the offset of a position; behind the end of its line it is that end, as the protocol says."""
        if place.line >= len(self._starts):
            return len(self.text)
        start = self._starts[place.line]
        line = self.line(place.line)
        if line.isascii():
            return start + min(place.character, len(line))
        units = 0
        for column, char in enumerate(line):
            if units >= place.character:
                return start + column
            units += self._units(char)
        return start + len(line)

    def span(self, place: types.Range) -> Span:
        """Return the span that a range covers."""
        return Span(self.offset(place.start), self.offset(place.end))

    def line(self, number: int) -> str:
        """Return a line without its end."""
        stop = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.text)
        return self.text[self._starts[number] : stop].rstrip("\r\n")

    def edits(self, edits: Iterable[Edit]) -> list[types.TextEdit]:
        """Return edits of the text as the editor applies them."""
        return [types.TextEdit(self.range(Span(each.start, each.end)), each.new) for each in edits]

    def _units(self, char: str) -> int:
        code = ord(char)
        if self._encoding == types.PositionEncodingKind.Utf8:
            return 1 + sum(code >= bound for bound in _BYTES)
        return 2 if code >= _WIDE and self._encoding != types.PositionEncodingKind.Utf32 else 1


def line_edits(before: str, after: str) -> tuple[Edit, ...]:
    """Return edits of whole lines that make one text of another, few and small, so that cursors stay where they are."""
    if before == after:
        return ()
    old, new = (_lines(text) for text in (before, after))
    starts = line_starts(before)
    same = [(-1, -1), *matching_lines(old, new), (len(old), len(new))]
    edits = tuple(
        Edit(_at(starts, first + 1, before), _at(starts, stop, before), "".join(new[begin + 1 : end]))
        for (first, begin), (stop, end) in pairwise(same)
        if (stop, end) != (first + 1, begin + 1)
    )
    return edits if apply(before, edits) == after else (Edit(0, len(before), after),)


def _lines(text: str) -> list[str]:
    starts = [*line_starts(text), len(text)]
    return [text[start:stop] for start, stop in pairwise(starts)]


def _at(starts: list[int], line: int, text: str) -> int:
    return starts[line] if line < len(starts) else len(text)

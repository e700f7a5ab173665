"""Splits the text of a section into entries: list items, paragraphs, fences and decisions.

Updates consolidate entries, and merges combine them: an entry is what both take as a whole.
"""

from __future__ import annotations

import re

from taskstate.messages import one_line
from taskstate.syntax.markdown_blocks import list_items, read_blocks
from taskstate.syntax.spans import Span, with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SHOWN = 60  # characters of an entry that a summary shows

_LABEL = re.compile(r"[ \t]*(?:[-*+][ \t]+|\d{1,9}[.)][ \t]+)?(?:\*\*|__)([^*_\n]++)\s*+:?(?:\*\*|__)\s*:?")
_PARAGRAPH = r"(?:(?<![^\r\n])[^\S\r\n]*[^\s][^\r\n]*(?:\r\n|\n|\r|$))+"
BULLET = re.compile(r"\A[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
DECISION = re.compile(r"(?i)AD-(\d{1,9})\b")


class Entry(NamedTuple):
    """A list item, a paragraph, a fence or a decision of a section; `text` has whole lines, without its last line end.

    `heading` is the title of the subsection that it stands under, `key` identifies what it is about, if anything does.
    """

    text: str
    heading: str
    key: str
    is_item: bool
    span: Span

    @property
    def same(self) -> str:
        """What two entries have in common that say the same."""
        text, label = BULLET.sub("", self.text, count=1), _LABEL.match(self.text)
        words = f"{self.key}: {self.text[label.end() :]}" if label else text
        return " ".join(words.split()).casefold().rstrip(" .,;:!")

    @property
    def shown(self) -> str:
        """The entry in a few words."""
        return one_line(self.words, SHOWN)

    @property
    def words(self) -> str:
        """The entry on one line, without what is layout."""
        words = with_newlines(BULLET.sub("", self.text, count=1), "\n").replace("**", "").lstrip("# ")
        return " ".join(words.split())

    @property
    def value(self) -> str:
        """The entry in a few words, without its key."""
        return one_line(re.sub(r"^[^:]*:\s*", "", self.words) if _LABEL.match(self.text) else self.words, SHOWN)


def entries(text: str) -> tuple[Entry, ...]:
    """Return the entries of a section's text, which does not include the section's own heading."""
    return tuple(_entries(text))


def _entries(text: str) -> Iterator[Entry]:
    headings = [block for block in read_blocks(text) if block.kind == "heading"]
    starts = [block.span.start for block in headings]
    for block, start, end in zip((None, *headings), (0, *starts), (*starts, len(text)), strict=True):
        decision = DECISION.match(block.text) if block else None
        if block and decision:
            yield _entry(text, Span(start, end), "", f"ad-{decision[1]}")
            continue
        begin = line_after(text, block.span.end) if block else start
        yield from _plain_entries(text, Span(begin, end), block.text if block else "")


def _plain_entries(text: str, span: Span, heading: str) -> Iterator[Entry]:
    """Yield the items of top-level lists, the fences, and the paragraphs between them."""
    solid = [(item.span, True) for item in list_items(text, span)]
    fences = (block.span for block in read_blocks(text) if block.kind != "heading" and block.span.start in range(*span))
    solid += [(each, False) for each in fences if not any(item.start <= each.start < item.end for item, _ in solid)]
    at = span.start
    for each, is_item in (*sorted(solid), (Span(span.end, span.end), False)):
        for paragraph in re.finditer(_PARAGRAPH, text[at : each.start]):
            yield _entry(text, Span(at + paragraph.start(), at + paragraph.end()), heading)
        if each.start < each.end:
            yield _entry(text, each, heading, is_item=is_item)
        at = max(at, each.end)


def _entry(text: str, span: Span, heading: str, key: str = "", *, is_item: bool = False) -> Entry:
    content = span.of(text)
    content = content.rstrip()
    label = _LABEL.match(content)
    return Entry(
        content,
        heading,
        key or (" ".join(label[1].rstrip().removesuffix(":").casefold().split()) if label else ""),
        is_item,
        Span(span.start, span.start + len(content)),
    )


def line_after(text: str, at: int) -> int:
    """Return where the line ends in which an offset lies, behind its line end."""
    match = re.compile(r"\r\n?|\n|\Z").search(text, at)
    return match.end() if match else len(text)

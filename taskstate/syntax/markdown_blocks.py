"""Finds the top-level blocks of a Markdown text: headings, fences and HTML blocks outside every list and quote.

markdown-it-py decides (`reference_blocks`). At about 1 MB/s it is too slow for files that are read thousands of times a
day, so `markdown_fast_scanner` is tried first: it finds exactly the same blocks, or declines. A property test and the
CommonMark examples compare the two. See docs/decisions/002.
"""

from __future__ import annotations

import re

from taskstate.syntax import markdown_fast_scanner
from taskstate.syntax.spans import Span, line_starts
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    BlockKind = Literal["heading", "fence", "html"]

# Beyond its limit markdown-it takes the rest of the document, headings and all, for the content of the innermost list.
# So the limit is far above what people write, and no line may nest that deep: see `_cut_prefix`.
MAX_NESTING = 200
_MAX_COLUMN = MAX_NESTING - 10

# Compiled when they are used: most runs need none of them, and at start-up each pattern costs time.
_FENCE_CLOSE = r" {0,3}(`{3,}|~{3,})[ \t]*\Z"
_ITEM = r"[ \t]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|\Z)"
_DEEP_PREFIX = rf"(?m)^((?:[ \t>]|(?:[-*+]|\d{{1,9}}[.)])(?=[ \t])){{{_MAX_COLUMN // 4},}})([^\n]*)$"
_HEADING_ANYWHERE = r"(?m)(?:^|(?<=\r))[ \t>*+\-\d.)]*?(#{1,6}[ \t]+([^\r\n]*))"
_CLOSING_HASHES = r"(?:\A|[ \t])#+\Z"


class Block(NamedTuple):
    """A heading, a code fence or an HTML block at the top level of a document.

    `span` covers whole lines without the last line end; `content` a heading's
    title, the lines inside a fence, or an HTML block itself. `text` is a heading's title or a fence's info string.
    `level` is a heading's. `closed` is False for a fence that runs to the end of the text.
    """

    kind: BlockKind
    span: Span
    content: Span
    text: str = ""
    level: int = 0
    closed: bool = True


class Item(NamedTuple):
    """An item of a top-level list: `span` ends with its last line that is not blank, `content` excludes its marker."""

    span: Span
    content: Span


def read_blocks(text: str, start: int = 0) -> tuple[Block, ...]:
    """Return the top-level blocks of `text[start:]`.

    `start` must begin a line; offsets count from the start of `text`.
    """
    scanned = markdown_fast_scanner.scan(text, start)
    if scanned is None:
        return reference_blocks(text, start)
    return tuple([tuple.__new__(Block, each) for each in scanned])  # hot: the constructor in Python takes as long again


def reference_blocks(text: str, start: int = 0) -> tuple[Block, ...]:
    """Return the same as `read_blocks`, by markdown-it-py alone."""
    lines = _Lines(text, start)
    tokens = _tokens(lines.text)
    blocks = []
    for index, token in enumerate(tokens):
        if token.level == 0 and token.map:
            if token.type == "heading_open":
                blocks.append(_heading(lines, token, tokens[index + 1].content))
            elif token.type == "fence":
                blocks.append(_fence(lines, token))
            elif token.type == "html_block":
                start, end = lines.span(*token.map)
                span = Span(start, start + len(text[start:end].rstrip(" \t\r\n")))
                blocks.append(Block("html", span, span))
    return tuple(blocks)


def list_items(text: str, span: Span) -> tuple[Item, ...]:
    """Return the items of the top-level lists in `span`, which must begin and end between blocks."""
    scanned = markdown_fast_scanner.scan_items(text, *span)
    if scanned is None:
        return reference_items(text, span)
    return tuple(Item(Span(start, end), Span(content, end)) for start, content, end in scanned)


def reference_items(text: str, span: Span) -> tuple[Item, ...]:
    """Return the same as `list_items`, by markdown-it-py alone."""
    lines = _Lines(text[: span.end], span.start)
    maps = [
        token.map for token in _tokens(lines.text) if token.type == "list_item_open" and token.level == 1 and token.map
    ]
    return tuple(_item(lines, first, last) for first, last in maps)


def hidden_headings(text: str, start: int) -> list[tuple[Span, str]]:
    """Return all lines of `text[start:]` that look like a heading to a person, each with its title.

    Such a line may be no heading for Markdown: in a fence, a list, a quote, an HTML block or a comment.
    """
    return [
        (Span(*match.span(1)), re.sub(_CLOSING_HASHES, "", match[2].rstrip(" \t")).rstrip(" \t"))
        for match in re.compile(_HEADING_ANYWHERE).finditer(text, start)
    ]


def prose(text: str) -> Iterator[str]:
    """Yield the words of a Markdown text, without its code, its comments and its markup."""
    for token in _tokens(text):
        if token.type == "inline":
            parts: list[Token] = []
            _parser().inline.parse(token.content, _parser(), {}, parts)
            yield from (each.content for each in parts if each.type == "text")
        elif token.type == "html_block" and token.content.lstrip().startswith("<!--"):
            yield re.sub(r"(?s)<!--.*?(?:-->|\Z)", "", token.content)


class _Lines:
    """The lines of `text[start:]`, numbered as in markdown-it's tokens, with their offsets in the whole text."""

    def __init__(self, text: str, start: int) -> None:
        self.whole = text
        self.text = text[start:]
        self.starts = [start + offset for offset in line_starts(self.text)]

    def end_of(self, line: int) -> int:
        """Return the end of a line, without its line end."""
        end = self.starts[line + 1] if line + 1 < len(self.starts) else len(self.whole)
        while end > self.starts[line] and self.whole[end - 1] in "\r\n":
            end -= 1
        return end

    def span(self, first: int, stop: int) -> Span:
        """Return the span of the lines from `first` up to, not including, `stop`."""
        return Span(self.starts[first], self.end_of(max(first, min(stop, len(self.starts)) - 1)))

    def line(self, number: int) -> str:
        return self.whole[self.starts[number] : self.end_of(number)]


def _tokens(text: str) -> list[Token]:
    tokens: list[Token] = []
    # The replacements are those of markdown-it's `normalize` rule, which is not run: only the block rules are needed.
    source = re.sub(_DEEP_PREFIX, _cut_prefix, re.sub(r"\r\n?", "\n", text).replace("\0", "\ufffd"))
    if not source.endswith("\n"):
        source += "\n"  # without it, markdown-it-py 4.3 reads past the end of some texts (`>>- <!--`, then `>>`)
    parser = _parser()
    parser.block.parse(source, parser, {}, tokens)
    return tokens


def _cut_prefix(line: re.Match[str]) -> str:
    """Return a line with its indentation and markers cut so that they open fewer lists and quotes than the limit."""
    prefix = line[1].expandtabs(4)
    if len(prefix) <= _MAX_COLUMN or markdown_fast_scanner.THEMATIC_BREAK.match(line[0]):
        return line[0]
    return prefix[:_MAX_COLUMN] + line[2]


def _parser() -> MarkdownIt:
    global _markdown  # noqa: PLW0603 - one parser per process; making it costs as much as reading 10 KB
    if _markdown is None:
        from markdown_it import MarkdownIt

        _markdown = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING})
    return _markdown


_markdown: MarkdownIt | None = None


def _heading(lines: _Lines, token: Token, title: str) -> Block:
    first, stop = token.map or (0, 0)
    span = lines.span(first, stop)
    line = span.of(lines.whole).replace("\0", "\ufffd")
    begin = line.find("#") + int(token.tag[1:]) if token.markup.startswith("#") else 0
    at = line.find(title, begin) + span.start
    content = Span(at, at + len(title)) if title and at >= span.start else _behind_hashes(lines.whole, span)
    return Block("heading", span, content, title, int(token.tag[1:]))


def _behind_hashes(text: str, span: Span) -> Span:
    """Return an empty span behind the `#` of a heading without a title; the whole span of one of several lines."""
    line = span.of(text)
    if "\n" in line or "\r" in line:
        return span
    at = span.start + len(line) - len(line.lstrip(" #"))
    return Span(at, at)


def _fence(lines: _Lines, token: Token) -> Block:
    first, stop = token.map or (0, 0)
    last = min(stop, len(lines.starts)) - 1
    closing = re.match(_FENCE_CLOSE, lines.line(last)) if last > first else None
    closed = bool(closing and closing[1].startswith(token.markup))
    span = lines.span(first, stop) if closed else Span(lines.starts[first], len(lines.whole))
    begin = min(lines.starts[first + 1] if first + 1 < len(lines.starts) else span.end, span.end)
    return Block(
        "fence",
        span,
        Span(begin, max(begin, lines.starts[last] if closed else span.end)),
        token.info.strip(),
        closed=closed,
    )


def _item(lines: _Lines, first: int, stop: int) -> Item:
    last = min(stop, len(lines.starts)) - 1
    while last > first and not lines.line(last).strip(" \t"):
        last -= 1
    start = lines.starts[first]
    marker = re.match(_ITEM, lines.line(first))
    end = lines.end_of(last)
    return Item(Span(start, end), Span(min(start + (marker.end() if marker else 0), end), end))

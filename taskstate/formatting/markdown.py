"""Formats the text below a heading: blanks, blank lines, list markers.

Most texts are formatted already, which a few patterns can tell cheaply. Others are parsed by markdown-it-py, which
tells code, comments and lists apart, and shows afterwards that only the form has changed; else they stay as they are.
"""

from __future__ import annotations

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token


_MARK = r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)"
_FENCE = r" {0,3}(?:`{3}|~{3})"
# A blank at a line's end, two blank lines, a list or fence next to another line. It may match formatted text, which
# only costs the time to parse it; it must not miss unformatted text.
_SUSPECT = (
    r"(?m)[ \t]$|\n\n\n"
    rf"|^(?!{_MARK}|{_FENCE})\S.*\n{_MARK}"  # a list directly below another line
    rf"|^(?:{_MARK}|[ \t]+\S).*\n(?!{_MARK})\S"  # a line directly below a list
    rf"|^ {{0,3}}\d{{0,9}}([-*+.)])[ \t].*\n(?! {{0,3}}\d{{0,9}}\1){_MARK}"
)
_FOREIGN_MARK = r"(?m)^ {0,3}[*+](?:[ \t]|$)"
_MARKER = r"( {0,3})[*+](?=[ \t]|$)"
_DEEP = r"(?m)^[ \t>*+\-\d.)]{60}|\0"  # nested deeper than markdown-it-py parses reliably
_LINES = r"([^\r\n]*)(\r\n?|\n|\Z)"
_VERBATIM = frozenset({"fence", "code_block", "html_block"})
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})


def format_part(text: str, *, fences: tuple[tuple[int, int], ...], newline: str, listed: bool) -> str:
    """Return the formatted text between two headings; it begins and ends with a line that is not blank.

    `fences` are the spans of the code fences at its top level; in a `listed` part the list marker is `-`.
    """
    if not listed and "\n" not in text and "\r" not in text:
        return text  # one line, which ends with a word: there is nothing to put apart
    if with_newlines(text, newline) == text and not _is_suspect(text, fences, listed=listed):
        return text
    if compiled(_DEEP).search(text):
        return text
    for marks in (True, False) if listed else (False,):
        layout = _Layout(text, newline, marks=marks)
        if _structure(_tokens(layout.text), marks=marks) == _structure(layout.tokens, marks=marks):
            return layout.text
    return text


def _is_suspect(text: str, fences: tuple[tuple[int, int], ...], *, listed: bool) -> bool:
    """Return whether a text may be unformatted."""
    at = 0
    for start, end in (*fences, (len(text), len(text))):
        before = with_newlines(text[at:start], "\n")
        if compiled(_SUSPECT).search(before) or (listed and compiled(_FOREIGN_MARK).search(before)):
            return True
        if (start < len(text) and before and not before.endswith("\n\n")) or (at and before and before[:2] != "\n\n"):
            return True
        first, _, last = with_newlines(text[start:end], "\n").partition("\n")
        if first != first.rstrip(" \t") or last != last.rstrip(" \t"):
            return True
        at = end
    return False


class _Layout:
    """A text, its markdown-it-py tokens, and the formatted text."""

    def __init__(self, text: str, newline: str, *, marks: bool) -> None:
        self.lines, self.ends = zip(
            *compiled(_LINES).findall(text)[: len(with_newlines(text, "\n").split("\n"))], strict=True
        )
        self.newline = newline
        self.marks = marks
        self.tokens = _tokens(text)
        self.unchanged: set[int] = set()  # lines that are not changed: code, comments
        self.raw: set[int] = set()  # lines of HTML, whose line ends stay too
        self.broken: set[int] = set()  # lines with a hard break at their end
        self.apart: set[int] = set()  # lines that need a blank line above
        self.marked: set[int] = set()  # lines with a list marker other than `-`
        for index, token in enumerate(self.tokens):
            if token.map:
                self.record(token, index, *token.map)
        self.text = "".join(self.formatted())

    def record(self, token: Token, index: int, first: int, stop: int) -> None:
        """Record what a token says about its lines."""
        stop = min(stop, len(self.lines))
        if token.type in _VERBATIM:
            self.unchanged.update(range(first + (token.type == "fence"), stop - (token.type == "fence")))
        if token.type == "html_block":
            self.raw.update(range(first, stop - 1))
        if token.type == "paragraph_open":
            self.broken.update(line for line in range(first, stop - 1) if self.lines[line].endswith("  "))
            if "<!--" in self.tokens[index + 1].content:
                self.unchanged.update(range(first, stop))
        if token.level == 0 and (token.type in _LISTS or token.type == "fence"):
            self.set_apart(first, stop)
        if self.marks and token.level == 1 and token.type == "list_item_open" and token.markup in "*+":
            self.marked.add(first)

    def set_apart(self, first: int, stop: int) -> None:
        """Record that a list or fence has blank lines around it, but not below a comment directly above it."""
        while not self.lines[stop - 1].strip(" \t"):
            stop -= 1
        self.apart.add(stop)
        if first - 1 not in self.unchanged:
            self.apart.add(first)

    def formatted(self) -> Iterator[str]:
        """Yield the pieces of the formatted text."""
        above = "first"
        last = len(self.lines) - 1
        for number, line in enumerate(self.lines):
            new = line if number in self.unchanged else _bare(line) if number in self.broken else line.rstrip(" \t")
            new = compiled(_MARKER).sub(r"\1-", new, count=1) if number in self.marked else new
            if number in self.unchanged or new or above:
                if number in self.apart and above and new and number:
                    yield self.newline
                yield new + (self.ends[number] if number in self.raw else self.newline if number < last else "")
            above = new if number not in self.unchanged else "kept"


def _tokens(text: str) -> list[Token]:
    """Return the block tokens of a text; inline content is not parsed."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": 200})
    tokens: list[Token] = []
    parser.block.parse(with_newlines(text, "\n") + "\n", parser, {}, tokens)
    return tokens


def _structure(tokens: list[Token], *, marks: bool) -> list[tuple[object, ...]]:
    """Return what formatting must not change in tokens: structure and text."""
    return [
        (
            *(token.type, token.tag, token.level, token.hidden, token.info.strip(), token.attrs.get("start")),
            "-" if marks and token.type.startswith(("bullet_list", "list_item")) else token.markup,
            token.content if token.type in _VERBATIM else "\n".join(map(_bare, token.content.split("\n"))),
        )
        for token in tokens
    ]


def _bare(line: str) -> str:
    """Return a line without blanks at its end, except the two that make a hard break."""
    return line.rstrip(" \t") + ("  " if line.endswith("  ") else "")

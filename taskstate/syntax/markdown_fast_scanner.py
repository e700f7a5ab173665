"""Finds Markdown blocks about as fast as a regular expression searches: exactly, or it declines.

Jumps from one line that could begin a top-level heading, fence, HTML block or underline to the next. That is enough,
because a heading or fence at column 0 closes every list and quote before it. For a line indented by one to three
columns, the line that begins the surrounding list item decides. If anything is not certain, the scanner returns None,
and markdown-it-py reads the text instead (`markdown_blocks.reference_blocks`). See docs/decisions/002.
"""

from __future__ import annotations

import re

from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span

Scanned = tuple[str, Span, Span, str, int, bool]

# The rest of nearly every heading's line: a blank, and a title with neither blanks nor hashes at its ends.
_USUAL_TITLE = r" ([^\s#](?:[^\r\n]*[^\s#])?)(?=\r?\n|\Z)"
_BLOCK_START = (
    rf"( {{0,3}})(?:(#{{1,6}})(?=[ \t\r\n]|\Z)(?:{_USUAL_TITLE})?|(`{{3,}}|~{{3,}})|(</?[A-Za-z]|<[?!])"
    r"|(?:=+|-+)[ \t]*(?=\r?(?:\n|\Z)))"
)
_NEXT_START = re.compile(r"\n(?=[ #`~<=-])" + _BLOCK_START)  # `\n` is found twice as fast as `^`
_LONE_CR = re.compile(r"\r(?!\n)")
_CLOSING_HASHES = r"(?:^|[ \t])#+\Z"
THEMATIC_BREAK = re.compile(r"([-*_])[ \t]*(?:\1[ \t]*){2,}\Z")
_PLAIN_TEXT = re.compile(r"[A-Za-z]|<<")  # begins a paragraph, whatever follows
# A paragraph in quotes, and lines that go on with it, with marks or without: no `=` below such a line makes a heading.
_QUOTE = re.compile(r">{1,20} [A-Za-z][^\n]*\n")
_QUOTED = re.compile(r"(?:(?:(?:>{1,20} )?[A-Za-z]|<<)[^\n]*\n|=+[ \t\r]*\n)*+")
_ITEM = re.compile(r"(?:[-*+]|(\d{1,9})[.)])( {1,4})(?=[^ \t\r\n])")
_WIDEST_ITEM = 4  # a tab reaches column 4, so it indents into items whose content begins there or before

_new = tuple.__new__  # this path is hot: builds records without calling their Python constructors

# Start and end conditions of HTML blocks of CommonMark's kinds 1 to 6, comments aside, which may interrupt a paragraph;
# kind 7 is left to the reference. They are compiled when one is met: most files have none, and each costs time.
HTML_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|"
    "dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|head|header|hr|html|iframe|"
    "legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|"
    "tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_HTML = (
    (rf"</?(?ai:{HTML_NAMES})(?=\s|/?>|$)", r"\n[ \t]*\r?(?=\n|\Z)"),
    (r"<(?ai:script|pre|style|textarea)(?=\s|>|$)", r"</(?ai:script|pre|style|textarea)>"),
    *((r"<\?", r"\?>"), (r"<![A-Z]", r">"), (r"<!\[CDATA\[", r"\]\]>")),
)
_NO_TAG = r"</?[A-Za-z][A-Za-z0-9-]*(?![A-Za-z0-9\s/>-])"  # not a tag but text, such as an address in angle brackets


def scan(text: str, start: int) -> list[Scanned] | None:
    """Return the top-level headings, fences and HTML blocks of `text[start:]`, or None if that is not certain.

    Each is a tuple of the fields of `markdown_blocks.Block`.
    """
    if "\0" in text:  # the reference replaces it
        return None
    return _Scanner(_with_line_feeds(text), start).run()


def _with_line_feeds(text: str) -> str:
    """Return a text with each CR that stands alone as an LF, at the same place: both end a line."""
    return _LONE_CR.sub("\n", text) if "\r" in text else text


class _Undecided(Exception):
    """It is not certain which block a line belongs to."""


class _Scanner:
    """One pass over a text; `boundary` is the end of the last block: no list or quote before it is still open."""

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.boundary = start
        # The list item around the last indented line: its start, the column of its content, the offset that it reaches.
        self.item = (-1, 0, -1)
        self.quoted = start  # the offset that the last paragraph in a quote reaches

    def run(self) -> list[Scanned] | None:
        blocks: list[Scanned] = []
        match, text = self._first(), self.text
        try:
            while match:
                block = self._block(match)
                at = match.end()
                if block:
                    blocks.append(block)
                    at = block[1][1]
                    self.boundary = text.find("\n", at) + 1 or len(text)
                match = _NEXT_START.search(text, at)
        except _Undecided:
            return None
        return blocks

    def _first(self) -> re.Match[str] | None:
        """Return the first candidate, which may be the first line although no line end stands before it."""
        if self.boundary and self.text[self.boundary - 1] == "\n":
            return _NEXT_START.search(self.text, self.boundary - 1)
        return re.compile(_BLOCK_START).match(self.text, self.boundary) or _NEXT_START.search(self.text, self.boundary)

    def _block(self, match: re.Match[str]) -> Scanned | None:
        indent, marks, title, fence, tag = match.groups()
        if title and not indent:
            begin, end = match.span(3)
            level = len(marks)
            return "heading", _new(Span, (begin - 1 - level, end)), _new(Span, (begin, end)), title, level, True
        if indent and self._inside_item(match.start(1), len(indent)):
            return None
        if marks:
            return self._heading(match)
        if fence:
            return self._fence(match)
        if tag:
            return self._html(match)
        return self._underlined(match) if self._follows_text(match.start(1)) else None

    def _underlined(self, match: re.Match[str]) -> Scanned | None:
        """Return the heading that an underline makes of the paragraph before it: one line, and surely a paragraph."""
        text, below = self.text, match.start(1)
        if text[below] == "=" and self._is_quoted(below):
            return None
        start = max(text.rfind("\n", self.boundary, below - 1) + 1, self.boundary)
        title = text[start : below - 1].removesuffix("\r").rstrip(" \t")
        if match[1] or not _PLAIN_TEXT.match(title) or title[-1].isspace() or self._follows_text(start):
            raise _Undecided
        content = _new(Span, (start, start + len(title)))
        return "heading", _new(Span, (start, match.end())), content, title, 1 if text[below] == "=" else 2, True

    def _is_quoted(self, until: int) -> bool:
        """Return whether a paragraph in a quote reaches to `until`: each line is looked at once."""
        text = self.text
        lines = _QUOTED.match(text, self.quoted, until) if self.quoted > self.boundary else None
        if lines is None or lines.end() < until:
            first = _QUOTE.match(text, max(text.rfind("\n\n", self.boundary, until) + 2, self.boundary), until)
            lines = _QUOTED.match(text, first.end(), until) if first else None
        if lines is None or lines.end() < until:
            return False
        self.quoted = until
        return True

    def _heading(self, match: re.Match[str]) -> Scanned:
        start, end = match.start(1), self._end_of_line(match.end(2))
        title = self.text[match.end(2) : end].strip(" \t")
        closing = re.search(_CLOSING_HASHES, title) if title.endswith("#") else None
        if closing:
            title = title[: closing.start()].rstrip(" \t")
        if title and (title[0].isspace() or title[-1].isspace()):
            raise _Undecided
        at = self.text.find(title, match.end(2), end) if title else self._empty_title(match)
        return "heading", Span(start, end), Span(at, at + len(title)), title, len(match[2]), True

    def _empty_title(self, match: re.Match[str]) -> int:
        line = self.text[match.start(1) : self._end_of_line(match.end(2))]
        return match.start(1) + len(line) - len(line.lstrip(" #"))

    def _fence(self, match: re.Match[str]) -> Scanned | None:
        start, first_end = match.start(1), self._end_of_line(match.end())
        marks, info = match[4], self.text[match.end() : first_end]
        if marks[0] == "`" and "`" in info:
            return None
        begin = self._next_line(first_end)
        closing = re.compile(_closing_line(marks)).search(self.text, first_end)
        if closing is None:
            end = len(self.text)
            return "fence", Span(start, end), Span(min(begin, end), end), info.strip(), 0, False
        return "fence", Span(start, closing.end()), Span(begin, closing.start() + 1), info.strip(), 0, True

    def _html(self, match: re.Match[str]) -> Scanned | None:
        text, start = self.text, match.start(5)
        if text.startswith("<!--", start):
            closing = text.find("-->", start)
            if text.startswith("-->\n", closing) and closing >= 0:
                span = _new(Span, (match.start(1), closing + 3))
                return "html", span, span, "", 0, True
        else:
            line = text[start : self._end_of_line(start)]
            end_of = next((end for opening, end in _HTML if compiled(opening).match(line)), None)
            if end_of is None:
                if compiled(_NO_TAG).match(line):
                    return None
                raise _Undecided
            found = compiled(end_of).search(text, start)
            closing = found.start() if found else -1
        end = len(text) if closing < 0 else self._end_of_line(closing)
        span = Span(match.start(1), match.start(1) + len(text[match.start(1) : end].rstrip(" \t\r\n")))
        return "html", span, span, "", 0, True

    def _inside_item(self, start: int, indent: int) -> bool:
        """Return whether an indented line belongs to a list item; False only if no list can be open."""
        item_start, column, reached = self.item
        if reached <= self.boundary or not self._reaches(reached, start, column):
            item_start, column = self._item_before(start)
        if column == 0:
            return False
        if indent < column:
            raise _Undecided
        self.item = (item_start, column, start)
        return True

    def _item_before(self, start: int) -> tuple[int, int]:
        """Return start and content column of the list item that reaches to `start`; (-1, 0) if no block is open."""
        line_start = start
        while line_start > self.boundary:
            line_end = line_start - 1
            line_start = max(self.text.rfind("\n", self.boundary, line_end) + 1, self.boundary)
            if self.text[line_start] not in " \t\r\n":
                return self._item_at(line_start, start)
        if self.text[self.boundary : start].strip(" \t\r\n"):
            raise _Undecided
        return -1, 0

    def _item_at(self, line_start: int, until: int) -> tuple[int, int]:
        line_end = self._end_of_line(line_start)
        item = _ITEM.match(self.text, line_start)
        if item is None or THEMATIC_BREAK.match(self.text, line_start, line_end):
            raise _Undecided
        if item[1] and int(item[1]) != 1 and self._follows_text(line_start):
            raise _Undecided  # only a list that begins with 1 can interrupt a paragraph
        column = item.end() - line_start
        if not self._reaches(self._next_line(line_end), until, column):
            raise _Undecided
        return line_start, column

    def _reaches(self, begin: int, until: int, column: int) -> bool:
        """Return whether a list item reaches to `until`: each line from `begin` is blank or indented to `column`."""
        tab = r"\t" if column <= _WIDEST_ITEM else ""
        outside = compiled(rf"\n {{0,{column - 1}}}[^ {tab}\r\n]").search(self.text, begin - 1, until)
        return outside is None

    def _follows_text(self, start: int) -> bool:
        """Return whether the line before `start` may belong to a paragraph."""
        if start <= self.boundary or self.text.startswith("\n\n", start - 2):
            return False
        before = self.text[max(self.text.rfind("\n", self.boundary, start - 1) + 1, self.boundary) : start]
        return bool(before.strip(" \t\r\n"))

    def _end_of_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        if end < 0:
            end = len(self.text)
        return end - 1 if end > at and self.text[end - 1] == "\r" else end

    def _next_line(self, line_end: int) -> int:
        at = self.text.find("\n", line_end)
        return len(self.text) if at < 0 else at + 1


_PLAIN_ITEM = re.compile(r"([-*+]|\d{1,9}[.)])( {1,4})(?=[^ \t\r\n])")
_HEADING_LINE = re.compile(r"#{1,6}(?:[ \t]|\Z)")
_ANY_ITEM = r" {0,3}(?:[-*+]|\d{1,9}[.)])(?=[ \t\r\n]|\Z)"
_TEXT_LINE = r"(?:[A-Za-z(\[]|\*\*[A-Za-z]|`[^`])[^\n]*"  # which can begin nothing else
_PARAGRAPH = re.compile(rf"{_TEXT_LINE}(?:\n{_TEXT_LINE})*+(?=\n[ \t\r]*(?:\n|\Z)|\Z)")  # with a blank line below
_NEXT_ITEM = re.compile(rf"\n{_ANY_ITEM}")


def scan_items(text: str, start: int, end: int) -> list[tuple[int, int, int]] | None:
    """Return start, begin of the content and end of each top-level list item, or None if the lists are not plain.

    The part must begin and end between blocks. Plain means that every line is blank, begins an item at column 0, is
    indented into the item above it by spaces, or is a heading with `#`, a comment, part of a fence or of a paragraph at
    column 0, which end a list; the paragraph stands between blank lines.
    """
    part = _with_line_feeds(text[start:end])
    if "\0" in part:
        return None
    if not (_NEXT_ITEM.search(part) or re.match(_ANY_ITEM, part)):
        return []
    try:
        return [(start + begin, start + content, start + stop) for begin, content, stop in _items(part)]
    except _Undecided:
        return None


def _items(text: str) -> list[tuple[int, int, int]]:
    items: list[tuple[int, int, int]] = []
    column, marker, at, above = 0, "", 0, ""
    while at < len(text):
        stop = text.find("\n", at)
        stop = len(text) if stop < 0 else stop
        line = text[at:stop].rstrip("\r")
        if line.strip(" \t"):
            item = _PLAIN_ITEM.match(line)
            if item and not THEMATIC_BREAK.match(line):
                if marker and item[1][-1] != marker:  # another bullet begins another list
                    raise _Undecided
                marker, column = item[1][-1], item.end()
                items.append((at, at + column, at + len(line)))
            elif (line.startswith("<!--") and "-->" in line) or _HEADING_LINE.match(line):
                marker = ""
            elif line.startswith(("```", "~~~")):
                marker, stop = "", _end_of_fence(text, line, stop)
            elif marker and column <= len(line) - len(line.lstrip(" ")):
                items[-1] = (*items[-1][:2], at + len(line))
            elif not above and (paragraph := _PARAGRAPH.match(text, at)):
                marker, stop = "", paragraph.end()
            else:
                raise _Undecided
        at, above = stop + 1, line.strip(" \t")
    return items


def _end_of_fence(text: str, line: str, end: int) -> int:
    """Return where the last line of a fence ends, given its first line, which ends at `end`."""
    info = line.lstrip(line[0])
    closing = None if "`" in info else re.compile(_closing_line(line[: len(line) - len(info)])).search(text, end)
    if closing is None:
        raise _Undecided
    following = text.find("\n", closing.end())
    return len(text) if following < 0 else following


def _closing_line(marks: str) -> str:
    """Return the pattern of the line, with the line end before it, that closes a fence of these marks."""
    return rf"\n {{0,3}}{marks[0]}{{{len(marks)},}}[ \t]*(?=\r?(?:\n|\Z))"

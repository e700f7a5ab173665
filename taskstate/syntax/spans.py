"""Character positions in a text: spans, line starts, lines and columns, the prevailing line end.

Offsets count the characters of the whole text, a byte order mark included. Lines end at CRLF, CR or LF and nowhere
else: `str.splitlines` also splits at form feeds and U+2028, and so disagrees with every Markdown parser and editor.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from taskstate.syntax import invisible
from taskstate.syntax.patterns import compiled
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# A pattern, compiled where it is used: that takes milliseconds, and most runs need none of it.
# Terminal escapes, other controls, lone surrogates, and the marks that reorder text on a screen (CVE-2021-42574).
CONTROLS = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"

# What a CI system takes as a command in the log of a job: GitHub behind blanks at a line's start, and `##[` anywhere,
# as Azure and TeamCity take theirs. Of what `::` begins only GitHub's own words: C++ and Markdown begin lines so, too.
_CI_COMMAND = (
    r"(?im)^([^\S\n]*):(?=:(?:add-(?:mask|matcher|path)|debug|echo|(?:end)?group|error|notice|remove-matcher|save-state"
    r"|set-(?:env|output)|stop-commands|warning)\b.*::)|(#)#(?=(?:vso|teamcity)?\[)"
)
_BREAKS = "[\t\n\r\u2028\u2029]"
_LINE_END = r"\r\n?|\n"
_BEGIN_COMMENT, _END_COMMENT = "<!--", "-->"
_FIRST_REACH = 256  # characters: most lines are shorter


class Span(NamedTuple):
    """A half-open range of character offsets."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """Return the text that the span covers."""
        return text[self.start : self.end]


class Position(NamedTuple):
    """A line and a column, both counted from 0, the column in characters."""

    line: int
    column: int


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line begins; there is always a first line."""
    if "\r" in text:
        return [0, *(match.end() for match in re.finditer(_LINE_END, text))]
    lengths = map(len, text.split("\n"))  # three times as fast as looking for each line end
    return [total + line for line, total in enumerate(accumulate(lengths, initial=0))][:-1]


def line_start(text: str, at: int, floor: int = 0, *, ends: str = "\r\n") -> int:
    """Return the start of the line that holds an offset, or `floor` if that is behind it; `ends` are all line ends.

    It takes what the line is long: whoever asks for each line of a file must not look through all of it each time.
    """
    reach = _FIRST_REACH
    while True:
        begin = max(at - reach, floor)
        found = max(text.rfind(end, begin, at) for end in ends)
        if found >= 0:
            return found + 1
        if begin == floor:
            return floor
        reach *= 4


def line_end(text: str, at: int, stop: int | None = None) -> int:
    """Return where the line that holds an offset ends, without its line end, or `stop` if that comes first."""
    stop = len(text) if stop is None else stop
    found = compiled(r"[\r\n]").search(text, at, stop)
    return found.start() if found else stop


def first_line(text: str, span: Span) -> Span:
    """Return `span` up to the end of its first line."""
    return Span(span.start, line_end(text, *span))


def position(starts: list[int], offset: int) -> Position:
    """Return line and column of `offset`, given the text's `line_starts`."""
    line = bisect_right(starts, offset) - 1
    return Position(line, offset - starts[line])


def newline_of(text: str) -> str:
    r"""Return the prevailing line end of `text`: the most frequent one, `\n` where there is none or a tie with it."""
    if "\r" not in text:
        return "\n"
    crlf = text.count("\r\n")
    counts = {"\n": text.count("\n") - crlf, "\r\n": crlf, "\r": text.count("\r") - crlf}
    return max(counts, key=lambda end: counts[end])


def with_newlines(text: str, newline: str) -> str:
    """Return `text` with every line end written as `newline`."""
    unified = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return unified if newline == "\n" else unified.replace("\n", newline)


def is_plain(text: str) -> bool:
    """Return whether a text is ASCII without control characters, as nearly every one is: then no pattern is needed."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()


def hidden_in(text: str) -> Span | None:
    """Return the first of what no person sees in a text: a control character or hidden text; None if all is seen."""
    if is_plain(text):
        return None
    control = re.compile(CONTROLS).search(text)
    return Span(*control.span()) if control else next((Span(*found) for found in invisible.find(text)), None)


def printable(text: str) -> str:
    r"""Return `text` with control characters and hidden text written out as `\x1b`: no terminal acts on it unseen."""
    if is_plain(text):
        return text
    text = invisible.escaped(text)
    return re.compile(CONTROLS).sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def without_commands(text: str) -> str:
    r"""Return text for people without what a CI system would obey in the log of a job: `\x3a:error::` stays text."""
    lowered = text.lower()
    if not any(mark in lowered for mark in ("::", "##[", "##vso[", "##teamcity[")):  # else the pattern is compiled
        return text
    return re.compile(_CI_COMMAND).sub(lambda match: r"#\x23" if match[2] else rf"{match[1]}\x3a", text)


def one_line(text: str) -> str:
    r"""Return `text` as `printable` does, with line ends written out, too: no name or value makes a second line."""
    if text.isascii() and text.isprintable():
        return text
    return re.compile(_BREAKS).sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), printable(text))


def printable_json(text: str) -> str:
    """Return JSON text with its control characters as JSON's own escapes: a parser reads the same values back.

    `json.dumps` escapes only ASCII controls; a terminal obeys others, too.
    """
    return re.compile(CONTROLS).sub(lambda match: f"\\u{ord(match[0]):04x}", invisible.escaped(text, json=True))


def size_in_bytes(text: str) -> int:
    """Return the size for limits: bytes of UTF-8 with line ends counted as LF, the same on every machine."""
    return len(with_newlines(text, "\n").encode())


def is_within(spans: Sequence[Span], at: int) -> bool:
    """Return whether an offset is in one of several spans, which are in order and do not overlap."""
    index = bisect_right(spans, at, key=lambda span: span.start) - 1
    return index >= 0 and at < spans[index].end


def filled_lines(text: str, span: Span, *, indented: bool = False) -> list[tuple[int, str]]:
    """Return the lines of a span that are not blank, each with its offset, without blanks at its end.

    Those at its beginning count only with `indented`.
    """
    at, lines = span.start, list[tuple[int, str]]()
    for line in span.of(text).splitlines(keepends=True):
        lines += [(at, line.rstrip() if indented else line.strip())] if line.strip() else []
        at += len(line)
    return lines


def first_other(lines: Sequence[tuple[int, str]], before: Sequence[tuple[int, str]]) -> tuple[int, str] | None:
    """Return where the first line stands that was another one before, and that one; None where none was."""
    words, olds = ([line for _, line in each] for each in (lines, before))
    if words == olds or not lines:
        return None
    pairs = enumerate(zip(words, olds, strict=False))
    at = next((at for at, (one, old) in pairs if one != old), min(len(words), len(olds)))
    return lines[min(at, len(lines) - 1)][0], olds[at] if at < len(olds) else ""


def trimmed(text: str, span: Span) -> Span:
    """Return `span` without the blank lines and blanks at its end."""
    start, end = span
    return Span(start, start + len(text[start:end].rstrip(" \t\r\n")))


def end_of_content(text: str, span: Span) -> int:
    """Return the end of the last line in `span` that is not blank, trailing blanks of that line included."""
    start, end = span
    part = text[start:end]
    content = len(part.rstrip(" \t\r\n"))
    rest = part[content:]
    return start + content + len(rest) - len(rest.lstrip(" \t"))


def without_comments(text: str, *, keep_open: bool = False) -> str:
    """Return a text without its HTML comments; one that never ends goes to the end of the text, or stays.

    A pattern would look for the end of each anew: for minutes where many begin and none ends.
    """
    kept, at = list[str](), 0
    while (begin := text.find(_BEGIN_COMMENT, at)) >= 0:
        end = text.find(_END_COMMENT, begin + len(_BEGIN_COMMENT))
        if end < 0 and keep_open:
            break
        kept.append(text[at:begin])
        at = end + len(_END_COMMENT) if end >= 0 else len(text)
    return "".join((*kept, text[at:])) if kept else text

"""Finds merge conflicts in a text: three markers at line starts, in their order; and markers that are left alone.

Runs on the raw text before anything is parsed, because git writes its markers into code fences and front matter too.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from sys import maxsize

from taskstate.syntax.spans import Span, line_start
from taskstate.typed import NamedTuple

_MARKER = r"(?m)(?:^|(?<=\r))(?:(<{7})(?: [^\r\n]*)?|(={7})|(>{7})(?: [^\r\n]*)?)[ \t]*(?=[\r\n]|\Z)"
# A marker whose fellows are gone: with a name behind it, since git writes one; a divider is also the line of a heading.
_ALONE = r"(?m)(?:^|(?<=\r))(?:<{7}(?: [^\r\n]*)?|>{7}(?: [^\r\n]*)?|\|{7} [^\r\n]*[^|\s]|={7})[ \t]*(?=[\r\n]|\Z)"
OURS, MIDDLE, THEIRS = "<<<<<<< ours\n", "=======\n", ">>>>>>> theirs\n"  # as our merge writes them
_MARKS = ("<<<<<<<", ">>>>>>>", "|||||||", "=======")


class Conflict(NamedTuple):
    """One merge conflict: `span` from its first marker to the end of its last one, `marker` is its opening line."""

    span: Span
    marker: Span


def find_conflicts(text: str) -> tuple[Conflict, ...]:
    """Return the conflicts of `text`: an opening, a middle and a closing marker, each on a line of its own."""
    if "<<<<<<<" not in text:
        return ()
    conflicts: list[Conflict] = []
    opening: Span | None = None
    has_divider = False
    for match in re.compile(_MARKER).finditer(text):
        line = Span(match.start(), match.start() + len(match[0].rstrip(" \t")))
        if match[1]:
            opening, has_divider = line, False
        elif match[2]:
            has_divider = opening is not None
        elif opening and has_divider:
            conflicts.append(Conflict(Span(opening.start, line.end), opening))
            opening, has_divider = None, False
    return tuple(conflicts)


def lone_markers(text: str) -> tuple[Span, ...]:
    """Return the lines that are a conflict marker and belong to no conflict; a quote in a quote, too deep, is none."""
    if not any(mark in text for mark in _MARKS):
        return ()
    conflicts = [each.span for each in find_conflicts(text)]
    lines = (
        Span(match.start(), match.start() + len(match[0].rstrip(" \t"))) for match in re.compile(_ALONE).finditer(text)
    )
    return tuple(line for line in lines if not _is_in_one(line, conflicts) and not _is_in_quote(text, line))


def _is_in_one(line: Span, conflicts: list[Span]) -> bool:
    """Return whether a line begins in one of the conflicts, which are in order and do not overlap."""
    index = bisect_right(conflicts, (line.start, maxsize)) - 1
    return index >= 0 and line.start < conflicts[index].end


def _is_in_quote(text: str, line: Span) -> bool:
    """Return whether a line that begins with `>` has another one above or below it."""
    end = line.start
    while end and text[end - 1] in "\r\n":
        end -= 1
    above = text[line_start(text, end) : end]
    behind = text[line.end : line.end + 3].lstrip("\r\n")
    return text.startswith(">", line.start) and (above.startswith(">") or behind.startswith(">"))

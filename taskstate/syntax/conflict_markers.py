"""Finds merge conflicts in a text: three markers at line starts, in their order, wherever they stand.

Neither a code fence nor the front matter protects from a merge, so the markers are looked for before anything is
parsed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from taskstate.syntax.spans import Span

_MARK = r"(?m)(?:^|(?<=\r))(?:(<{7})(?: [^\r\n]*)?|(={7})|(>{7})(?: [^\r\n]*)?)[ \t]*(?=[\r\n]|\Z)"


class Conflict(NamedTuple):
    """One merge conflict: `span` from its first marker to the end of its last one, `marker` the line that opens it."""

    span: Span
    marker: Span


def find_conflicts(text: str) -> tuple[Conflict, ...]:
    """Return the conflicts of `text`: an opening, a middle and a closing marker, each on a line of its own."""
    if "<<<<<<<" not in text:
        return ()
    found: list[Conflict] = []
    opening: Span | None = None
    divided = False
    for match in re.compile(_MARK).finditer(text):
        line = Span(match.start(), match.start() + len(match[0].rstrip(" \t")))
        if match[1]:
            opening, divided = line, False
        elif match[2]:
            divided = opening is not None
        elif opening and divided:
            found.append(Conflict(Span(opening.start, line.end), opening))
            opening, divided = None, False
    return tuple(found)

"""Finds merge conflicts in a text: three markers at line starts, in their order.

Runs on the raw text before anything is parsed, because git writes its markers into code fences and front matter too.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from taskstate.syntax.spans import Span

_MARKER = r"(?m)(?:^|(?<=\r))(?:(<{7})(?: [^\r\n]*)?|(={7})|(>{7})(?: [^\r\n]*)?)[ \t]*(?=[\r\n]|\Z)"


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

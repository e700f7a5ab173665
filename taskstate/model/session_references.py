"""The numbers of sessions inside texts: what a session says apart from them, and how they follow when it moves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ANY = r"(?i)(session\s+#?)\d{1,9}\b"
_HEADING = r"(?i)\A(#+[ \t]+session\s+#?)\d{1,9}\b"
# `Session 5`, but not within code, no range or list of numbers, and no session of another task.
_REFERENCE = (
    r"`+[^`\n]*`+|\b(?P<word>[Ss]ession\s+#?)(?P<number>\d{1,9})\b"
    r"(?![.-]?\d|\s*[-\u2013,]\s*\d|\s+(?:of\b|(?:and|or|to)\s+\d))"
)
_FENCE = r"[ \t>*+-]*(?:\d+[.)][ \t]+)?(`{3,}|~{3,})"


def identity(entry: str) -> str:
    """Return what a session says apart from all numbers of sessions: a merge may change these and nothing else."""
    return re.compile(_ANY).sub(r"\1#", entry.rstrip())


def renumbered(entry: str, number: int, moved: Mapping[int, int]) -> str:
    """Return a session's entry with another number, and with references to the sessions that `moved` following."""
    heading, newline, body = entry.partition("\n")
    heading = re.compile(_HEADING).sub(rf"\g<1>{number}", heading)
    return heading + newline + (_following(body, moved) if moved else body)


def _following(body: str, moved: Mapping[int, int]) -> str:
    """Return a text in which references follow; what stands in code fences is quoted, and stays."""
    lines, fence = body.split("\n"), ""
    for index, line in enumerate(lines):
        mark = re.compile(_FENCE).match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        elif not fence:
            lines[index] = re.compile(_REFERENCE).sub(lambda found: _moved(found, moved), line)
    return "\n".join(lines)


def _moved(found: re.Match[str], moved: Mapping[int, int]) -> str:
    if found["number"] is None:
        return found[0]
    number = int(found["number"])
    return f"{found['word']}{moved[number]}" if number in moved else found[0]

"""Merges lists to which both sides have added: the Git History, and a permanent task's Change Log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.merge.lines import lines_of, merge_lines, merge_text
from taskstate.model.document_kinds import kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.merge.three_way import Prefer, Versions

_VERSION = re.compile(r"- v(\d{1,9}) - ([^\n]+)\n")


def merge_commits(sides: Versions[str], prefer: Prefer) -> str:
    """Return three lists of commits as one; what both sides have added is kept, each line once."""
    return "".join(merge_lines(sides.each(_commits), prefer, union=True))


def _commits(text: str) -> list[str]:
    """Return the lines of a list of commits; a placeholder is none."""
    return [line for line in lines_of(text) if not kind("task").is_placeholder(line)]


def merge_versions(sides: Versions[str], prefer: Prefer) -> str:
    """Return three change logs as one: what both sides have added in the order of the times, numbered anew."""
    lines = sides.each(lines_of)
    others = lines.each(lambda side: [line for line in side if not _VERSION.fullmatch(line)])
    new = lines.each(lambda side: [line for line in side if line not in lines.base and _VERSION.fullmatch(line)])
    gone = {line for line in lines.base if line not in lines.ours or line not in lines.theirs}
    if not new.ours or not new.theirs or not others.base == others.ours == others.theirs:
        return merge_text(sides, prefer)
    both = _numbered([*new.ours, *(line for line in new.theirs if line not in new.ours)], lines.base)
    at = lines.ours.index(new.ours[0])
    kept = [[line for line in part if line not in new.ours and line not in gone] for part in _cut(lines.ours, at)]
    return "".join((*kept[0], *both, *kept[1]))


def last_version(text: str) -> int:
    """Return the highest version that a change log lists; 0 where it lists none."""
    return max((int(found[1]) for line in lines_of(text) if (found := _VERSION.fullmatch(line))), default=0)


def _cut(lines: list[str], at: int) -> tuple[list[str], list[str]]:
    return lines[:at], lines[at:]


def _numbered(new: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return lines of versions newest first, with the numbers that follow those `before`."""
    last = last_version("".join(before))
    said = sorted(found[2] for line in new if (found := _VERSION.fullmatch(line)))
    return [f"- v{number} - {text}\n" for number, text in enumerate(said, last + 1)][::-1]

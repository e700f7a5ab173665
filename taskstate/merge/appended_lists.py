"""Merges lists that both sides append to: the Git History, and the Change Log of a permanent task."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.merge.lines import lines_of, merge_lines, merge_text
from taskstate.model.document_kinds import kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.merge.three_way import Prefer, Versions

_VERSION = re.compile(r"- v(\d{1,9}) - ([^\n]+)\n")


def merge_commits(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged list of commits: lines that either side added are kept, each once."""
    return "".join(merge_lines(versions.each(_commits), prefer, union=True))


def _commits(text: str) -> list[str]:
    """Return the lines of a list of commits, without a placeholder."""
    return [line for line in lines_of(text) if not kind("task").is_placeholder(line)]


def merge_versions(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged change log: the versions that either side added, in order of time, numbered anew."""
    lines = versions.each(lines_of)
    other_lines = lines.each(lambda side: [line for line in side if not _VERSION.fullmatch(line)])
    new = lines.each(lambda side: [line for line in side if line not in lines.base and _VERSION.fullmatch(line)])
    removed = {line for line in lines.base if line not in lines.ours or line not in lines.theirs}
    if not new.ours or not new.theirs or not other_lines.base == other_lines.ours == other_lines.theirs:
        return merge_text(versions, prefer)
    added = _numbered([*new.ours, *(line for line in new.theirs if line not in new.ours)], lines.base)
    at = lines.ours.index(new.ours[0])
    ours = [[line for line in part if line not in new.ours and line not in removed] for part in _cut(lines.ours, at)]
    return "".join((*ours[0], *added, *ours[1]))


def last_version(text: str) -> int:
    """Return the highest version that a change log lists; 0 where it lists none."""
    return max((int(match[1]) for line in lines_of(text) if (match := _VERSION.fullmatch(line))), default=0)


def _cut(lines: list[str], at: int) -> tuple[list[str], list[str]]:
    return lines[:at], lines[at:]


def _numbered(new: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return version lines, newest first, numbered from the highest version in `before` on."""
    last = last_version("".join(before))
    texts = sorted(match[2] for line in new if (match := _VERSION.fullmatch(line)))
    return [f"- v{number} - {text}\n" for number, text in enumerate(texts, last + 1)][::-1]

"""Merges lines: what only one side changed is taken over, and of what both changed the preferred side's version.

What is taken for unchanged is found as patience diff does it: equal lines at both ends, then lines that stand only once
in either text, and between those the same again. Blank lines and brackets therefore never pull apart what belongs
together. Line ends are LF here, and every line has one.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from taskstate.merge.three_way import Versions, trivial_merge
from taskstate.model.algorithms import longest_rising

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.merge.three_way import Prefer

OURS, MIDDLE, THEIRS = "<<<<<<< ours\n", "=======\n", ">>>>>>> theirs\n"
_MOST = 250_000  # lines by lines that are compared each with each, where none stands only once


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with its LF; the last one as it is."""
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def merge_text(sides: Versions[str], prefer: Prefer) -> str:
    """Return three texts as one."""
    found = trivial_merge(sides)
    return found[0] if found else "".join(merge_lines(sides.each(lines_of), prefer))


def merge_lines(sides: Versions[list[str]], prefer: Prefer, *, union: bool = False) -> list[str]:
    """Return three lists of lines as one; with `union` lines that both sides added at one place are all kept."""
    ours, theirs = dict(matching_lines(sides.base, sides.ours)), dict(matching_lines(sides.base, sides.theirs))
    merged: list[str] = []
    at = (0, 0, 0)
    for line in (*sorted(ours.keys() & theirs.keys()), len(sides.base)):
        stop = (line, ours.get(line, len(sides.ours)), theirs.get(line, len(sides.theirs)))
        region = Versions(*(text[start:end] for text, start, end in zip(sides, at, stop, strict=True)))
        merged += _merged(region, prefer, union=union)
        merged += sides.base[line : line + 1]
        at = (stop[0] + 1, stop[1] + 1, stop[2] + 1)
    return merged


def _merged(region: Versions[list[str]], prefer: Prefer, *, union: bool) -> list[str]:
    """Return what becomes of lines between two that no side changed."""
    found = trivial_merge(region)
    if found:
        return found[0]
    if union and not "".join(region.base).strip():
        known = set(region.ours)
        return [*region.ours, *(line for line in region.theirs if line not in known)]
    return region.preferred(prefer)


def with_markers(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, int]:
    """Return two lists of lines as one text, with markers around each place where they differ, and how many there are.

    What is to stay together is handed over as one item of several lines.
    """
    pieces: list[str] = []
    conflicts = 0
    at = (0, 0)
    for stop in (*matching_lines(ours, theirs), (len(ours), len(theirs))):
        if at != stop:
            pieces += (OURS, *ours[at[0] : stop[0]], MIDDLE, *theirs[at[1] : stop[1]], THEIRS)
            conflicts += 1
        pieces += ours[stop[0] : stop[0] + 1]
        at = (stop[0] + 1, stop[1] + 1)
    return "".join(pieces), conflicts


def matching_lines(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return the indices of lines that are the same in both, as pairs that rise on both sides."""
    found: list[tuple[int, int]] = []
    waiting = [(0, len(first), 0, len(second))]
    while waiting:
        a, a_end, b, b_end = waiting.pop()
        while a < a_end and b < b_end and first[a] == second[b]:
            found.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and first[a_end - 1] == second[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            found.append((a_end, b_end))
        if a == a_end or b == b_end:
            continue
        anchors = list(_anchors(first[a:a_end], second[b:b_end]))
        found += ((a + i, b + j) for i, j in anchors)
        places = [(a - 1, b - 1), *((a + i, b + j) for i, j in anchors), (a_end, b_end)]
        waiting += ((i + 1, k, j + 1, m) for (i, j), (k, m) in pairwise(places) if anchors)
    return sorted(found)


def _anchors(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines that stand only once in either list; without any, those that a close comparison finds."""
    counts, others = Counter(first), Counter(second)
    places = {line: index for index, line in enumerate(second) if others[line] == 1}
    pairs = [(index, places[line]) for index, line in enumerate(first) if counts[line] == 1 and line in places]
    if pairs:
        yield from (pairs[index] for index in longest_rising([there for _, there in pairs]))
    elif len(first) * len(second) <= _MOST:
        from difflib import SequenceMatcher

        for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
            yield from ((block.a + step, block.b + step) for step in range(block.size))

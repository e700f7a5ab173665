"""Merges texts by line: changes of one side are taken over, and where both changed, the preferred side's lines.

Unchanged lines are found as patience diff does it: equal lines at both ends, then lines that occur only once in each
text, and the same again between those. So blank lines and brackets never split what belongs together. Line ends are LF
here, and every line has one.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from taskstate.model.algorithms import longest_rising
from taskstate.syntax.conflict_markers import MIDDLE, OURS, THEIRS
from taskstate.typed import TYPE_CHECKING
from taskstate.units.three_way import Versions, trivial_merge

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.units.three_way import Prefer

_MAX_PAIRS = 250_000  # pairs of lines up to which `difflib` compares lists without unique lines; beyond, it is too slow


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, each with its LF; the last one as it is."""
    *whole, rest = text.split("\n")
    return [*(f"{line}\n" for line in whole), *([rest] if rest else [])]


def merge_text(versions: Versions[str], prefer: Prefer) -> str:
    """Return the merged text."""
    unconflicted = trivial_merge(versions)
    return unconflicted[0] if unconflicted else "".join(merge_lines(versions.each(lines_of), prefer))


def merge_lines(versions: Versions[list[str]], prefer: Prefer, *, union: bool = False) -> list[str]:
    """Return the merged list of lines; with `union`, lines that both sides added at one place are all kept."""
    ours, theirs = (dict(matching_lines(versions.base, side)) for side in versions[1:])
    merged: list[str] = []
    at = (0, 0, 0)
    for line in (*sorted(ours.keys() & theirs.keys()), len(versions.base)):
        stop = (line, ours.get(line, len(versions.ours)), theirs.get(line, len(versions.theirs)))
        region = Versions(*(text[start:end] for text, start, end in zip(versions, at, stop, strict=True)))
        merged += _merged(region, prefer, union=union)
        merged += versions.base[line : line + 1]
        at = (stop[0] + 1, stop[1] + 1, stop[2] + 1)
    return merged


def _merged(region: Versions[list[str]], prefer: Prefer, *, union: bool) -> list[str]:
    """Return the merged lines of a region between two lines that neither side changed."""
    unconflicted = trivial_merge(region)
    if unconflicted:
        return unconflicted[0]
    if union and not "".join(region.base).strip():
        ours = set(region.ours)
        end = len(lines_of("".join(region.ours).rstrip("\n")))  # a blank line behind a list stays behind it
        added = (line for line in region.theirs if line not in ours)
        return [*region.ours[:end], *added, *region.ours[end:]]
    return region.preferred(prefer)


def with_markers(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, int]:
    """Return two lists of lines as one text with conflict markers where they differ, and the number of conflicts.

    An item may hold several lines that must stay together.
    """
    pieces: list[str] = []
    conflicts = 0
    at = (0, 0)
    for stop in (*matching_lines(ours, theirs), (len(ours), len(theirs))):
        mine, others = ours[at[0] : stop[0]], theirs[at[1] : stop[1]]
        if "".join(mine) == "".join(others):  # one side may have as one item what the other has line by line
            pieces += mine
        else:
            pieces += (OURS, *mine, MIDDLE, *others, THEIRS)
            conflicts += 1
        pieces += ours[stop[0] : stop[0] + 1]
        at = (stop[0] + 1, stop[1] + 1)
    return "".join(pieces), conflicts


def matching_lines(first: Sequence[str], second: Sequence[str]) -> list[tuple[int, int]]:
    """Return the pairs of indices of equal lines, rising in both lists.

    Uses a list of ranges instead of recursion: long files would exceed the call stack.
    """
    pairs: list[tuple[int, int]] = []
    ranges = [(0, len(first), 0, len(second))]
    while ranges:
        a, a_end, b, b_end = ranges.pop()
        while a < a_end and b < b_end and first[a] == second[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        while a < a_end and b < b_end and first[a_end - 1] == second[b_end - 1]:
            a_end, b_end = a_end - 1, b_end - 1
            pairs.append((a_end, b_end))
        if a == a_end or b == b_end:
            continue
        anchors = list(_anchors(first[a:a_end], second[b:b_end]))
        pairs += ((a + i, b + j) for i, j in anchors)
        fixed = [(a - 1, b - 1), *((a + i, b + j) for i, j in anchors), (a_end, b_end)]
        ranges += ((i + 1, k, j + 1, m) for (i, j), (k, m) in pairwise(fixed) if anchors)
    return sorted(pairs)


def _anchors(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield pairs of lines that occur only once in each list; without any, those that `difflib` finds."""
    counts, others = Counter(first), Counter(second)
    positions = {line: index for index, line in enumerate(second) if others[line] == 1}
    pairs = [(index, positions[line]) for index, line in enumerate(first) if counts[line] == 1 and line in positions]
    if pairs:
        yield from (pairs[index] for index in longest_rising([position for _, position in pairs]))
    elif len(first) * len(second) <= _MAX_PAIRS:
        from difflib import SequenceMatcher

        for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
            yield from ((block.a + step, block.b + step) for step in range(block.size))

"""Which entries of a list are out of order: the fewest that one would have to move.

Told apart from the rest so that one misplaced entry is one finding, and not one for every entry behind it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def rising(values: Sequence[int], *, strictly: bool = True) -> tuple[int, ...]:
    """Return the indices of the most values that rise from left to right; of several choices the earliest indices."""
    find = bisect_left if strictly else bisect_right
    ends: list[int] = []
    lengths = [0] * len(values)  # of the longest rise that begins at an index
    for index in range(len(values) - 1, -1, -1):
        place = find(ends, -values[index])
        ends[place : place + 1] = [-values[index]]
        lengths[index] = place + 1
    kept: list[int] = []
    wanted = len(ends)
    for index, value in enumerate(values):
        if lengths[index] == wanted and (
            not kept or values[kept[-1]] < value or (values[kept[-1]] == value and not strictly)
        ):
            kept.append(index)
            wanted -= 1
    return tuple(kept)


def out_of_order(values: Sequence[int], *, strictly: bool = True) -> tuple[int, ...]:
    """Return the indices of the fewest values without which the others rise from left to right."""
    kept = set(rising(values, strictly=strictly))
    return tuple(index for index in range(len(values)) if index not in kept)

"""Counts how often many values occur in a text, in time that grows with the text and not with their number."""

from __future__ import annotations

from collections import Counter

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_FEW = 8  # values: searching the text for each of so many is faster than looking at each of its places


def occurrences(values: Collection[str], text: str) -> Counter[str]:
    """Return how often each value occurs in `text`, as `str.count` does; one of several lines also indented or quoted.

    Values in one line are counted as they are, since one of them may be a part of another.
    """
    several = {value: _unquoted(value) for value in values if "\n" in value}
    found = _counted({value for value in values if value not in several}, text)
    if several:
        counts = _counted({*several.values()}, _unquoted(text))
        found.update({value: counts[plain] for value, plain in several.items()})
    return found


def _unquoted(text: str) -> str:
    return "\n".join(line.strip("> \t\r") for line in text.split("\n"))


def _counted(values: Collection[str], text: str) -> Counter[str]:
    if len(values) <= _FEW:
        return Counter({value: text.count(value) for value in values})
    found: Counter[str] = Counter()
    for length, same in _by_length(values).items():
        found += _counted_from(length, same, text)
    return found


def _by_length(values: Iterable[str]) -> dict[int, list[str]]:
    """Return the values by the greatest power of two that they are not shorter than: few searches for all lengths."""
    groups: dict[int, list[str]] = {}
    for value in values:
        if value:
            groups.setdefault(1 << (len(value).bit_length() - 1), []).append(value)
    return groups


def _counted_from(length: int, values: Iterable[str], text: str) -> Counter[str]:
    """Count values that have at least `length` characters: whatever begins like one is looked up, in each length."""
    lengths: dict[str, set[int]] = {}
    for value in values:
        lengths.setdefault(value[:length], set()).add(len(value))
    known, found, ends = {*values}, Counter[str](), dict[str, int]()
    for start in range(len(text) - length + 1):
        beginning = text[start : start + length]
        if beginning not in lengths:
            continue
        for each in lengths[beginning]:
            value = text[start : start + each]
            if value in known and start >= ends.get(value, 0):  # occurrences do not overlap
                found[value] += 1
                ends[value] = start + each
    return found

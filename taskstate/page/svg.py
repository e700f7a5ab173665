"""Works out the pictures of the page, which are SVG: widths are attributes, since no style stands in a document."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_LEAST = 0.01  # of the whole: what there is, is seen


class Part(NamedTuple):
    """A part of a whole: how many, of what, in which colour, and where it begins and how long it is, of 100."""

    number: int
    name: str
    colour: str
    begin: float = 0.0
    width: float = 0.0


def bar(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts that there are with their places in a bar, one behind the other."""
    there = [each for each in parts if each.number]
    whole = sum(each.number for each in there)
    shares = [max(each.number / whole, _LEAST) for each in there]
    made, begin = [], 0.0
    for part, share in zip(there, shares, strict=True):
        width = 100 * share / sum(shares)
        made.append(part._replace(begin=round(begin, 2), width=round(width, 2)))
        begin += width
    return tuple(made)

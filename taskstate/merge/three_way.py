"""The three versions of anything that is merged, and what can be said of them without knowing what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Literal, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

T = TypeVar("T")
S = TypeVar("S")
H = TypeVar("H", bound="Hashable")

Prefer: TypeAlias = Literal["ours", "theirs"]
PREFERENCES: tuple[Prefer, Prefer] = ("ours", "theirs")


class Versions(NamedTuple, Generic[T]):
    """Three versions: `base` is what both `ours` and `theirs` come from."""

    base: T
    ours: T
    theirs: T

    def preferred(self, prefer: Prefer) -> T:
        """Return the version of the side that is preferred."""
        return self.ours if prefer == "ours" else self.theirs

    def each(self, function: Callable[[T], S]) -> Versions[S]:
        """Return what a function makes of each version."""
        return Versions(function(self.base), function(self.ours), function(self.theirs))


def trivial_merge(sides: Versions[T]) -> tuple[T] | tuple[()]:
    """Return the version that stands where at most one side has changed, or both alike; nothing where they differ."""
    if sides.ours in (sides.base, sides.theirs):
        return (sides.theirs,)
    return (sides.ours,) if sides.theirs == sides.base else ()


def interleave(ours: Sequence[H], theirs: Sequence[H], rank: Callable[[H], int] = lambda _: 0) -> list[H]:
    """Return what both list, in our order: what only theirs has comes behind what precedes it there.

    Where both have put something at one place, the lower `rank` comes first.
    """
    own, common = _behind(ours, set(theirs)), _behind(theirs, set(ours))
    merged: list[H] = []
    for each, mine in own.items():
        merged += each[:1]
        for other in common.get(each, ()):
            while mine and rank(mine[0]) < rank(other):
                merged.append(mine.pop(0))
            merged.append(other)
        merged += mine
    return merged


def _behind(listed: Sequence[H], known: set[H]) -> dict[tuple[H] | tuple[()], list[H]]:
    """Return what stands behind each entry that is known, and before the first of these, up to the next one."""
    found: dict[tuple[H] | tuple[()], list[H]] = {(): []}
    behind = found[()]
    for each in listed:
        if each in known:
            behind = found[each,] = []
        else:
            behind.append(each)
    return found

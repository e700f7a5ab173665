"""The three versions in a merge, and the operations on them that need no knowledge of what they mean."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from typing import Any, Literal, TypeAlias

    Prefer: TypeAlias = Literal["ours", "theirs"]

T = TypeVar("T")
S = TypeVar("S")
H = TypeVar("H", bound="Hashable")

PREFERENCES: tuple[Prefer, Prefer] = ("ours", "theirs")


class Versions(NamedTuple, Generic[T]):
    """The three versions in a merge: `base` is the common ancestor of `ours` and `theirs`."""

    base: T
    ours: T
    theirs: T

    def preferred(self, prefer: Prefer) -> T:
        """Return the preferred version."""
        return self.ours if prefer == "ours" else self.theirs

    def each(self, function: Callable[[T], S]) -> Versions[S]:
        """Return the results of a function for each version."""
        return Versions(function(self.base), function(self.ours), function(self.theirs))


def trivial_merge(versions: Versions[T]) -> tuple[T] | tuple[()]:
    """Return the version that results where at most one side has changed, or both made the same change; else ().

    The result is a tuple, because the version itself may be falsy.
    """
    if versions.ours in (versions.base, versions.theirs):
        return (versions.theirs,)
    return (versions.ours,) if versions.theirs == versions.base else ()


def interleave(ours: Sequence[H], theirs: Sequence[H], rank: Callable[[H], Any] = lambda _: 0) -> list[H]:
    """Return the items of both lists in our order; an item that only theirs has follows its predecessor there.

    Where both have added items at one place, those with the lower `rank` come first.
    """
    our_runs, their_runs = _following(ours, set(theirs)), _following(theirs, set(ours))
    merged: list[H] = []
    for each, our_items in our_runs.items():
        merged += each[:1]
        for other in their_runs.get(each, ()):
            while our_items and rank(our_items[0]) < rank(other):
                merged.append(our_items.pop(0))
            merged.append(other)
        merged += our_items
    return merged


def _following(listed: Sequence[H], known: set[H]) -> dict[tuple[H] | tuple[()], list[H]]:
    """Return for each item in `known`, and for the start of the list, the unknown items that follow it."""
    runs: dict[tuple[H] | tuple[()], list[H]] = {(): []}
    run = runs[()]
    for each in listed:
        if each in known:
            run = runs[each,] = []
        else:
            run.append(each)
    return runs

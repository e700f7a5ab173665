"""Work counted in steps, so that no other load disturbs the count: how it grows with what there is more of."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from taskstate.syntax.document import forget_parsed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from _typeshed import TraceFunction

LEAST, FEW, MANY = 120, 200, 520  # of the first 100 findings of a kind more is shown
LIMIT = 1.02  # steps for each one, as growth: counted, so the same in every run

T = TypeVar("T")


def steps(action: Callable[[], object]) -> int:
    """Return how many lines of Python an action runs; each round of a loop is one, also in a comprehension."""
    forget_parsed()
    ran = [0]

    def trace(_frame: FrameType, event: str, _argument: object) -> TraceFunction:
        ran[0] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return ran[0]


def growth(action: Callable[[T], object], subjects: Sequence[T]) -> float:
    """Return how many steps each further one takes, as multiple of what the first further ones take.

    `subjects` have LEAST, FEW and MANY of something.
    """
    for subject in subjects:
        action(subject)  # what is compiled and cached once is no part of it
    least, few, many = (steps(partial(action, subject)) for subject in subjects)
    return (many - least) / (MANY - LEAST) / ((few - least) / (FEW - LEAST))

"""How a task that has grown too long could be divided: which open features would go into which subtask.

Pure, and a suggestion only: a subtask takes features that stand side by side, because those were thought of together.
"""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

MOST = 4  # subtasks: more of them are a project
_FEATURES = 3  # that a subtask takes where there are fewer than would make `MOST` of them


class Subtask(NamedTuple):
    """A subtask that is suggested: the id that it would have, and the ids of the features that it would take over."""

    id: str
    features: tuple[str, ...]


def suggested(task_id: str, features: Sequence[str], taken: Collection[str] = ()) -> tuple[Subtask, ...]:
    """Return the subtasks for the open `features` of a task, in their order; ids that are `taken` are left out."""
    if not features:
        return ()
    wanted = min(max(-(-len(features) // _FEATURES), 2), MOST, len(features))
    ids = _free_ids(task_id, {each.casefold() for each in taken})
    sizes = [len(features) // wanted + (number < len(features) % wanted) for number in range(wanted)]
    starts = [sum(sizes[:number]) for number in range(wanted)]
    return tuple(
        Subtask(next(ids), tuple(features[start : start + size])) for start, size in zip(starts, sizes, strict=True)
    )


def _free_ids(task_id: str, taken: Collection[str]) -> Iterator[str]:
    """Yield 101a, 101b … for a task 101, and auth.1, auth.2 … for one whose id does not end in a digit."""
    letters = iter(ascii_lowercase) if task_id[-1:].isdigit() else iter(())
    for letter in letters:
        if f"{task_id}{letter}".casefold() not in taken:
            yield f"{task_id}{letter}"
    number = 0
    while True:
        number += 1
        if f"{task_id}.{number}".casefold() not in taken:
            yield f"{task_id}.{number}"

"""Joins several changes of a state file into one, so that they are written in one step or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.storage.transaction import Append, Create, paths_of
from taskstate.workspace.change import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from taskstate.storage.transaction import Operation, Plan
    from taskstate.workspace.workspace import Loaded

    Step = Callable[[Loaded], Change]


def joined(loaded: Loaded, steps: Iterable[Step]) -> Change[tuple[object, ...]]:
    """Return one change that does several steps, each planned on the text that the one before it left.

    Its result has that of each step.
    """
    text = loaded.document.text
    whole: Change[tuple[object, ...]] = Change(text=text, result=())
    for step in steps:
        change = step(loaded)
        if change.text != loaded.document.text:
            loaded = loaded.with_text(change.text)
        whole = Change(
            text=change.text,
            before=_both(whole.before, change.before),
            notes=(*whole.notes, *change.notes),
            after=_both(whole.after, change.after),
            artifacts=(*whole.artifacts, *change.artifacts),
            obsolete_artifacts=(*whole.obsolete_artifacts, *change.obsolete_artifacts),
            must_write=whole.must_write or change.must_write,
            result=(*whole.result, change.result),
        )
    return whole


def _both(first: Plan, second: Plan) -> Plan:
    """Return two plans as one; what both add to the same file is added at once, since a plan names each file once."""
    plan = list(first)
    for operation in second:
        same = next((index for index, each in enumerate(plan) if paths_of(each) == paths_of(operation)), None)
        if same is None:
            plan.append(operation)
        else:
            plan[same] = _added(plan[same], operation)
    return tuple(plan)


def _added(first: Operation, second: Operation) -> Operation:
    match first, second:
        case Append(data=one), Append(data=other):
            return first._replace(data=one + other)
        case Create(data=one), Create(data=other):  # both begin the archive file with its title
            title, newline, _ = one.partition(b"\n")
            return first._replace(data=one + other.removeprefix(title + newline))
    raise ValueError(f"two steps change {' and '.join(paths_of(first))}")

"""Joins several changes of a state file into one, so that they are written in one step or not at all."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING
from taskstate.workspace.change import Change

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from taskstate.workspace.workspace import Loaded

    Step = Callable[[Loaded], Change]


def joined(loaded: Loaded, steps: Iterable[Step]) -> Change[tuple[object, ...]]:
    """Return one change that does several steps, each planned on the text that the one before it left.

    No two steps may write the same other file: events are moved to the archive by the caller, at the end. The result
    has that of each step.
    """
    text = loaded.document.text
    whole: Change[tuple[object, ...]] = Change(text=text, result=())
    for step in steps:
        change = step(loaded)
        if change.text != loaded.document.text:
            loaded = loaded.with_text(change.text)
        whole = Change(
            text=change.text,
            before=(*whole.before, *change.before),
            notes=(*whole.notes, *change.notes),
            after=(*whole.after, *change.after),
            artifacts=(*whole.artifacts, *change.artifacts),
            obsolete_artifacts=(*whole.obsolete_artifacts, *change.obsolete_artifacts),
            must_write=whole.must_write or change.must_write,
            result=(*whole.result, change.result),
        )
    return whole

"""Joins several changes of a state file into one, so that they are written in one step or not at all."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING
from taskstate.writing.change import Change

if TYPE_CHECKING:
    from collections.abc import Iterable

    from taskstate.workspace.workspace import Loaded
    from taskstate.writing.change import Step


def joined(loaded: Loaded, steps: Iterable[Step]) -> Change:
    """Return one change that does several steps, each planned on the text that the one before it left.

    No two steps may write the same other file: the last one alone moves the oldest events to the archive.
    """
    whole = Change(text=loaded.document.text, state=loaded.state)
    for step in steps:
        change = step(loaded)
        loaded = loaded.with_text(change.text)
        whole = Change(
            text=change.text,
            state=loaded.state,
            before=(*whole.before, *change.before),
            notes=(*whole.notes, *change.notes),
            after=(*whole.after, *change.after),
            artifacts=(*whole.artifacts, *change.artifacts),
            obsolete_artifacts=(*whole.obsolete_artifacts, *change.obsolete_artifacts),
            replaced=(*whole.replaced, *change.replaced),
            must_write=whole.must_write or change.must_write,
        )
    return whole

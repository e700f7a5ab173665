"""Finds the acceptance criteria that were sealed in other words than they have now, and unchecks the new words."""

from __future__ import annotations

from taskstate.context.past_versions import find_sealed_version, guess_sealed_version
from taskstate.model.static_context import SECTION, static_text
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded, Workspace


class Reworded(NamedTuple):
    """The criteria that were sealed and are no more, and those that were not sealed as they stand now."""

    gone: tuple[str, ...]
    new: tuple[str, ...]


def reworded(workspace: Workspace, loaded: Loaded, text: str) -> Reworded:
    """Return how the criteria of a new text differ from those that the seal of the task was made over.

    Where section 1 was edited by hand, and what was sealed is found nowhere, its own criteria count as all gone.
    """
    sealed = _sealed_static(workspace, loaded)
    before = _criteria(f"## 1. {SECTION}\n\n{sealed}\n") if sealed is not None else _criteria(loaded.document.text)
    after = _criteria(text)
    kept = set(after) if sealed is not None else set()
    gone = tuple(each for each in before if each not in kept)
    return Reworded(gone, tuple(each for each in after if sealed is None or each not in before))


def with_unchecked(text: str, changed: Reworded) -> str:
    """Return the text with the new criteria unchecked, where sealed ones gave way to them."""
    if not changed.gone:
        return text
    criteria = read_state(parse(text)).criteria
    edits = [Edit(*each.mark, " ") for each in criteria if each.checked and " ".join(each.text.split()) in changed.new]
    return apply(text, edits) if edits else text


def _criteria(text: str) -> tuple[str, ...]:
    return tuple(" ".join(each.text.split()) for each in read_state(parse(text)).criteria)


def _sealed_static(workspace: Workspace, loaded: Loaded) -> str | None:
    """Return the static part that was sealed, or None where it is found in no version."""
    blocks, now = blocks_of(loaded.document), static_text(loaded.document, loaded.state) or ""
    seal = str(blocks.context.seal)
    found = guess_sealed_version(loaded.state, blocks.values, now, seal) or find_sealed_version(
        workspace, loaded.relative, seal
    )
    return None if found is None else found.text

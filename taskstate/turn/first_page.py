"""Chooses what an agent reads first: the prompt for a successor after a handoff, else the brief."""

from __future__ import annotations

from taskstate.brief.brief import brief
from taskstate.model.write_metadata import blocks_of
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Loaded, Workspace


def first_page(workspace: Workspace, loaded: Loaded, role: str, budget: int | None) -> str:
    """Return the successor prompt as long as no session has followed an accepted handoff, else the brief of the role.

    Raises:
        TaskstateError: a template of the project's own is wrong.
    """
    if blocks_of(loaded.document).handoffs.number:  # what handing over needs takes longer to import than all else here
        from taskstate.handoff.accept import accepted_note
        from taskstate.turn.hand_over import successor_prompt

        if note := accepted_note(workspace, loaded.state):
            both = f"\nYou {note}: `taskstate handoff list {loaded.state.id}` names both documents.\n"
            return successor_prompt(workspace, loaded.state.id).text + (both if " and " in note else "")
    return brief(workspace, loaded, role=role, budget=budget).text

"""What every command does before its own work: finish what a killed command left, and tell what is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.storage import backups, files

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace


def recover(workspace: Workspace) -> tuple[str, ...]:
    """Finish what a killed command left, and tell that, and what is gone; costs next to nothing where none is."""
    names = files.names(workspace.journal)
    if not names:
        return ()
    told: tuple[str, ...] = ()
    if names != (backups.FOLDER,):
        from taskstate.storage import journal

        if journal.pending(workspace.journal):
            with workspace.locked() as told:
                pass
    from taskstate.workspace import lost_updates

    return (*told, *lost_updates.check_all(workspace))

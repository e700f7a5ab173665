"""Runs before every command: finishes the write of a killed command and reports lost updates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.storage import backups, files

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace


def recover(workspace: Workspace) -> tuple[str, ...]:
    """Finish what a killed command left, record lost updates, and return messages about both.

    Every command pays for this: without anything to do it only lists one folder, and imports nothing more.
    """
    names = files.names(workspace.journal)
    if not names:
        return ()
    messages: tuple[str, ...] = ()
    if names != (backups.FOLDER,):
        from taskstate.storage import journal

        if journal.pending(workspace.journal):
            with workspace.locked() as messages:  # taking the lock recovers the plan
                pass
    from taskstate.workspace import lost_updates

    return (*messages, *lost_updates.check_all(workspace))

"""Runs before every command: finishes the write of a killed command, and tells what is gone."""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.notices import Told


def recover(workspace: Workspace) -> tuple[str, ...]:
    """Finish what a killed command left, and return messages about that and about what stands in the way.

    Every command pays for this: without anything to do it only lists a few folders, and imports nothing more.
    """
    private = workspace.private
    messages: tuple[str, ...] = ()
    if private.foreign:
        shown = files.shown(private.foreign)
        messages = (f"`.git` points to {shown}, the repository of another folder, which is not used",)
    if private.write is None:
        messages = (*messages, f"nothing can be kept of what is written, nor cached: {private.refusal}")
    if any(files.names(folder / "journal") for folder in private.read):
        from taskstate.storage import journal

        if journal.pending(private):
            try:
                with workspace.locked() as finished:  # taking the lock recovers the plan
                    messages = (*messages, *finished)
            except TaskstateError as error:
                messages = (*messages, f"an interrupted change waits: {error}")
    if private.removed and private.write:
        from taskstate.storage import kept_records, replaced_texts

        with suppress(TaskstateError), workspace.locked():
            adopted = (kept_records.adopt(private), replaced_texts.adopt(private))
            if any(adopted):
                messages = (*messages, "took over what was kept for a worktree that is gone")
    return messages


def losses_of(workspace: Workspace) -> tuple[Told, ...]:
    """Return what is gone or damaged of the tasks that commands have written here."""
    if not any(files.names(folder / "kept") for folder in workspace.private.read):
        return ()
    from taskstate.writing import notices

    return notices.tell(workspace)

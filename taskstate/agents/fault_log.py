"""Logs what goes wrong in a hook: its client shows nothing of it, and is not disturbed."""

from __future__ import annotations

from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.messages import one_line
from taskstate.secrets.mask import masked
from taskstate.storage import files, folders
from taskstate.storage.private import make_folder
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.workspace.workspace import Workspace

LOG = "hooks.log"  # in the private folder
_LARGEST_LOG = 64 * 1024
_LONGEST_LINE = 400
_OWN_FAULT = "a fault of taskstate's own: {}: {}"


def words_of(error: Exception) -> str:
    """Return what went wrong, and whether that is our own fault."""
    return str(error) if isinstance(error, TaskstateError) else _OWN_FAULT.format(type(error).__name__, error)


def add(workspace: Workspace | None, where: str, fault: str) -> None:
    """Add a line to the log in the private folder; that it cannot be written must not disturb the client either."""
    with suppress(TaskstateError, OSError, ValueError):
        folder = workspace.private.write if workspace and folders.is_folder(workspace.state_root) else None
        if folder is None:
            return
        line = (masked(one_line(printable(f"{where}: {fault}"), _LONGEST_LINE)) + "\n").encode()
        make_folder(folder)
        path = folder / LOG
        length = files.size(path)
        if length is None:
            files.create(path, line, mode=0o600)
        elif length > _LARGEST_LOG:
            files.replace(path, files.read(path)[-_LARGEST_LOG // 2 :].partition(b"\n")[2] + line)
        else:
            files.append(path, line, length)

"""Says which session of a client runs this command, and whether one that is noted still runs.

A client names the session in the environment of what its agents run, but not of each MCP server that it starts, and
not each client does. Then the processes above us tell.
"""

from __future__ import annotations

import os

from taskstate.autosave import notes
from taskstate.storage import callers
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.autosave.notes import SessionNote
    from taskstate.workspace.workspace import Workspace

_IDS = {"claude": ("CLAUDE_CODE_SESSION_ID",), "codex": ("CODEX_SESSION_ID", "CODEX_THREAD_ID")}
_WITHOUT_ID = {"gemini": "GEMINI_CLI"}  # its newest session in this worktree is taken for it


def present(workspace: Workspace) -> SessionNote | None:
    """Return the note of the session in which this command runs; None outside of one, or where no hook has noted it."""
    ours = notes.all_notes(workspace.private)
    if not ours:
        return None
    ids = {os.environ[name] for names in _IDS.values() for name in names if os.environ.get(name)}
    named = [each for each in ours if each.session in ids and each.client in _IDS]
    above = [*callers.processes()]
    for each in above:  # of a client in a client, the nearest
        if found := [note for note in ours if note.process and note.process == each.process]:
            return _newest([note for note in found if note in named] or _going_on(found))
    if named:
        return _newest(named)
    nameless = {client for client, name in _WITHOUT_ID.items() if os.environ.get(name)}
    nameless |= {next(filter(None, (callers.client_of(each.words) for each in above)), "")}
    # One that runs in another process is not ours.
    return _newest([each for each in _going_on(ours) if each.client in nameless and not is_alive(each)])


def is_alive(note: SessionNote) -> bool:
    """Return whether a session goes on, as far as anybody knows: it has not ended, and its client runs."""
    return not note.ended and callers.is_running(note.process)


def _going_on(found: Sequence[SessionNote]) -> list[SessionNote]:
    return [each for each in found if not each.ended]


def _newest(found: Iterable[SessionNote]) -> SessionNote | None:
    return max(found, key=lambda each: each.at, default=None)

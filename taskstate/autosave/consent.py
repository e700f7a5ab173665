"""Remembers what the person said of autosave in a repository: nothing (`off`), facts, or words, too.

That is the person's own word: it lies in the user's state folder, a repository cannot set it, and an agent cannot give
it. This module reads the environment, for whoever runs a command is known by that alone.
"""

from __future__ import annotations

import os

from taskstate.errors import TaskstateError
from taskstate.storage import files, user_records
from taskstate.storage.git import client as git
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Literal, TypeAlias

    from taskstate.storage.user_records import Values
    from taskstate.workspace.workspace import Workspace

    Level: TypeAlias = 'Literal["off", "facts", "words"]'

OFF, FACTS, WORDS = "off", "facts", "words"
LEVELS: tuple[Level, ...] = ("off", "facts", "words")
_ENTERS = "of a session that recorded nothing itself, files, commits and checks enter the state file"
MEANING: Mapping[str, str] = {
    OFF: "no transcript is read and nothing noted; `taskstate autosave discard --all` deletes what was kept before",
    FACTS: f"{_ENTERS}; what was said stays in this clone",
    WORDS: f"{_ENTERS}, and quotes of what was said",
}
SWITCH = "TASKSTATE_AUTOSAVE"  # 0 switches it off for whatever is started with it
# What clients set for the commands that their agents run.
_CLIENTS = (
    *("CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_SANDBOX"),
    *("GEMINI_CLI", "CURSOR_TRACE_ID", "CURSOR_AGENT", "AI_AGENT"),
)


def _is_level(values: Values) -> bool:
    return values.get("autosave") in LEVELS


_KIND = user_records.Kind("autosave", "taskstate init --autosave LEVEL", _is_level, is_shared=True)


def level(root: Path) -> Level:
    """Return what may be kept of the sessions in the repository at `root`: nothing, unless its person said so."""
    return said(root)[0] if os.environ.get(SWITCH) != "0" else "off"


def is_given(root: Path) -> bool:
    """Return whether anything may be kept of the sessions in the repository at `root`."""
    return level(root) != OFF


def said(root: Path) -> tuple[Level, str]:
    """Return what the person said, whatever the environment says; and why their word does not count, if it does not."""
    found = user_records.read(_KIND, root)
    named = found.values.get("autosave")
    return next((each for each in LEVELS if each == named), "off"), found.problem


def give(root: Path, wanted: Level) -> bool:
    """Remember what the person says; return whether it is anything new.

    Raises:
        TaskstateError: code "not-a-person": an agent's client runs the command; the state folder cannot be written.
    """
    require_person(wanted)
    return forget(root) if wanted == OFF else user_records.change(_KIND, root, lambda _: {"autosave": wanted})


def require_person(wanted: Level) -> None:
    """Refuse that an agent says for a person that anything may be kept.

    Raises:
        TaskstateError: code "not-a-person": an agent's client runs the command.
    """
    if wanted != OFF and is_in_client():
        message = "an agent cannot allow for a person that what it does is kept"
        help_ = f"ask them to run `taskstate init --autosave {wanted}` in a terminal of their own"
        raise TaskstateError(message, help=help_, code="not-a-person")


def is_in_client() -> bool:
    """Return whether an agent's client runs this command."""
    return any(os.environ.get(name) for name in _CLIENTS)


def forget(root: Path) -> bool:
    """Forget what the person said; return whether there was anything.

    Raises:
        TaskstateError: it cannot be deleted.
    """
    try:
        return user_records.forget(_KIND, root)
    except TaskstateError as error:
        if error.code != "no-state-folder":
            raise
        return False


def kept_files(workspace: Workspace) -> tuple[Path, ...]:
    """Return the notes and drafts that are kept, of all worktrees of the repository."""
    from taskstate.autosave import drafts, notes

    private, at = workspace.private, git.folders(workspace.root)
    found = [*private.read]
    if at and private.write and private.write.is_relative_to(os.path.realpath(at.common_dir)):
        found = [*found, *files.children(private.write.parent)]
    places = (folder / name for folder in dict.fromkeys(found) for name in (notes.FOLDER, drafts.FOLDER))
    return tuple(path for place in places for path in files.children(place))

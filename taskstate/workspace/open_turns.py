"""Notes which tasks are being worked on in this worktree, where the other worktrees of the repository see it.

The state file of another worktree is not here, so an open turn is also noted beside what is private to that worktree.
A note says nothing that the state file does not say; one that is lost costs a warning. Where the file is damaged, the
note still says where the turn began.
"""

from __future__ import annotations

import json
from contextlib import suppress

from taskstate.errors import TaskstateError
from taskstate.model.loose_values import number_of
from taskstate.storage import files, folders
from taskstate.storage.git import client as git
from taskstate.storage.private import make_folder
from taskstate.syntax.spans import one_line, printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace

_FOLDER = "turns"
_MAIN = "main"
_SHOWN = ("worktree", "role", "agent", "started_at", "actor")


class OpenTurn(NamedTuple):
    """A task that is being worked on, by whom, and in which worktree of the repository where it is another one.

    It began on `branch` at `head`, with `tree` as the working tree and `session` as the highest one.
    """

    task: str
    worktree: str
    role: str
    agent: str
    started_at: str
    actor: str = ""
    branch: str = ""
    head: str = ""
    tree: str = ""
    session: int = 0

    @property
    def words(self) -> str:
        """Who works on it where, for a message."""
        role = f", {self.role}," if self.role else ""
        where = f" in the worktree {self.worktree}" if self.worktree else ""
        return f"{self.agent or 'somebody'}{role} works on it{where} since {self.started_at}"

    @property
    def shape(self) -> dict[str, str | None]:
        """Who works on it where, as JSON values."""
        return {key: getattr(self, key) or None for key in _SHOWN}

    def is_of(self, actor: str) -> bool:
        """Return whether it may be this actor's; one of which nobody knows the actor is nobody else's."""
        return not actor or self.actor in {"", actor} or self.agent == actor


def note(workspace: Workspace, turn: OpenTurn) -> None:
    """Note that a turn of a task is open here; that it cannot be noted is no error."""
    folder = workspace.private.write
    with suppress(TaskstateError, OSError):
        if folder:
            make_folder(folder / _FOLDER)
            path = folder / _FOLDER / f"{turn.task.casefold()}.json"
            data = json.dumps(turn._asdict()).encode()
            (files.replace if files.size(path) is not None else files.create)(path, data)


def clear(workspace: Workspace, task_id: str) -> None:
    """Take the note of a task's turn back."""
    for folder in workspace.private.read:
        _delete(folder / _FOLDER / f"{task_id.casefold()}.json")


def clear_elsewhere(workspace: Workspace, task_id: str) -> None:
    """Take the notes of a task's turns in other worktrees back: it was taken over here."""
    for _, folder in _folders(workspace):
        _delete(folder / f"{task_id.casefold()}.json")


def here(workspace: Workspace) -> tuple[OpenTurn, ...]:
    """Return the tasks that are being worked on in this worktree."""
    return tuple(each for folder in workspace.private.read for each in _read(folder / _FOLDER, ""))


def elsewhere(workspace: Workspace) -> tuple[OpenTurn, ...]:
    """Return the tasks that are being worked on in other worktrees which still exist."""
    return tuple(each for worktree, folder in _folders(workspace) for each in _read(folder, worktree))


def of_document(document: Document, task_id: str) -> OpenTurn | None:
    """Return the open turn that a state file tells of."""
    from taskstate.model.write_metadata import blocks_of

    turn = blocks_of(document).delta.turn if "delta" in document.front_matter else None
    if turn is None:
        return None
    where = (turn.branch, turn.head, turn.tree)
    texts = (one_line(each or "") for each in (turn.role, turn.agent, turn.started_at, turn.actor, *where))
    return OpenTurn._make((task_id, "", *texts, turn.session))


def ended_note(document: Document, actor: str) -> tuple[str, ...]:
    """Return a note where a task that ends takes somebody else's turn along."""
    turn = of_document(document, "")
    return () if turn is None or turn.is_of(actor) else (f"a turn was open, and ends with the task: {turn.words}",)


def in_another_worktree(workspace: Workspace, task_id: str) -> OpenTurn | None:
    """Return the turn of a task that was begun in another worktree, and none here; None where there is none."""
    same = task_id.casefold()
    if any(each.task.casefold() == same for each in here(workspace)):
        return None
    return next((each for each in elsewhere(workspace) if each.task.casefold() == same), None)


def without_turn(text: str) -> str:
    """Return a state file's text without an open turn, as a task that is complete or dropped is left."""
    from taskstate.model.delta_block import with_turn
    from taskstate.model.write_metadata import blocks_of, set_front_matter
    from taskstate.syntax.document import parse
    from taskstate.syntax.edits import apply

    document = parse(text)
    delta = blocks_of(document).delta
    return apply(text, set_front_matter(document, "delta", with_turn(delta, None).values)) if delta.turn else text


def _folders(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """Yield the other worktrees that still exist, each with the folder of its notes."""
    at = git.folders(workspace.root)
    own = workspace.private.write
    if at is None or own is None or not own.is_relative_to(at.common_dir):
        return
    for name in files.names(own.parent):
        worktree = name.partition(":")[0].rstrip("~")
        is_there = worktree == _MAIN or folders.is_folder(at.common_dir / "worktrees" / worktree)
        if name != own.name and is_there:
            yield worktree, own.parent / name / _FOLDER


def _delete(note: Path) -> None:
    with suppress(TaskstateError):
        if files.size(note) is not None:
            files.delete(note)


def _read(folder: Path, worktree: str) -> Iterator[OpenTurn]:
    for name in files.names(folder):
        with suppress(TaskstateError, ValueError, AttributeError):
            values = json.loads(files.read(folder / name))
            texts = (printable(str(values.get(key) or "")) for key in OpenTurn._fields[:-1])
            yield OpenTurn._make((*texts, number_of(values.get("session"))))._replace(worktree=worktree)

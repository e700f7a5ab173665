"""Answers the query for the handoff documents of the task that the checked file belongs to."""

from __future__ import annotations

from taskstate.handoff.paths import folder
from taskstate.model import document_kinds, names
from taskstate.model.names import ACCEPTED_FOLDER
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.handoff.document import WrittenHandoff
    from taskstate.lint.queries.repository import File


def documents(file: File) -> tuple[WrittenHandoff, ...]:
    """Read the handoff documents of the task; those of other tools are left out."""
    paths = list(_paths(file))
    if not paths:  # as nearly everywhere: what reads handoffs takes long to import
        return ()
    from taskstate.handoff.document import front_matter_of, read_written_handoff

    handoffs = []
    for name, path in paths:
        document = file.repository.document(path)
        if document and front_matter_of(document).get("kind") == document_kinds.HANDOFF:
            handoffs.append(read_written_handoff(document, name))
    return tuple(handoffs)


def documents_mark(file: File) -> str:
    """Return the marks of the task's handoff documents."""
    return " ".join(f"{name}:{file.repository.source.mark(path)}" for name, path in _paths(file))


def _paths(file: File) -> Iterator[tuple[str, Path]]:
    """Yield each document's path from the state folder, and its full path."""
    if not file.repository.tasks_with_handoffs:
        return
    own = names.own_file(file.path.as_posix())  # by the whole path: the folder of a handoff document names its task
    root = file.repository.workspace.state_root
    if own is None or not own.id or f"task-{own.id}" not in file.repository.tasks_with_handoffs:
        return
    for parent in (folder(own.id), f"{folder(own.id)}/{ACCEPTED_FOLDER}"):
        for name in file.repository.workspace.source.names(root / parent):
            document = names.own_file(name)
            if document and document.type == "handoff":
                yield f"{parent}/{name}", root / parent / name

"""Answers what rules ask about handoffs: which documents the task of the checked file has, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.handoff.document import WrittenHandoff, front_matter_of, read_written_handoff
from taskstate.handoff.paths import folder
from taskstate.model import document_kinds, names
from taskstate.model.names import ACCEPTED_FOLDER
from taskstate.storage import files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.lint.queries.repository import File


def documents(file: File) -> tuple[WrittenHandoff, ...]:
    """Read the handoff documents of the task; those of other tools are left out."""
    found = []
    for place, path in _paths(file):
        document = file.repository.document(path)
        if document and front_matter_of(document).get("kind") == document_kinds.HANDOFF:
            found.append(read_written_handoff(document, place))
    return tuple(found)


def documents_mark(file: File) -> str:
    """Take the marks of the task's handoff documents."""
    return " ".join(f"{place}:{file.repository.source.mark(path)}" for place, path in _paths(file))


def _paths(file: File) -> Iterator[tuple[str, Path]]:
    """Yield each document's path from the state folder, and where it lies."""
    own = names.own_file(file.path.as_posix())  # the name of a handoff document alone does not tell its task
    root = file.repository.workspace.state_root
    if own is None or not own.id or f"task-{own.id}" not in file.repository.tasks_with_handoffs:
        return
    for above in (folder(own.id), f"{folder(own.id)}/{ACCEPTED_FOLDER}"):
        for name in files.names(root / above):
            named = names.own_file(name)
            if named and named.type == "handoff":
                yield f"{above}/{name}", root / above / name

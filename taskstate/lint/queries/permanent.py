"""Answers queries about permanent tasks: which others are active, and the file of an Impact Map.

Each function takes the file that is checked. Those named `..._mark` return the mark of an answer; where the mark tells
the whole answer, there is no other function.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.lint.queries.repository import File, Repository


def active_mark(file: File) -> str:
    """List the ids of the other permanent tasks that are neither complete nor dropped."""
    repository = file.repository
    ids = repository.once(("active permanent",), lambda: _active(repository))
    return " ".join(each for each in ids if each.casefold() != file.id.casefold())


def _active(repository: Repository) -> tuple[str, ...]:
    """Return the ids of the active permanent tasks: as the run's source has them."""
    from taskstate.model.permanent import PERMANENT
    from taskstate.model.statuses import CLOSED
    from taskstate.model.task_state import read_state
    from taskstate.workspace import task_index

    workspace = repository.workspace
    if workspace.is_on_disk:
        indexed = [each for each in task_index.all_tasks(workspace) if each.kind == PERMANENT]
        found = [(each.id, workspace.root / each.path) for each in indexed]
    else:
        found = [(task_index.id_in(path.name), path) for path in workspace.state_files()]
    documents = ((id_, repository.document(path)) for id_, path in found)
    states = ((id_, read_state(document)) for id_, document in documents if document)
    return tuple(id_ for id_, state in states if state.kind == PERMANENT and state.status not in CLOSED)


def impact_map(file: File) -> str:
    """Return the SHA-256 of the file with the Impact Map, with LF line ends; empty where it is missing."""
    from taskstate.model.impact_map import digest_of_file

    path = file.repository.workspace.map_file(file.id)
    try:
        data = file.repository.source.read(path) if file.repository.source.exists(path) else None
    except TaskstateError:
        return ""
    return "" if data is None else digest_of_file(data)


def impact_map_mark(file: File) -> str:
    """Return the mark of the file with the Impact Map."""
    return file.repository.source.mark(file.repository.workspace.map_file(file.id))


def map_digest_mark(file: File) -> str:
    """Return the SHA-256 that the section of the task gives for its map; empty where that was edited, or is none."""
    from taskstate.lint.queries import tasks
    from taskstate.model.impact_map import stored_in
    from taskstate.model.permanent import IMPACT_MAP, VERSION_SEAL, edited_sections
    from taskstate.model.task_state import read_state

    repository = file.repository
    found = tasks.upstream(file, file.id.casefold()) or ()
    paths = (repository.workspace.root / each.path for each in found)
    states = [read_state(document) for document in map(repository.document, paths) if document]
    sealed = [each for each in states if each.text(VERSION_SEAL) and IMPACT_MAP not in edited_sections(each)]
    stored = stored_in(sealed[0]) if len(states) == len(sealed) == 1 else None
    return (stored and stored.sha256) or ""

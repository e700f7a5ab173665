"""Names the folders and paths of a task's handoff documents, relative to the state folder.

Pure: shared by the commands, the lint rules and the merge.
"""

from __future__ import annotations

from taskstate.model.document_kinds import HANDOFF
from taskstate.model.names import ACCEPTED_FOLDER, HANDOFF_FOLDER, own_file


def folder(task_id: str) -> str:
    """Return the folder of a task's open handoffs."""
    return f"{HANDOFF_FOLDER}/task-{task_id}"


def is_handoff_path(path: str, task_id: str) -> bool:
    """Return whether a path is one for handoff documents of a task, open or archived."""
    parent, _, name = path.rpartition("/")
    own, task_folder = own_file(name), folder(task_id)
    return parent in {task_folder, f"{task_folder}/{ACCEPTED_FOLDER}"} and own is not None and own.type == HANDOFF

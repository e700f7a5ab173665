"""Where the handoff documents of a task lie, as texts: paths begin at the state folder.

Pure: shared by the commands, the rules and the merge.
"""

from __future__ import annotations

import re

from taskstate.model.document_kinds import HANDOFF
from taskstate.model.names import ARCHIVE, FOLDER, own_file

_TIME = r"-handoff-(\d{8}T\d{6}Z)\.md\Z"


def folder(task_id: str) -> str:
    """Return the folder of a task's open handoffs, from the state folder."""
    return f"{FOLDER}/task-{task_id}"


def is_handoff_path(path: str, task_id: str) -> bool:
    """Return whether a path, from the state folder, is one that a handoff document of a task may lie at."""
    above, _, name = path.rpartition("/")
    own = own_file(name)
    return above in {folder(task_id), f"{folder(task_id)}/{ARCHIVE}"} and own is not None and own.type == HANDOFF


def timestamp_in(path: str) -> str:
    """Return the time in the name of a document, nothing where it has none; such texts sort as the times do."""
    found = re.search(_TIME, path)
    return found[1] if found else ""

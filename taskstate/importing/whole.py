"""Brings tasks back that were exported as they were: their files, word for word, at places that their names allow."""

from __future__ import annotations

import re

from taskstate.errors import TaskstateError
from taskstate.exporting.items import IMPORTS
from taskstate.importing.text import Written
from taskstate.model import names
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.importing.planning.tasks import Task
    from taskstate.workspace.workspace import Workspace

# A path from the state folder: where tasks, archives and handoffs lie, and no name that begins with a dot.
_PLACE = re.compile(r"(?:tasks|archives|handoffs)(?:/[A-Za-z0-9_][A-Za-z0-9._-]{0,199}){1,3}")


def state_path(task_id: str) -> str:
    """Return the path of a task's state file from the state folder."""
    return f"tasks/task-{task_id}-state.md"


def is_place(path: str, task_id: str) -> bool:
    """Return whether a path, from the state folder, can be that of a file of a task."""
    return path == f"{IMPORTS}/{task_id}.md" or (bool(_PLACE.fullmatch(path)) and names.has_id(path, task_id))


def as_it_was(workspace: Workspace, task: Task) -> Written:
    """Return the files of a task that was exported, to be written as they were.

    Raises:
        TaskstateError: code "exists": it would get another id; code "structure": the file is not that of this task.
    """
    given = task.record.files
    if task.id != task.record.id:
        message = f"a task with this id is here, and an export keeps its ids: {task.id} differs"
        raise TaskstateError(message, help="rename the one that is here", code="exists")
    state = read_state(parse(given[state_path(task.id)], workspace.kinds))
    if state.id != task.id:
        message = f"its state file is that of task {state.id or 'none'}"
        raise TaskstateError(message, help="export it again", code="structure")
    start = workspace.config.root
    others = tuple((f"{start}/{path}", text) for path, text in given.items() if path != state_path(task.id))
    return Written(f"{start}/{state_path(task.id)}", given[state_path(task.id)], others=others)

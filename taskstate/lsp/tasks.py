"""The tasks of a repository by id, for hover, completion and links."""

from __future__ import annotations

from taskstate.typed import TYPE_CHECKING
from taskstate.workspace import task_index

if TYPE_CHECKING:
    from taskstate.workspace.task_index import IndexedTask
    from taskstate.workspace.workspace import Workspace


class TaskIndex:
    """The tasks of a repository; read when first asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._tasks: tuple[IndexedTask, ...] | None = None

    def all(self) -> tuple[IndexedTask, ...]:
        """Return all tasks."""
        if self._tasks is None:
            self._tasks = task_index.all_tasks(self.workspace)
        return self._tasks

    def find(self, task_id: str) -> IndexedTask | None:
        """Return the task with that id, or None."""
        return task_index.by_id(self.all()).get(task_id.casefold())

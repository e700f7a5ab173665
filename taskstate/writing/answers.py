"""Remembers of each task what was found to be gone or damaged: whoever asks again looks only at what has changed.

It also remembers what was told: that is no edit of somebody's, whatever comes into its place later.
"""

from __future__ import annotations

from taskstate.storage.cache import Cache
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

    from taskstate.workspace.workspace import Workspace


class Answer(NamedTuple):
    """A remembered answer: it holds while the files at `paths`, and the references if they were read, stay as then.

    `marks` has one of each path, and one of the task's records. In a `steady` answer nothing but what the newest record
    left in the state file is accounted for by that file. `told` are the items that were gone, as the records list them.
    """

    paths: tuple[str, ...]
    marks: tuple[str, ...]
    references: str
    message: str
    damaged: bool
    steady: bool
    told: tuple[str, ...] = ()

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is to be told, and nothing but the state file accounts for what is owed."""
        return not self.message and self.steady


def answers(workspace: Workspace) -> Cache[Answer]:
    """Return the answers by the case-folded ids of tasks."""
    return Cache(workspace.private.cache("losses.json"), _read)


def told(workspace: Workspace, task_id: str) -> frozenset[str]:
    """Return the items of a task that are remembered to be gone, as the records list them."""
    answer = answers(workspace).get(task_id)
    return frozenset(answer.told if answer else ())


def _read(values: Any) -> Answer:  # noqa: ANN401 - whatever the file holds
    paths, marks, references, message, damaged, steady, gone = values
    paths, marks, gone = (tuple(map(str, each)) for each in (paths, marks, gone))
    return Answer(paths, marks, str(references), str(message), bool(damaged), bool(steady), gone)

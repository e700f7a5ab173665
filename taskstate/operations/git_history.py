"""`git-history`: lists the commits that name a task."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation, option
from taskstate.operations.result import changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.operations.result import Result


class Sync(NamedTuple):
    """The arguments of `git-history sync`."""

    id: TaskId = TASK
    since: str = option("REV", "add only commits after this one (default: since the task was created)")


def sync(call: Call, asked: Sync) -> Result:
    """Add the commits that name the task in their subject or a trailer, by `Task: ID`, TASK-ID or `task ID`.

    `start` and `finish` do so, too, and add what was committed in the turn.
    """
    from taskstate.tasks import git_history

    outcome = git_history.sync(call.workspace, call.task_id(asked.id), call.request(), since=asked.since)
    return changed(call, outcome, "git history written")


OPERATIONS = (
    Operation(
        "git-history sync",
        "add the commits that name the task, by `Task: ID`, TASK-ID or `task ID`",
        sync,
        Sync,
        writes=True,
    ),
)

"""What every step of a turn is given: the workspace, how it is to be written, and whom to tell of long work."""

from __future__ import annotations

from taskstate.evidence.process import unfollowed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.evidence.process import Following
    from taskstate.workspace.workspace import Workspace
    from taskstate.writing.change import Request


class TurnRequest(NamedTuple):
    """What `start` or `finish` is asked for: a task, how it is written, and who is told of each command that is run."""

    workspace: Workspace
    task_id: str
    request: Request
    progress: Following = unfollowed

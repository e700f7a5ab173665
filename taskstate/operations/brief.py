"""`brief`: a briefing for an agent that starts on a task."""

from __future__ import annotations

from taskstate.operations.operation import TASK, Operation, option
from taskstate.operations.result import Result
from taskstate.operations.start import require_budget
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId


class Brief(NamedTuple):
    """The arguments of `brief`."""

    id: TaskId = TASK
    role: str = option("R", "role to write the brief for")
    budget: int | None = option(
        "TOKENS", "maximum number of tokens (default: `brief.budget` of the configuration, else 1000)"
    )


def brief(call: Call, asked: Brief) -> Result:
    """Print the brief of a task: what an agent reads first, within a token budget."""
    from taskstate.brief.brief import brief as write_brief
    from taskstate.brief.brief import shape

    require_budget(asked.budget)
    loaded = call.load(asked.id)
    written = write_brief(call.workspace, loaded, role=asked.role, budget=asked.budget, reader=call.reader)
    return Result(shape(loaded, written, asked.role), written.text, is_verbatim=True)


OPERATIONS = (Operation("brief", "print what an agent reads first, cut to a number of tokens", brief, Brief),)

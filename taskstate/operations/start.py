"""`start`: begins a turn on a task, and says what the agent reads first."""

from __future__ import annotations

from taskstate.operations.call import usage_error
from taskstate.operations.operation import EXPECT_TREE, TASK, Operation, option
from taskstate.operations.result import Result, changed, outcome_shape
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Line, Name, TaskId


class Start(NamedTuple):
    """The arguments of `start`."""

    id: TaskId = TASK
    role: str = option("R", "role of the turn (default: the one that is due)")
    agent: Line = option("NAME", "name of the agent (default: the actor)")
    budget: int | None = option("TOKENS", "maximum number of tokens of the brief")
    take_over: Line = option("NOTE", "pause somebody else's open turn, for this reason")
    accept_stale: Line = option("NOTE", "seal the context as it is now, for this reason")
    accept_drift: Line = option("NOTE", "accept the working tree as it is, for this reason")
    expect_tree: Name = EXPECT_TREE
    qa_log: Source | None = option("FILE", "log with the results for the baseline, instead of a run")


def start(call: Call, asked: Start) -> Result:
    """Begin a turn: accept an open handoff, seal the context, pull the inputs, compare the tree, and print the brief.

    The working tree is compared with what the last turn left. If something is in the way, start names all of it and
    changes nothing.
    """
    from taskstate.turn.start import StartRequest
    from taskstate.turn.start import start as begin
    from taskstate.turn.turn_request import TurnRequest

    require_budget(asked.budget)
    request = StartRequest(
        role=asked.role,
        agent=asked.agent,
        budget=asked.budget,
        take_over=asked.take_over,
        accept_stale=asked.accept_stale,
        accept_drift=asked.accept_drift,
        log=asked.qa_log.read(MAX_BYTES) if asked.qa_log else None,
    )
    write = call.request(asked.expect_tree)
    started = begin(TurnRequest(call.workspace, call.task_id(asked.id), write, call.progress), request)
    if call.dry_run:
        return changed(call, started.outcome)
    call.problems(started.outcome.warnings)
    data = {
        **outcome_shape(started.outcome),
        "role": started.role or None,
        "resumed": started.resumed,
        "notes": list(started.notes),
        "text": started.text,
    }
    lines = [started.where, *(f"- {note}" for note in started.notes), "", started.text]
    return Result(data, "\n".join(lines), is_verbatim=True)


def require_budget(budget: int | None) -> None:
    """Refuse a number of tokens that is none.

    Raises:
        TaskstateError: code "usage".
    """
    if budget is not None and budget < 1:
        raise usage_error(f"--budget {budget} is not a budget", help="say how many tokens, at least 1")


OPERATIONS = (
    Operation(
        "start",
        "begin a turn: refuse if something is in the way, else print the brief",
        start,
        Start,
        writes=True,
        compares="what the last turn left; if another role begins, a difference is refused",
        together=(("--expect-tree", "--accept-drift", 'say why: --accept-drift "WHY"'),),
    ),
)

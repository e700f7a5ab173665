"""Says whose an open turn is: it belongs to the actor that began it, and to the agent that was named then."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.write_metadata import with_event
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.model.delta_block import Turn
    from taskstate.writing.change import Request

TAKEN_OVER = "turn-taken-over"  # event


def is_own(turn: Turn, actor: str, agent: str = "") -> bool:
    """Return whether an actor, or one of its agents by name, may go on with a turn; older ones name no actor."""
    return turn.actor in {None, actor} and agent in {"", turn.agent}


def owner(turn: Turn) -> str:
    """Return in words whose a turn is, with its actor where that is another name."""
    agent = turn.agent or "somebody"
    return agent if turn.actor in {None, agent} else f"{agent} ({turn.actor})"


def refusal(turn: Turn, task_id: str, who: str, kept: str) -> TaskstateError:
    """Return the error that refuses to end a turn of somebody else; `kept` is the file with the session."""
    from shlex import quote

    message = f"task {task_id}: the turn is {owner(turn)}'s, open since {turn.started_at}, and you are {who}"
    command = f'`taskstate finish {task_id} --take-over "WHY"{f" --from {quote(kept)}" if kept else ""}`'
    more = ", with your other options; that file keeps your session" if kept else ", with your other options"
    help_ = f"end it in their place if they are gone: {command}{more}"
    return TaskstateError(message, help=help_, code="turn-open")


def with_taken_over(text: str, turn: Turn, note: str, request: Request) -> str:
    """Return the text of a state file with the event that says who took which turn over, from whom, and why."""
    which = {"from": turn.agent, "began": turn.started_at}
    return with_event(text, request.metadata.event(TAKEN_OVER, note=note, **which))

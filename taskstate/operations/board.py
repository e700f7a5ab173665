"""`board`: the tasks of all worktrees in columns."""

from __future__ import annotations

from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.operations.status import look
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call

_COLUMNS = ("ready", "waiting", "in_progress", "blocked", "complete", "dropped")


class Board(NamedTuple):
    """The arguments of `board`."""

    text: str | None = positional("TEXT", "show only tasks whose id or title contains this")
    status: str = option("", "show this column alone, in full", choices=_COLUMNS)
    role: str = option("NAME", "show only tasks on which this role works")
    agent: str = option("NAME", "show only tasks on which this agent works or has worked")
    area: str = option("NAME", "show only tasks of this area")
    priority: str = option("", "show only tasks of this priority", choices=("P0", "P1", "P2", "P3"))
    watch: bool = switch("show it again after each change, until Ctrl-C")


def board(call: Call, asked: Board) -> Result:
    """Show the tasks of all worktrees in columns, with what each needs."""
    from taskstate.views import board as view

    repository, found = look(call)
    wanted = asked._asdict() | {"text": asked.text or ""}
    made = view.columns(repository, found, call.now(), names=(asked.status,) if asked.status else (), wanted=wanted)
    if call.as_data:
        return Result({"columns": view.shape(made)}, "")
    text = view.text(made, call.screen, is_named=bool(asked.status))
    return Result(None, text, highlights=view.HIGHLIGHTS)


OPERATIONS = (Operation("board", "show the tasks in columns, with what each needs", board, Board, is_view=True),)

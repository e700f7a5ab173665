"""`taskstate board`: the operation, and again at each change."""

from __future__ import annotations

from functools import wraps

from taskstate.operations.board import OPERATIONS as OF_ALL_DOORS
from taskstate.operations.board import board
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.board import Board
    from taskstate.operations.result import Result


@wraps(board)
def run(call: CommandLineCall, asked: Board) -> Result:
    """Show it once, or with `--watch` after each change."""
    if asked.watch:
        from taskstate.cli.commands.watch import show

        return show(call, asked, board)
    return board(call, asked)


OPERATIONS = tuple(each._replace(run=run) for each in OF_ALL_DOORS)

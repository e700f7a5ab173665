"""`taskstate status`: the operation, and again at each change."""

from __future__ import annotations

from functools import wraps

from taskstate.operations.status import OPERATIONS as OF_ALL_DOORS
from taskstate.operations.status import status
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.result import Result
    from taskstate.operations.status import Status


@wraps(status)
def run(call: CommandLineCall, asked: Status) -> Result:
    """Show it once, or with `--watch` after each change."""
    if asked.watch:
        from taskstate.cli.commands.watch import show

        return show(call, asked, status)
    return status(call, asked)


OPERATIONS = tuple(each._replace(run=run) for each in OF_ALL_DOORS)

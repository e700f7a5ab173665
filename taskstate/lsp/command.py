"""`taskstate lsp`: the language server, which editors start and talk to on standard input and output."""

from __future__ import annotations

import sys

from taskstate.errors import TaskstateError
from taskstate.operations.call import collect_garbage_often
from taskstate.operations.operation import Operation, option
from taskstate.operations.result import Result
from taskstate.storage import installed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call


class Lsp(NamedTuple):
    """The arguments of `lsp`."""

    actor: str = option(
        "NAME",
        "name to record as author of what commands change (default: TASKSTATE_ACTOR, the git user, or the login)",
    )


def serve(call: Call, asked: Lsp) -> Result:
    """Run the language server for an editor: findings, fixes and completion.

    Raises:
        TaskstateError: code "missing-extra": the library of the protocol is not installed.
    """
    if installed.lacks("lsp"):
        raise TaskstateError(
            "the language server needs the extra `lsp`, which is not installed",
            help=f"run `{installed.adding('lsp')}`",
            code="missing-extra",
        )
    from taskstate.api import request_for
    from taskstate.lsp.checking import Surroundings
    from taskstate.lsp.server import serve as answer

    collect_garbage_often()
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything prints must not get between the messages
    around = Surroundings(call.now, lambda workspace: request_for(workspace, asked.actor))
    return Result(None, "", answer(around, sys.stdin.buffer, output))


OPERATIONS = (Operation("lsp", "run the language server: findings, fixes and completion in an editor", serve, Lsp),)

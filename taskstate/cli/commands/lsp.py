"""`taskstate lsp`: the language server, which editors start and talk to on standard input and output."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from taskstate.cli.arguments import Parser
from taskstate.cli.commands.lint_report import now
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--actor",
        metavar="NAME",
        help="name to record as author of what commands change (default: TASKSTATE_ACTOR, the git user, or the login)",
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Serve an editor until it ends the conversation.

    Raises:
        TaskstateError: code "missing-extra": the library of the protocol is not installed.
    """
    if find_spec("pygls") is None:
        raise TaskstateError(
            "the language server needs the extra `lsp`, which is not installed",
            help='run `pip install "taskstate[lsp]"`',
            code="missing-extra",
        )
    from taskstate.api import request_for
    from taskstate.lsp.checking import Surroundings
    from taskstate.lsp.server import serve

    named = invocation.args.actor or ""
    output = sys.stdout.buffer
    sys.stdout = sys.stderr  # what anything prints must not get between the messages
    return serve(Surroundings(now, lambda workspace: request_for(workspace, named)), sys.stdin.buffer, output)

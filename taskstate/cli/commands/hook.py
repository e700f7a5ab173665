"""`taskstate hook`: answers a hook of an agent's client, in the client's own format."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime

from taskstate.agents import clients
from taskstate.agents.hook import Hooked, respond
from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation, standard_input
from taskstate.cli.terminal import is_terminal
from taskstate.storage.files import MAX_TEXT


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Answer a hook of an agent's client: reads the client's JSON on standard input, and prints the answer in its "
        "format. It begins no turn, runs no command of the repository, and never fails: what goes wrong is logged."
    )
    parser.add_argument("event", metavar="EVENT", help=f"one of {', '.join(clients.EVENTS)}")
    parser.add_argument(
        "--agent",
        metavar="NAME",
        default=clients.DEFAULT,
        help=f"the client: {', '.join(clients.CLIENTS)} (default: {clients.DEFAULT})",
    )
    parser.add_argument("--fix", action="store_true", help="after an edit, apply the linter's safe fixes first")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Answer the client; the exit status is always 0, because clients take another one as a refusal."""
    args, environment = invocation.args, os.environ
    hooked = Hooked(
        event=args.event,
        client=args.agent,
        now=datetime.now(UTC),
        root=args.root or environment.get("TASKSTATE_ROOT", ""),
        task=environment.get("TASKSTATE_TASK", ""),
        actor=environment.get("TASKSTATE_ACTOR") or args.agent,
        fixes=args.fix,
    )
    data = b"" if sys.stdin and is_terminal(sys.stdin) else standard_input(MAX_TEXT)
    answer = respond(hooked, data)
    sys.stdout.write(answer.json + "\n")
    if answer.fault:
        invocation.print_notes((f"taskstate: {answer.fault}",))
    return 0

"""`taskstate reopen`: reopens a task that is complete or dropped."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_argument("--note", metavar="TEXT", required=True, help="reason; it is recorded")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Reopen a task."""
    from taskstate.tasks.complete import reopen

    args = invocation.args
    outcome = reopen(invocation.workspace, invocation.task, invocation.request(), note=invocation.text_of(args.note))
    return invocation.print_outcome(outcome, "in progress again")

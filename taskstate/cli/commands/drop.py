"""`taskstate drop`: gives a task up."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Give a task up: set its status to dropped, record who did and why, and delete its artifacts. Its files may be "
        "deleted afterwards. `taskstate reopen` takes it up again."
    )
    parser.add_task()
    parser.add_argument("--note", metavar="TEXT", required=True, help="reason; it is recorded")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Give a task up."""
    from taskstate.tasks.drop import drop

    args = invocation.args
    outcome = drop(invocation.workspace, invocation.task, invocation.request(), note=invocation.text_of(args.note))
    return invocation.print_outcome(outcome, "dropped")

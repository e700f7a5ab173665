"""`taskstate purge`: deletes the artifacts of a task and its snapshot data."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_task()
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Delete the artifacts of a task and its snapshot data."""
    from taskstate.verification.snapshots.purge import purge

    outcome = purge(invocation.workspace, invocation.task, invocation.request())
    done = "delta data and artifacts dropped; who left what stays as events" if outcome.revision else "deleted"
    return invocation.print_outcome(outcome, done)

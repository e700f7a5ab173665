"""`taskstate reopen`: reopens a complete task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_task, add_writing

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_task(parser)
    parser.add_argument("--note", metavar="TEXT", required=True, help="reason; it is recorded")
    add_writing(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Reopen a task."""
    from taskstate.tasks.complete import reopen

    args = invocation.args
    outcome = reopen(
        invocation.workspace, invocation.task_id(args.id), invocation.request(), note=invocation.text_of(args.note)
    )
    return invocation.print_outcome(outcome, f"{outcome.path}: in progress again")

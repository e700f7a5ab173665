"""`taskstate purge`: deletes the artifacts of a task and its snapshot data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_task, add_writing

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_task(parser)
    add_writing(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Delete the artifacts of a task and its snapshot data."""
    from taskstate.verification.snapshots.purge import purge

    outcome = purge(invocation.workspace, invocation.task_id(invocation.args.id), invocation.request())
    return invocation.print_outcome(
        outcome, f"{outcome.path}: delta data and artifacts dropped; who left what stays as events"
    )

"""`taskstate git-history`: lists the commits that name a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_task, add_writing

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    summary = "add the commits that name the task, by a line `Task: ID`, by #ID or TASK-ID"
    sync = actions.add_parser("sync", help=summary, description=summary[0].upper() + summary[1:] + ".")
    add_task(sync)
    sync.add_argument(
        "--since",
        metavar="REV",
        default="",
        help="add only commits after this one (default: since the task was created)",
    )
    add_writing(sync)
    sync.set_defaults(run=run_sync)


def run_sync(invocation: Invocation) -> int:
    """List the commits that name a task."""
    from taskstate.tasks.git_history import sync

    outcome = sync(
        invocation.workspace, invocation.task_id(invocation.args.id), invocation.request(), since=invocation.args.since
    )
    return invocation.print_outcome(outcome, f"{outcome.path}: git history written")

"""`taskstate git-history`: lists the commits that name a task."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    summary = "add the commits that name the task, by a line `Task: ID`, by #ID or TASK-ID"
    sync = parser.add_action("sync", summary, summary[0].upper() + summary[1:] + ".")
    sync.add_argument(
        "--since",
        metavar="REV",
        default="",
        help="add only commits after this one (default: since the task was created)",
    )
    sync.add_writing(run=run_sync)


def run_sync(invocation: Invocation) -> int:
    """List the commits that name a task."""
    from taskstate.tasks.git_history import sync

    outcome = sync(invocation.workspace, invocation.task, invocation.request(), since=invocation.args.since)
    return invocation.print_outcome(outcome, "git history written")

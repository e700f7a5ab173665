"""`taskstate status`: shows the roles, findings and next steps of the tasks in progress."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="task to show, whatever its status (default: all tasks in progress)"
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Show the status of the tasks in progress, or of one task."""
    from taskstate.workflow.status import active_tasks, status_shape, status_text

    workspace, task = invocation.workspace, invocation.args.id
    if task is not None:
        loaded = invocation.load_parsed_task()
        return invocation.print_result(status_shape(workspace, loaded), status_text(workspace, (loaded,)))
    tasks, unreadable = active_tasks(workspace)
    invocation.report_all_damage(unreadable)
    text = status_text(workspace, tasks) if tasks or not unreadable else "no other task is in progress"
    return invocation.print_result({"tasks": [status_shape(workspace, loaded) for loaded in tasks]}, text)

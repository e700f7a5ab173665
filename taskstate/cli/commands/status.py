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
    from taskstate.permanent.readers import standings
    from taskstate.workflow.status import active_tasks, status_shape, status_text

    workspace, task, reader = invocation.workspace, invocation.args.id, invocation.reader
    if task is not None:
        loaded = invocation.load_parsed_task()
        return invocation.print_result(
            status_shape(workspace, loaded, reader), status_text(workspace, (loaded,), reader)
        )
    tasks, unreadable = active_tasks(workspace)
    invocation.report_all_damage(unreadable)
    standing = standings(workspace)
    text = (
        status_text(workspace, tasks, reader, standing=standing)
        if tasks or not unreadable
        else "no other task is in progress"
    )
    shapes = [status_shape(workspace, loaded, reader, standing=standing) for loaded in tasks]
    return invocation.print_result({"tasks": shapes}, text)

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
    names = workspace.config.roles
    if task is not None:
        loaded = workspace.load(workspace.locate(invocation.task_id(task)))
        return invocation.print_result(status_shape(loaded, names), status_text((loaded,), names))
    tasks, unreadable = active_tasks(workspace)
    invocation.report_all_damage(unreadable)
    return invocation.print_result(
        {"tasks": [status_shape(loaded, names) for loaded in tasks]}, status_text(tasks, names)
    )

"""`taskstate status`: shows where the tasks in progress stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_common

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "id", metavar="ID", nargs="?", help="only this task, whatever its status (default: all at work)"
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Show where the tasks in progress stand, or one task."""
    from taskstate.workflow.status import active_tasks, status_shape, status_text

    workspace, task = invocation.workspace, invocation.args.id
    names = workspace.config.roles
    if task is not None:
        loaded = workspace.load(workspace.locate(invocation.task_id(task)))
        return invocation.print_result(status_shape(loaded, names), status_text((loaded,), names))
    found, unreadable = active_tasks(workspace)
    invocation.print_problems(unreadable)
    return invocation.print_result(
        {"tasks": [status_shape(loaded, names) for loaded in found]}, status_text(found, names)
    )

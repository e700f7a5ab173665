"""`taskstate brief`: prints what an agent needs to start on a task."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_common, add_task
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Door


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_task(parser)
    parser.add_argument("--role", default="", metavar="R", help="the role that it is for")
    parser.add_argument(
        "--budget",
        type=int,
        metavar="TOKENS",
        help="how many tokens it may have (default: 4000, and no more sessions than archiving keeps)",
    )
    add_common(parser)
    parser.set_defaults(run=run)


def run(door: Door) -> int:
    """Print a brief."""
    from taskstate.workflow.brief import brief, shape

    budget = door.args.budget
    if budget is not None and budget < 1:
        raise TaskstateError(f"--budget {budget} is no budget", help="say how many tokens, at least 1", code="usage")
    loaded = door.workspace.load(door.workspace.locate(door.task_id(door.args.id)))
    told = brief(door.workspace, loaded, role=door.args.role, budget=budget)
    return door.tell(shape(loaded, told, door.args.role), told.text)

"""`taskstate criterion`: checks and unchecks acceptance criteria."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_task, add_writing

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, checked in (("check", True), ("uncheck", False)):
        action = actions.add_parser(
            name, help=f"{name} a criterion", description=f"{name.capitalize()} an acceptance criterion."
        )
        add_task(action)
        action.add_argument("number", metavar="N", type=int, help="number of the criterion, counted from 1")
        add_writing(action)
        action.set_defaults(run=partial(run, checked=checked))


def run(invocation: Invocation, *, checked: bool) -> int:
    """Check or uncheck a criterion."""
    from taskstate.tasks.checklist import set_criterion

    args = invocation.args
    outcome = set_criterion(
        invocation.workspace, invocation.task_id(args.id), args.number, invocation.request(), checked=checked
    )
    return invocation.print_outcome(
        outcome, f"{outcome.path}: criterion {args.number} {'checked' if checked else 'unchecked'}"
    )

"""`taskstate criterion`: checks and unchecks acceptance criteria."""

from __future__ import annotations

from functools import partial

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    for name, checked in (("check", True), ("uncheck", False)):
        action = parser.add_action(name, f"{name} a criterion", f"{name.capitalize()} an acceptance criterion.")
        action.add_argument("number", metavar="N", type=int, help="number of the criterion, counted from 1")
        action.add_writing(run=partial(run, checked=checked))


def run(invocation: Invocation, *, checked: bool) -> int:
    """Check or uncheck a criterion."""
    from taskstate.tasks.checklist import set_criterion

    args = invocation.args
    outcome = set_criterion(invocation.workspace, invocation.task, args.number, invocation.request(), checked=checked)
    return invocation.print_outcome(outcome, f"criterion {args.number} {'checked' if checked else 'unchecked'}")

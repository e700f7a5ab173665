"""`taskstate complete`: completes a task, or lists all that is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_task, add_writing
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Complete a task: all features pass with evidence, criteria are checked, the output is written, the roles are "
        "done and no handoff is open. Its output is handed down to the tasks that depend on it."
    )
    add_task(parser)
    parser.add_argument("--force", action="store_true", help="complete it although something is missing; needs --note")
    parser.add_argument("--note", metavar="TEXT", help="why what is missing is let pass; it is remembered")
    add_writing(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Complete a task."""
    from taskstate.tasks.complete import Incomplete, complete

    args = invocation.args
    if args.force != (args.note is not None):
        what = "complete --force needs a reason" if args.force else "--note is the reason for --force"
        raise TaskstateError(what, help='give both: --force --note "WHY"', code="usage")
    note = invocation.text_of(args.note) if args.force else ""
    if args.force and not note.strip():
        raise TaskstateError("--note is empty", help="say why what is missing is let pass", code="empty")
    try:
        outcome = complete(invocation.workspace, invocation.task_id(args.id), invocation.request(), note=note)
    except Incomplete as error:
        if invocation.as_json:
            what = f"{error.message}: {'; '.join(error.gaps)}"
            raise TaskstateError(what, help=error.help, code=error.code) from error
        invocation.print_problems(tuple(f"  {gap}" for gap in error.gaps))
        raise
    return invocation.print_outcome(outcome, f"{outcome.path}: complete")

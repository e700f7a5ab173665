"""`taskstate complete`: completes a task, or lists what is missing."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Complete a task and propagate its output to the tasks that depend on it. This requires that all features "
        "pass with evidence, all criteria are checked, the output is written, all roles are done and no handoff is "
        "open; otherwise list what is missing."
    )
    parser.add_task()
    parser.add_argument("--force", action="store_true", help="complete even if something is missing (requires --note)")
    parser.add_argument("--note", metavar="TEXT", help="reason for --force; it is recorded")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Complete a task."""
    from taskstate.tasks.complete import complete

    args = invocation.args
    if args.force != (args.note is not None):
        message = "complete --force needs a reason" if args.force else "--note is the reason for --force"
        raise usage_error(message, help='give both: --force --note "WHY"')
    note = invocation.text_of(args.note) if args.force else ""
    if args.force and not note.strip():
        raise TaskstateError("--note is empty", help="say why what is missing is let pass", code="empty")
    outcome = complete(invocation.workspace, invocation.task, invocation.request(), note=note)
    return invocation.print_outcome(outcome, "complete")

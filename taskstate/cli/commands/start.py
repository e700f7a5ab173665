"""`taskstate start`: begins a turn on a task, and prints what the agent reads first."""

from __future__ import annotations

import sys

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation, outcome_shape, read_bytes
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.turn.call import Call


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Begin a turn: accept an open handoff, seal the context, pull the inputs, compare the working tree with what "
        "the last turn left, and print the brief. Refuses as a whole, naming everything that is in the way."
    )
    parser.add_task()
    parser.add_argument("--role", default="", metavar="R", help="role of the turn (default: the one that is due)")
    parser.add_argument("--agent", metavar="NAME", help="name of the agent (default: the actor)")
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="maximum number of tokens of the brief")
    parser.add_argument("--take-over", metavar="NOTE", help="pause the turn that somebody else began, and say why")
    parser.add_argument("--accept-stale", metavar="NOTE", help="seal the context as it is now, and say why")
    parser.add_argument("--accept-drift", metavar="NOTE", help="go on from the working tree as it is, and say why")
    parser.add_argument("--qa-log", metavar="FILE", help="log of the validation commands, for the baseline")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Begin a turn."""
    from taskstate.turn.start import StartRequest, start

    args = invocation.args
    if args.budget is not None and args.budget < 1:
        raise usage_error(f"--budget {args.budget} is no budget", help="say how many tokens, at least 1")
    asked = StartRequest(
        role=args.role,
        agent=_line(invocation, "agent"),
        budget=args.budget,
        take_over=_line(invocation, "take_over"),
        accept_stale=_line(invocation, "accept_stale"),
        accept_drift=_line(invocation, "accept_drift"),
        log=read_bytes(args.qa_log, MAX_BYTES) if args.qa_log else None,
    )
    started = start(call_of(invocation), asked)
    if args.dry_run:
        return invocation.print_outcome(started.outcome)
    invocation.print_problems(started.outcome.warnings)
    data = {
        **outcome_shape(started.outcome),
        "role": started.role or None,
        "resumed": started.resumed,
        "notes": list(started.notes),
        "text": started.text,
    }
    lines = [started.where, *(f"- {note}" for note in started.notes), "", started.text]
    return invocation.print_result(data, "\n".join(lines))


def _line(invocation: Invocation, flag: str) -> str:
    from taskstate.syntax import escaping

    value = invocation.flag_value(flag)
    return escaping.one_line(value, what=f"--{flag.replace('_', '-')}") if value else ""


def call_of(invocation: Invocation) -> Call:
    """Return the call of `start` or `finish`; on a terminal it shows which command is running."""
    from taskstate.cli.terminal import is_terminal
    from taskstate.turn.call import Call

    shows = is_terminal(sys.stderr) and not invocation.as_json

    def progress(line: str) -> None:
        if shows:
            invocation.print_notes((line,))

    return Call(invocation.workspace, invocation.task, invocation.request(), progress)

"""`taskstate protocol`: prints the session protocol for agents."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="task to insert into the commands")
    parser.add_argument(
        "--role", default="", metavar="R", help="role, or `lead`, to print the protocol for (default: any work)"
    )
    parser.add_argument(
        "--agent", default="", metavar="A", help="claude, codex, cursor or generic: add how this agent ends a session"
    )
    parser.add_argument("--short", action="store_true", help="print the short form, which is part of every brief")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Print the protocol."""
    from taskstate.handoff import protocol

    args = invocation.args
    task, kind = invocation.task if args.id else "", ""
    if task:
        path = invocation.workspace.locate(task)  # fails if there is no such task
        kind = invocation.workspace.load(path).state.kind if args.short else ""
    text = protocol.text(
        invocation.any_workspace, role=args.role, agent=args.agent, short=args.short, task=(task, kind)
    )
    shape = {"id": task or None, "role": args.role or None, "agent": args.agent or None, "text": text}
    return invocation.print_result(shape, text)

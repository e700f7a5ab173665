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
    parser.add_argument("--short", action="store_true", help="print the short form, with which every brief begins")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Print the protocol."""
    from taskstate.handoff import protocol

    args = invocation.args
    subject = protocol.Subject()
    if args.id:
        path = invocation.workspace.locate(invocation.task)  # fails if there is no such task
        subject = protocol.Subject(invocation.task, invocation.workspace.load(path).state.kind)
    workspace = invocation.any_workspace
    if args.short:
        text = protocol.short(workspace, subject, role=args.role) + "\n"
    else:
        text = protocol.text(workspace, subject, role=args.role, agent=args.agent)
    shape = {
        "id": invocation.task if args.id else None,
        "role": args.role or None,
        "agent": args.agent or None,
        "text": text,
    }
    return invocation.print_result(shape, text)

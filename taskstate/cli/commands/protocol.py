"""`taskstate protocol`: prints the session protocol that an agent follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.invocation import add_common

if TYPE_CHECKING:
    import argparse

    from taskstate.cli.invocation import Invocation


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", default="", help="the task that the commands are to name")
    parser.add_argument(
        "--role", default="", metavar="R", help="for one role, or for the `lead` (default: for all work)"
    )
    parser.add_argument(
        "--agent", default="", metavar="A", help="claude, codex, cursor or generic: how it ends a session"
    )
    parser.add_argument("--short", action="store_true", help="the short form, which is part of every brief")
    add_common(parser)
    parser.set_defaults(run=run)


def run(invocation: Invocation) -> int:
    """Print the protocol."""
    from taskstate.handoff import protocol

    args = invocation.args
    task, kind = invocation.task_id(args.id) if args.id else "", ""
    if task:
        path = invocation.workspace.locate(task)  # or it says that there is none
        kind = invocation.workspace.load(path).state.kind if args.short else ""
    told = protocol.text(
        invocation.any_workspace, role=args.role, agent=args.agent, short=args.short, task=(task, kind)
    )
    shape = {"id": task or None, "role": args.role or None, "agent": args.agent or None, "text": told}
    return invocation.print_result(shape, told)

"""`taskstate trust`: shows the commands that the repository wants run, and remembers that they may be."""

from __future__ import annotations

from itertools import groupby

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.verification.qa.trust import Listed


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", metavar="ID", nargs="?", help="task whose own validation commands to allow as well")
    parser.add_argument("--revoke", action="store_true", help="forget all that was allowed in this repository")
    parser.add_argument("--dry-run", action="store_true", help="show the list, and allow nothing")
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """Show the list, and allow it."""
    from taskstate.verification.qa import trust

    args = invocation.args
    if args.revoke:
        return _revoke(invocation)
    commands = trust.listed(invocation.workspace, invocation.load_task() if args.id is not None else None)
    is_new = not args.dry_run and bool(commands) and trust.grant(invocation.workspace, commands)
    data = {
        "root": str(invocation.workspace.root),
        "commands": [
            {"source": each.source, "kind": each.command.kind, "command": each.command.text, "new": not each.granted}
            for each in commands
        ],
        "trusted": not args.dry_run or all(each.granted for each in commands),
        "changed": is_new,
    }
    return invocation.print_result(data, "\n".join(_lines(commands, dry_run=args.dry_run)))


def _lines(commands: Sequence[Listed], *, dry_run: bool) -> Iterator[str]:
    from taskstate.verification.qa.trust import shown

    if not commands:
        yield "neither the configuration nor the task names a command to run"
        return
    for source, group in groupby(commands, key=lambda each: each.source):
        yield f"{shown(source)}:"
        # Before the command, since its own words could end like anything.
        yield from (f"  {'     ' if each.granted else 'new  '}{shown(each.command.text)}" for each in group)
    if not dry_run:
        yield "these may now run in this repository, as they stand here; `taskstate trust --revoke` takes that back"
    elif all(each.granted for each in commands):
        yield "these may run in this repository"
    else:
        yield "what is marked as new may not run in this repository; without --dry-run this command allows it"


def _revoke(invocation: Invocation) -> int:
    from taskstate.workspace import grants

    args, root = invocation.args, invocation.workspace.root
    if args.id or args.dry_run:
        raise usage_error("--revoke is for the whole repository, and at once", help="leave ID and --dry-run out")
    changed = grants.revoke(root)
    text = "no command that the repository names may run any more" if changed else "nothing was allowed"
    return invocation.print_result({"root": str(root), "changed": changed}, text)

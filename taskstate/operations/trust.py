"""`trust`: shows the commands that the repository wants run, and remembers that they may be."""

from __future__ import annotations

from itertools import groupby

from taskstate.operations.operation import Operation, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.operations.call import Call
    from taskstate.operations.operation import TaskId
    from taskstate.qa.trust import Listed


class Trust(NamedTuple):
    """The arguments of `trust`."""

    id: TaskId | None = positional("ID", "task whose own checks to allow as well")
    revoke: bool = switch("withdraw all that was allowed in this repository")
    dry_run: bool = switch("show the list, and allow nothing")


def trust(call: Call, asked: Trust) -> Result:
    """Show the commands that the repository names, and allow them to run."""
    from taskstate.qa.trust import grant, listed

    if asked.revoke:
        return _revoke(call, asked)
    commands = listed(call.workspace, call.load(asked.id) if asked.id is not None else None)
    is_new = not asked.dry_run and bool(commands) and grant(call.workspace, commands)
    data = {
        "root": str(call.workspace.root),
        "commands": [
            {"source": each.source, "kind": each.command.kind, "command": each.command.text, "new": not each.granted}
            for each in commands
        ],
        "trusted": not asked.dry_run or all(each.granted for each in commands),
        "changed": is_new,
    }
    return Result(data, "\n".join(_lines(commands, dry_run=asked.dry_run)), is_verbatim=True)


def _lines(commands: Sequence[Listed], *, dry_run: bool) -> Iterator[str]:
    from taskstate.qa.trust import shown

    if not commands:
        yield "neither the configuration nor the task names a command to run"
        return
    for source, group in groupby(commands, key=lambda each: each.source):
        yield f"{shown(source)}:"
        # Before the command, since its own words could end like anything.
        yield from (f"  {'     ' if each.granted else 'new  '}{shown(each.command.text)}" for each in group)
    if not dry_run:
        yield "these may now run in this repository, exactly as listed; `taskstate trust --revoke` undoes that"
    elif all(each.granted for each in commands):
        yield "these may run in this repository"
    else:
        yield "what is marked as new may not run in this repository; without --dry-run this command allows it"


def _revoke(call: Call, asked: Trust) -> Result:
    from taskstate.operations.call import usage_error
    from taskstate.workspace import allowed_commands

    if asked.id or asked.dry_run:
        raise usage_error("--revoke is for the whole repository, and at once", help="leave ID and --dry-run out")
    root = call.workspace.root
    changed = allowed_commands.revoke(root)
    text = "no command that the repository names may run any more" if changed else "nothing was allowed"
    return Result({"root": str(root), "changed": changed}, text)


OPERATIONS = (Operation("trust", "show the commands that the repository names, and allow them to run", trust, Trust),)

"""`taskstate list`: lists tasks."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation
from taskstate.model.statuses import OF_TASKS


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument("--status", choices=OF_TASKS, help="list only tasks with this status")
    parser.add_argument("--area", metavar="NAME", help="list only tasks of this area")
    standing = parser.add_mutually_exclusive_group()
    standing.add_argument(
        "--ready", action="store_true", help="list only open tasks that are not blocked and wait for no other task"
    )
    standing.add_argument(
        "--blocked", action="store_true", help="list only open tasks that are blocked or wait for another task"
    )
    parser.add_common(run=run)


def run(invocation: Invocation) -> int:
    """List the tasks, and report those that cannot be read."""
    from taskstate.tasks.task_list import READY, WAITING, list_tasks, table

    args, workspace = invocation.args, invocation.workspace
    standing = WAITING if args.blocked else READY if args.ready else ""
    if invocation.as_json:
        found = list_tasks(workspace, status=args.status or "", area=args.area or "", standing=standing, shaped=True)
        invocation.report_all_damage(found.unread)
        return invocation.print_result([found.shapes[each.path] for each in found.tasks], "")
    damaged = {each.path: each.message for each in invocation.told if each.damaged}
    shown = table(workspace, status=args.status or "", area=args.area or "", standing=standing, damaged=damaged)
    invocation.report_all_damage(shown.unread)
    return invocation.print_result(None, shown.text)

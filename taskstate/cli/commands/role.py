"""`taskstate role`: shows and changes the roles of a task."""

from __future__ import annotations

from taskstate.cli.arguments import Parser
from taskstate.cli.invocation import Invocation, read_bytes
from taskstate.model.statuses import BLOCKED, OF_ROLES
from taskstate.storage.files import MAX_BYTES


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    show = parser.add_action("show", "show the roles", "Show the status and the findings of a task's roles.")
    show.add_common(run=run_show)
    setting = parser.add_action(
        "set",
        "set the status of a role",
        "Begin a role, which verifies the previous role's snapshot; or finish it, which verifies its own.",
    )
    _add_role(setting)
    setting.add_argument(
        "--status",
        required=True,
        choices=OF_ROLES,
        help="in_progress, done, or pending for a role without a snapshot; to block a role, use `role block`",
    )
    setting.add_argument("--qa-log", metavar="P", help="log of the role's checks, kept as an artifact")
    setting.add_argument("--session-id", metavar="X", help="session id of the agent")
    setting.add_writing(run=run_set)
    block = parser.add_action("block", "block a role", "Record a finding that blocks a role.")
    _add_role(block)
    block.add_argument("--finding", metavar="TEXT", required=True, help="what is wrong and where, in one line")
    block.add_writing(run=run_block)
    unblock = parser.add_action(
        "unblock", "remove a finding", "Remove a finding; without findings the role is no longer blocked."
    )
    _add_role(unblock)
    which = unblock.add_mutually_exclusive_group(required=True)
    which.add_argument("--finding", metavar="TEXT", help="text of the finding, or its number in `role show`")
    which.add_argument("--all", action="store_true", help="remove all findings of the role")
    unblock.add_writing(run=run_unblock)
    reopen = parser.add_action(
        "reopen", "reopen a role", "Reopen a role. Later roles become pending again and lose their snapshots."
    )
    _add_role(reopen)
    reopen.add_argument("--note", metavar="T", required=True, help="reason; it is recorded")
    reopen.add_writing(run=run_reopen)


def _add_role(parser: Parser) -> None:
    parser.add_argument("role", metavar="ROLE", help="implementer, reviewer, validator, or a role of the configuration")


def run_show(invocation: Invocation) -> int:
    """Show the roles of a task."""
    from taskstate.workflow.status import role_table, roles_shape

    workspace = invocation.workspace
    loaded = invocation.load_parsed_task()
    names = workspace.config.roles
    data = {"id": loaded.state.id, "path": loaded.relative, "roles": roles_shape(loaded, names)}
    return invocation.print_result(data, role_table(loaded, names))


def run_set(invocation: Invocation) -> int:
    """Begin or finish a role."""
    from taskstate.tasks.role_changes import set_role
    from taskstate.tasks.role_rules import RoleChange

    args = invocation.args
    log = None if args.qa_log is None else read_bytes(args.qa_log, MAX_BYTES)
    setting = RoleChange(status=args.status, log=log, session_id=args.session_id)
    outcome = set_role(invocation.workspace, invocation.task, args.role, setting, invocation.request())
    text = f"{args.role} is {args.status.replace('_', ' ')}"
    return invocation.print_outcome(outcome, text, role=args.role, status=args.status)


def run_block(invocation: Invocation) -> int:
    """Record a finding that blocks a role."""
    from taskstate.tasks.role_changes import block

    args = invocation.args
    finding = invocation.text_of(args.finding)
    outcome = block(invocation.workspace, invocation.task, args.role, finding, invocation.request())
    return invocation.print_outcome(outcome, f"{args.role} is blocked", role=args.role, status=BLOCKED)


def run_unblock(invocation: Invocation) -> int:
    """Remove a finding, or all findings."""
    from taskstate.tasks.role_changes import unblock

    args = invocation.args
    finding = None if args.all else invocation.text_of(args.finding)
    outcome = unblock(invocation.workspace, invocation.task, args.role, finding, invocation.request())
    removed = "all findings" if args.all else "a finding"
    return invocation.print_outcome(outcome, f"{removed} of {args.role} taken back", role=args.role)


def run_reopen(invocation: Invocation) -> int:
    """Reopen a role."""
    from taskstate.tasks.role_changes import reopen

    args = invocation.args
    note = invocation.text_of(args.note)
    outcome = reopen(invocation.workspace, invocation.task, args.role, note, invocation.request())
    return invocation.print_outcome(outcome, f"{args.role} is back at work", role=args.role)

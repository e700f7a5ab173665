"""`role`: shows and changes the roles of a task."""

from __future__ import annotations

from taskstate.model.statuses import BLOCKED, OF_ROLES
from taskstate.operations.operation import EXPECT_TREE, TASK, OfTask, Operation, option, positional, switch
from taskstate.operations.result import Result, changed
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Name, TaskId, Text

_ROLE = positional("ROLE", "implementer, reviewer, validator, or a role of the configuration")


class Set(NamedTuple):
    """The arguments of `role set`."""

    id: TaskId = TASK
    role: str = _ROLE
    status: str = option(
        "",
        "in_progress, done, or pending for a role without a snapshot; to block a role, use `role block`",
        choices=OF_ROLES,
        is_required=True,
    )
    qa_log: Source | None = option("P", "log of the role's checks, kept as an artifact")
    session_id: str | None = option("X", "session id of the agent")


class Block(NamedTuple):
    """The arguments of `role block`."""

    id: TaskId = TASK
    role: str = _ROLE
    finding: Text = option("TEXT", "what is wrong and where, in one line", is_required=True)


class Unblock(NamedTuple):
    """The arguments of `role unblock`."""

    id: TaskId = TASK
    role: str = _ROLE
    finding: Text | None = option("TEXT", "text of the finding, or its number in `role show`")
    all: bool = switch("remove all findings of the role")
    note: Text | None = option("TEXT", "reason; it is recorded")


class Reopen(NamedTuple):
    """The arguments of `role reopen`."""

    id: TaskId = TASK
    role: str = _ROLE
    note: Text = option("T", "reason; it is recorded", is_required=True)
    expect_tree: Name = EXPECT_TREE


def show(call: Call, asked: OfTask) -> Result:
    """Show the status and the findings of a task's roles."""
    from taskstate.views.role_table import role_table
    from taskstate.views.status import roles_shape

    loaded, names = call.load_parsed(asked.id), call.workspace.config.roles
    data = {"id": loaded.state.id, "path": loaded.relative, "roles": roles_shape(loaded, names, call.workspace)}
    return Result(data, "" if call.as_data else role_table(call.workspace, loaded, call.screen))


def set_(call: Call, asked: Set) -> Result:
    """Begin a role, which verifies the previous role's snapshot; or finish it, which verifies its own."""
    from taskstate.roles.role_changes import set_role
    from taskstate.roles.role_rules import RoleChange

    log = asked.qa_log.read(MAX_BYTES) if asked.qa_log else None
    change = RoleChange(status=asked.status, log=log, session_id=asked.session_id)
    outcome = set_role(call.workspace, call.task_id(asked.id), asked.role, change, call.request())
    done = f"{asked.role} is {asked.status.replace('_', ' ')}"
    return changed(call, outcome, done, role=asked.role, status=asked.status)


def block(call: Call, asked: Block) -> Result:
    """Record a finding that blocks a role."""
    from taskstate.roles.role_changes import block as block_role

    outcome = block_role(call.workspace, call.task_id(asked.id), asked.role, asked.finding, call.request())
    return changed(call, outcome, f"{asked.role} is blocked", role=asked.role, status=BLOCKED)


def unblock(call: Call, asked: Unblock) -> Result:
    """Remove a finding; without findings the role is no longer blocked."""
    from taskstate.roles.role_changes import unblock as unblock_role
    from taskstate.syntax import escaping

    request = call.request()
    if asked.note:
        note = escaping.one_line(asked.note, what="--note")
        request = request._replace(metadata=request.metadata._replace(note=note))
    outcome = unblock_role(call.workspace, call.task_id(asked.id), asked.role, asked.finding, request)
    removed = "all findings" if asked.all else "a finding"
    return changed(call, outcome, f"{removed} of {asked.role} withdrawn", role=asked.role)


def reopen(call: Call, asked: Reopen) -> Result:
    """Reopen a role. Later roles become pending again and lose their snapshots."""
    from taskstate.roles.role_changes import reopen as reopen_role

    request = call.request(asked.expect_tree)
    outcome = reopen_role(call.workspace, call.task_id(asked.id), asked.role, asked.note, request)
    return changed(call, outcome, f"{asked.role} is back at work", role=asked.role)


OPERATIONS = (
    Operation("role show", "show the roles", show, OfTask),
    Operation(
        "role set",
        "set the status of a role",
        set_,
        Set,
        writes=True,
        compares="what the previous role left, to begin; the role's own snapshot, to be done",
    ),
    Operation(
        "role block",
        "block a role",
        block,
        Block,
        writes=True,
        compares="what the previous role left, if the role has not begun",
    ),
    Operation(
        "role unblock",
        "remove a finding",
        unblock,
        Unblock,
        writes=True,
        compares="what the last role left, unless one is at work",
        one_of=("--finding", "--all"),
    ),
    Operation(
        "role reopen",
        "reopen a role",
        reopen,
        Reopen,
        writes=True,
        compares="what the last role left, unless one is at work; an event names what differs",
    ),
)

"""Whose turn it is among the roles of a task: what each step needs before it may be taken.

Pure: it is said which role's snapshot the working tree must match, and whoever reads disks compares them.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model import roles
from taskstate.model.statuses import BLOCKED, COMPLETE, CREATED, DONE, IN_PROGRESS, PENDING
from taskstate.model.write_metadata import blocks_of
from taskstate.syntax import escaping

if TYPE_CHECKING:
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import Role, ToolBlocks

LONGEST_FINDING = 500  # characters


class RoleChange(NamedTuple):
    """What a role is set to: its status, the log of its own checks, and its agent's name for the session."""

    status: str
    log: bytes | None = None
    session_id: str | None = None

    @property
    def adds(self) -> bool:
        """Whether there is more to it than the status."""
        return self.log is not None or self.session_id is not None


class _Turn(NamedTuple):
    state: TaskState
    name: str
    names: tuple[str, ...]


class Turn(_Turn):
    """A role of a task, by its name among the configured ones, as the task's file says now."""

    @property
    def task_id(self) -> str:
        """The task's id."""
        return self.state.id

    @cached_property
    def blocks(self) -> ToolBlocks:
        """What the tool keeps in the front matter."""
        return blocks_of(self.state.document)

    @property
    def role(self) -> Role:
        """Where the role stands."""
        return self.blocks.role(self.name)

    @property
    def previous(self) -> Role | None:
        """Where the role stands whose work this one continues; None for the first one."""
        name = roles.previous_role(self.name, self.names)
        return self.blocks.role(name) if name else None

    @property
    def later(self) -> tuple[Role, ...]:
        """Where the roles stand that come after this one."""
        return tuple(self.blocks.role(name) for name in self.names[self.names.index(self.name) + 1 :])


def turn_of(state: TaskState, role: str, names: tuple[str, ...]) -> Turn:
    """Return a role's turn in a task whose roles may be changed.

    Raises:
        TaskstateError: there is no such role, the task is complete, or a drift is unresolved.
    """
    turn = Turn(state, roles.require_role(role, names), names)
    if state.status == COMPLETE:
        what = f"task {turn.task_id} is complete, so its roles stay as they are"
        help_ = f'`taskstate reopen {turn.task_id} --note "WHY"` takes it back to work'
        raise TaskstateError(what, help=help_, code="task-complete")
    roles.require_no_drift(turn.blocks, turn.task_id)
    return turn


def snapshot_needed_to_set(turn: Turn, setting: RoleChange) -> str | None:
    """Return the role whose snapshot must match the tree before a role may be set so, or None.

    Raises:
        TaskstateError: it is not the role's turn.
    """
    now, status = turn.role.status, setting.status
    if status == BLOCKED:
        advice = f'`taskstate role block {turn.task_id} {turn.name} --finding "WHAT"` says what blocks it'
        raise TaskstateError("a role is blocked by a finding, not by its status", help=advice, code="usage")
    if status == DONE:
        return _done_on(turn, setting)
    if now == status:
        return None
    if now == PENDING:
        return _begin_on(turn)
    if now == IN_PROGRESS and turn.role.snapshot is None:
        return None  # given back, before anything was left
    raise refusal(turn, f"so it cannot be {status.replace('_', ' ')}", next_command(turn), code="role-status")


def _begin_on(turn: Turn) -> str | None:
    previous = turn.previous
    if previous is None:
        return None
    if previous.status != DONE:
        raise _not_yet(turn, previous, "begin")
    return previous.name


def _done_on(turn: Turn, setting: RoleChange) -> str | None:
    """Return the role's own name, for its own snapshot must match, unless it is done and stays so.

    Raises:
        TaskstateError: something is in the way.
    """
    role, previous = turn.role, turn.previous
    if role.findings:
        what = f"and has {counted(len(role.findings), 'open finding')}: {role.findings[0]}"
        help_ = f'when it is mended: `taskstate role unblock {turn.task_id} {turn.name} --finding "WHICH"`'
        raise refusal(turn, what, help_, code="findings-open")
    if role.status == BLOCKED:
        raise refusal(turn, "though by no finding", next_command(turn), code="role-status")
    if role.status == DONE and not setting.adds:
        return None
    if role.status == DONE and any(each.status != PENDING for each in turn.later):
        raise refusal(turn, "and a later role has begun", next_command(turn), code="role-status")
    if previous and previous.status != DONE:
        raise _not_yet(turn, previous, "be done")
    return turn.name


def snapshot_needed_to_block(turn: Turn) -> str | None:
    """Return the role whose snapshot must match the tree before a role may be blocked: the one before, if it begins.

    Raises:
        TaskstateError: it is not the role's turn.
    """
    if turn.role.status == DONE:
        raise refusal(turn, "so nothing can block it", next_command(turn), code="role-status")
    return _begin_on(turn) if turn.role.status == PENDING else None


def next_command(turn: Turn) -> str:
    """Return the advice that fits the status in which a role is."""
    ways = {
        PENDING: f"`taskstate role set {turn.task_id} {turn.name} --status in_progress` begins it",
        IN_PROGRESS: f"`taskstate role set {turn.task_id} {turn.name} --status done` ends it",
        BLOCKED: f'`taskstate role unblock {turn.task_id} {turn.name} --finding "WHICH"` takes a finding back',
        DONE: f'`taskstate role reopen {turn.task_id} {turn.name} --note "WHY"` takes it back to work',
    }
    return ways[turn.role.status]


def refusal(turn: Turn, what: str, way: str, *, code: str) -> TaskstateError:
    """Return a refusal that says where the role stands, what follows, and which way leads on."""
    return TaskstateError(f"task {turn.task_id}: {turn.role.words}, {what}", help=way, code=code)


def _not_yet(turn: Turn, previous: Role, what: str) -> TaskstateError:
    told = f"task {turn.task_id}: {turn.name} cannot {what} while {previous.words}"
    way = f"first `taskstate role set {turn.task_id} {previous.name} --status done`"
    return TaskstateError(told, help=way, code="role-order")


def roles_changed_error(turn: Turn) -> TaskstateError:
    """Return the refusal where what was verified is no longer so."""
    what = f"task {turn.task_id}: somebody changed the roles while the working tree was compared"
    return TaskstateError(what, help="run this again", code="stale")


def start_notes(turn: Turn, status: str) -> tuple[str, ...]:
    """Return what to say where a role begins although its task has not, or something was found in it before."""
    if status in {PENDING, turn.role.status} or turn.role.status != PENDING:
        return ()
    told, found = turn.state.status, len(turn.role.findings)
    follows = ": it is in progress from its first session on" if told == CREATED else ""
    notes = [] if told == IN_PROGRESS else [f"the task itself is {told or 'without a status'}{follows}"]
    notes += [f"{turn.name} has {counted(found, 'open finding')} from before"] if found and status != BLOCKED else []
    return tuple(notes)


# Findings


def clean_finding(text: str) -> str:
    """Return a finding as it is kept: one line, and not a long one.

    Raises:
        TaskstateError: code "too-long", or as `embed.one_line`.
    """
    said = escaping.one_line(text, what="the finding")
    if len(said) > LONGEST_FINDING:
        what = f"the finding has {len(said)} characters, and {LONGEST_FINDING} are the most"
        raise TaskstateError(what, help="say what is wrong and where; the rest belongs into a session", code="too-long")
    return said


def finding_index(turn: Turn, finding: str) -> int:
    """Return the place of the finding that a text or a number, counted from 1, names.

    Raises:
        TaskstateError: code "not-found".
    """
    said, found = escaping.one_line(finding, what="the finding"), turn.role.findings
    if said in found:
        return found.index(said)
    if said.isdecimal() and 1 <= int(said) <= len(found):
        return int(said) - 1
    near = closest(said, found, cutoff=0.0)
    hint = f"did you mean {found.index(near) + 1}, {near!r}?" if near else "nothing blocks it"
    what = f"task {turn.task_id}: {turn.name} has no finding {said!r}"
    raise TaskstateError(what, help=hint, code="not-found")


def counted(number: int, what: str) -> str:
    """Return a number with what it counts."""
    return f"{number} {what}{'s' * (number != 1)}"

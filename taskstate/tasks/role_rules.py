"""Rules for the roles of a task: what each step requires before it is allowed.

Pure: the rules name the role whose snapshot the working tree must match; callers compare them.
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
    """A requested change of a role: its status, the log of its checks, and the name of the agent's session."""

    status: str
    log: bytes | None = None
    session_id: str | None = None

    @property
    def adds(self) -> bool:
        """Whether it changes more than the status."""
        return self.log is not None or self.session_id is not None


class _TurnFields(NamedTuple):  # apart, since cached properties need the `__dict__` of a subclass
    state: TaskState
    name: str
    names: tuple[str, ...]


class Turn(_TurnFields):
    """A role of a task, with the roles before and after it, as the state file says."""

    @property
    def task_id(self) -> str:
        """The task's id."""
        return self.state.id

    @cached_property
    def blocks(self) -> ToolBlocks:
        """The blocks that the tool keeps in the front matter."""
        return blocks_of(self.state.document)

    @property
    def role(self) -> Role:
        """The role's own record."""
        return self.blocks.role(self.name)

    @property
    def previous(self) -> Role | None:
        """The previous role, whose work this one continues; None for the first."""
        name = roles.previous_role(self.name, self.names)
        return self.blocks.role(name) if name else None

    @property
    def later(self) -> tuple[Role, ...]:
        """The roles after this one."""
        return tuple(self.blocks.role(name) for name in self.names[self.names.index(self.name) + 1 :])


def turn_of(state: TaskState, role: str, names: tuple[str, ...]) -> Turn:
    """Return a role of a task whose roles may be changed.

    Raises:
        TaskstateError: there is no such role, the task is complete, or drift is unresolved.
    """
    turn = Turn(state, roles.require_role(role, names), names)
    if state.status == COMPLETE:
        message = f"task {turn.task_id} is complete, so its roles stay as they are"
        help_ = f'`taskstate reopen {turn.task_id} --note "WHY"` takes it back to work'
        raise TaskstateError(message, help=help_, code="task-complete")
    roles.require_no_drift(turn.blocks, turn.task_id)
    return turn


def snapshot_needed_to_set(turn: Turn, role_change: RoleChange) -> str | None:
    """Return the role whose snapshot must match the working tree before this change, or None.

    Raises:
        TaskstateError: the rules do not allow the change.
    """
    now, status = turn.role.status, role_change.status
    if status == BLOCKED:
        advice = f'`taskstate role block {turn.task_id} {turn.name} --finding "WHAT"` says what blocks it'
        raise TaskstateError("a role is blocked by a finding, not by its status", help=advice, code="usage")
    if status == DONE:
        return _snapshot_to_finish(turn, role_change)
    if now == status:
        return None
    if now == PENDING:
        return _snapshot_to_begin(turn)
    if now == IN_PROGRESS and turn.role.snapshot is None:
        return None  # back to pending, before the role has left a snapshot
    raise refusal(turn, f"so it cannot be {status.replace('_', ' ')}", next_command(turn), code="role-status")


def _snapshot_to_begin(turn: Turn) -> str | None:
    previous = turn.previous
    if previous is None:
        return None
    if previous.status != DONE:
        raise _not_yet(turn, previous, "begin")
    return previous.name


def _snapshot_to_finish(turn: Turn, role_change: RoleChange) -> str | None:
    """Return the role itself, whose own snapshot must match, or None if it is done already.

    Raises:
        TaskstateError: the role cannot be done yet.
    """
    role, previous = turn.role, turn.previous
    if role.findings:
        problem = f"and has {counted(len(role.findings), 'open finding')}: {role.findings[0]}"
        help_ = f'when it is mended: `taskstate role unblock {turn.task_id} {turn.name} --finding "WHICH"`'
        raise refusal(turn, problem, help_, code="findings-open")
    if role.status == BLOCKED:
        raise refusal(turn, "though by no finding", next_command(turn), code="role-status")
    if role.status == DONE and not role_change.adds:
        return None
    if role.status == DONE and any(each.status != PENDING for each in turn.later):
        raise refusal(turn, "and a later role has begun", next_command(turn), code="role-status")
    if previous and previous.status != DONE:
        raise _not_yet(turn, previous, "be done")
    return turn.name


def snapshot_needed_to_block(turn: Turn) -> str | None:
    """Return the role whose snapshot must match before a role is blocked: the previous one, if the role has not begun.

    Raises:
        TaskstateError: the rules do not allow the change.
    """
    if turn.role.status == DONE:
        raise refusal(turn, "so nothing can block it", next_command(turn), code="role-status")
    return _snapshot_to_begin(turn) if turn.role.status == PENDING else None


def next_command(turn: Turn) -> str:
    """Return the command that fits a role's status, as advice."""
    commands = {
        PENDING: f"`taskstate role set {turn.task_id} {turn.name} --status in_progress` begins it",
        IN_PROGRESS: f"`taskstate role set {turn.task_id} {turn.name} --status done` ends it",
        BLOCKED: f'`taskstate role unblock {turn.task_id} {turn.name} --finding "WHICH"` takes a finding back',
        DONE: f'`taskstate role reopen {turn.task_id} {turn.name} --note "WHY"` takes it back to work',
    }
    return commands[turn.role.status]


def refusal(turn: Turn, consequence: str, advice: str, *, code: str) -> TaskstateError:
    """Return the error that names the role's status, what follows from it, and what to do instead."""
    return TaskstateError(f"task {turn.task_id}: {turn.role.words}, {consequence}", help=advice, code=code)


def _not_yet(turn: Turn, previous: Role, step: str) -> TaskstateError:
    message = f"task {turn.task_id}: {turn.name} cannot {step} while {previous.words}"
    advice = f"first `taskstate role set {turn.task_id} {previous.name} --status done`"
    return TaskstateError(message, help=advice, code="role-order")


def start_notes(turn: Turn, status: str) -> tuple[str, ...]:
    """Return notes for a role that begins while its task is not in progress, or that has findings from before."""
    if status in {PENDING, turn.role.status} or turn.role.status != PENDING:
        return ()
    task_status, finding_count = turn.state.status, len(turn.role.findings)
    explanation = ": it is in progress from its first session on" if task_status == CREATED else ""
    notes = []
    if task_status != IN_PROGRESS:
        notes.append(f"the task itself is {task_status or 'without a status'}{explanation}")
    if finding_count and status != BLOCKED:
        notes.append(f"{turn.name} has {counted(finding_count, 'open finding')} from before")
    return tuple(notes)


# Findings


def clean_finding(text: str) -> str:
    """Return a finding as one line of limited length.

    Raises:
        TaskstateError: code "too-long", or as `escaping.one_line`.
    """
    line = escaping.one_line(text, what="the finding")
    if len(line) > LONGEST_FINDING:
        message = f"the finding has {len(line)} characters, and {LONGEST_FINDING} are the most"
        raise TaskstateError(
            message, help="say what is wrong and where; the rest belongs into a session", code="too-long"
        )
    return line


def finding_index(turn: Turn, finding: str) -> int:
    """Return the index of a finding, given by its text or its number, counted from 1.

    Raises:
        TaskstateError: code "not-found".
    """
    line, findings = escaping.one_line(finding, what="the finding"), turn.role.findings
    if line in findings:
        return findings.index(line)
    if line.isdecimal() and 1 <= int(line) <= len(findings):
        return int(line) - 1
    near = closest(line, findings, cutoff=0.0)
    hint = f"did you mean {findings.index(near) + 1}, {near!r}?" if near else "nothing blocks it"
    message = f"task {turn.task_id}: {turn.name} has no finding {line!r}"
    raise TaskstateError(message, help=hint, code="not-found")


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural unless it is 1."""
    return f"{number} {noun}{'s' * (number != 1)}"

"""Rules for the roles of a task: what each step requires before it is allowed.

Pure: the rules name the role whose snapshot the working tree must match; callers compare them.
"""

from __future__ import annotations

from functools import cached_property

from taskstate.errors import TaskstateError
from taskstate.messages import closest, counted, first_of
from taskstate.model import roles
from taskstate.model.statuses import BLOCKED, CREATED, DONE, IN_PROGRESS, PENDING
from taskstate.model.write_metadata import blocks_of
from taskstate.qa.results import regressions
from taskstate.syntax import escaping
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.writing.preconditions import require_not_complete, require_not_dropped, require_work

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from taskstate.error_codes import ErrorCode
    from taskstate.model.role_findings import Finding
    from taskstate.model.task_state import TaskState
    from taskstate.model.tool_blocks import CheckResult, Role, ToolBlocks

LONGEST_FINDING = 500  # characters
WAIVED = "regression-waived"  # the event of checks that do not hold and were let pass
_NAMED_CHECKS = 3  # in a message


class RoleChange(NamedTuple):
    """A requested change of a role: its status, the log of its checks, and the name of the agent's session.

    `results` are those of the checks, where they are known better than by reading the log. The failing checks in
    `waived` do not keep the role from being done.
    """

    status: str
    log: bytes | None = None
    session_id: str | None = None
    results: Mapping[str, CheckResult] | None = None
    waived: tuple[str, ...] = ()

    @property
    def adds(self) -> bool:
        """Whether it changes more than the status."""
        return self.log is not None or self.session_id is not None or self.results is not None


class _RoleInTaskFields(NamedTuple):  # apart, since cached properties need the `__dict__` of a subclass
    state: TaskState
    name: str
    names: tuple[str, ...]


class RoleInTask(_RoleInTaskFields):
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


def role_in_task(state: TaskState, role: str, names: tuple[str, ...]) -> RoleInTask:
    """Return a role of a task whose roles may be changed.

    Raises:
        TaskstateError: there is no such role, the task is permanent, complete or dropped, or drift is unresolved.
    """
    require_work(state, "roles")
    place = RoleInTask(state, roles.require_role(role, names), names)
    require_not_complete(state, ", so its roles stay as they are", code="task-complete")
    require_not_dropped(state)
    roles.require_no_drift(place.blocks, place.task_id)
    return place


def snapshots_needed_to_set(place: RoleInTask, role_change: RoleChange) -> tuple[str, ...]:
    """Return the roles whose snapshots must match the working tree before this change.

    Raises:
        TaskstateError: the rules do not allow the change.
    """
    now, status = place.role.status, role_change.status
    if status == BLOCKED:
        advice = f'`taskstate role block {place.task_id} {place.name} --finding "WHAT"` says what blocks it'
        raise TaskstateError("a role is blocked by a finding, not by its status", help=advice, code="usage")
    if status == DONE:
        return _snapshots_to_finish(place, role_change)
    if now == status and not (now == PENDING and role_change.adds and place.previous):
        return ()
    if now == PENDING:
        return _snapshots_to_begin(place)
    if now == IN_PROGRESS and place.role.snapshot is None:
        return ()  # back to pending, before the role has left a snapshot
    raise refusal(
        place,
        f"so it cannot be {status.replace('_', ' ')}",
        roles.next_command(place.role, place.task_id),
        code="role-status",
    )


def _snapshots_to_begin(place: RoleInTask) -> tuple[str, ...]:
    previous = place.previous
    if previous is None:
        return ()
    if previous.status != DONE:
        raise roles.too_early(place.blocks, place.name, place.names, place.task_id, "begin")
    return (previous.name,)


def _snapshots_to_finish(place: RoleInTask, role_change: RoleChange) -> tuple[str, ...]:
    """Return the role itself, and for one that never began the previous one too; nothing if it is done already.

    Raises:
        TaskstateError: the role cannot be done yet.
    """
    role, previous = place.role, place.previous
    if role.open_findings:
        problem = f"and has {counted(len(role.open_findings), 'open finding')}: {role.open_findings[0]}"
        unblock = f"taskstate role unblock {place.task_id} {place.name} --finding {role.open_findings[0].number}"
        help_ = f"when it is fixed: `{unblock}`"
        raise refusal(place, problem, help_, code="findings-open")
    if role.status == BLOCKED:
        raise refusal(place, "though by no finding", roles.next_command(place.role, place.task_id), code="role-status")
    if role.status == DONE and not role_change.adds:
        return ()
    if role.status == DONE and any(each.status != PENDING for each in place.later):
        raise refusal(
            place, "and a later role has begun", roles.next_command(place.role, place.task_id), code="role-status"
        )
    if previous and previous.status != DONE:
        raise roles.too_early(place.blocks, place.name, place.names, place.task_id, "be done")
    return (*(_snapshots_to_begin(place) if role.status == PENDING else ()), place.name)


def snapshots_needed_to_block(place: RoleInTask) -> tuple[str, ...]:
    """Return the roles whose snapshots must match before a role is blocked: the previous one, if it has not begun.

    Raises:
        TaskstateError: the rules do not allow the change.
    """
    if place.role.status == DONE:
        raise refusal(
            place, "so nothing can block it", roles.next_command(place.role, place.task_id), code="role-status"
        )
    return _snapshots_to_begin(place) if place.role.status == PENDING else ()


def require_checks_passed(place: RoleInTask, results: Mapping[str, CheckResult], waived: Container[str] = ()) -> None:
    """Refuse a role whose recorded checks fail, or are worse than the baseline where there is one.

    Raises:
        TaskstateError: code "regression", which names each check.
    """
    worse = [f"{name}: {detail}" for name, detail in failing_checks(place.blocks, results) if name not in waived]
    if worse:
        first = first_of(worse, _NAMED_CHECKS, separator="; ", last="; and ")
        advice = f"fix it, then `taskstate qa record {place.task_id} --role {place.name} --from LOG`"
        raise refusal(place, f"and its checks do not pass: {first}", advice, code="regression")


def failing_checks(blocks: ToolBlocks, results: Mapping[str, CheckResult]) -> tuple[tuple[str, str], ...]:
    """Return the checks among results that became worse than the baseline, each with what became worse.

    Without a baseline every check that fails is one; where nothing was recorded, there is none.
    """
    if not results:
        return ()
    if not blocks.baseline.results:
        return tuple((name, f"fails ({result.text})") for name, result in results.items() if not result.ok)
    found = regressions(blocks.baseline.results, results, is_late=blocks.baseline.is_late)
    return tuple((each.name, each.detail) for each in found)


def waived_checks(blocks: ToolBlocks, role: Role) -> frozenset[str]:
    """Return the checks of a role that were waived when it was done: those that such events since then list."""
    entries = (each.entry for each in blocks.audit.events if each.event == WAIVED and each.role in {None, role.name})
    lists = (
        each.get("checks")
        for each in entries
        if isinstance(each, dict) and str(each.get("at")) >= (role.completed_at or "")
    )
    return frozenset(str(name) for listed in lists if isinstance(listed, list) for name in listed)


def refusal(place: RoleInTask, consequence: str, advice: str, *, code: ErrorCode) -> TaskstateError:
    """Return the error that names the role's status, what follows from it, and what to do instead."""
    return TaskstateError(f"task {place.task_id}: {place.role.words}, {consequence}", help=advice, code=code)


def start_notes(place: RoleInTask, status: str) -> tuple[str, ...]:
    """Return notes for a role that begins while its task is not in progress, or that has findings from before."""
    if status in {PENDING, place.role.status} or place.role.status != PENDING:
        return ()
    task_status, finding_count = place.state.status, len(place.role.open_findings)
    notes = []
    if task_status not in {CREATED, IN_PROGRESS}:  # a created one begins
        notes.append(f"the task itself is {task_status or 'without a status'}")
    if finding_count and status != BLOCKED:
        notes.append(f"{place.name} has {counted(finding_count, 'open finding')} from before")
    return tuple(notes)


# Findings


def clean_finding(text: str, what: str = "the finding") -> str:
    """Return a finding, or its answer, as one line of limited length.

    Raises:
        TaskstateError: code "too-long", or as `escaping.one_line`.
    """
    line = escaping.one_line(text, what=what)
    if len(line) > LONGEST_FINDING:
        message = f"{what} has {len(line)} characters, and {LONGEST_FINDING} are the most"
        raise TaskstateError(
            message, help="say what is wrong and where; the rest belongs into a session", code="too-long"
        )
    return line


def finding_named(role: Role, named: str, task_id: str) -> Finding:
    """Return a finding of a role, given by its text or by its number in the task.

    Raises:
        TaskstateError: code "not-found".
    """
    line, findings = escaping.one_line(named, what="the finding"), role.findings
    for finding in (*(each for each in findings if each.text == line), *findings):
        if line in {finding.text, str(finding.number)}:
            return finding
    near = closest(line, [each.text for each in findings], cutoff=0.0)
    hint = next((f"did you mean {each.number}, {near!r}?" for each in findings if each.text == near), "it has none")
    raise TaskstateError(f"task {task_id}: {role.name} has no finding {line!r}", help=hint, code="not-found")

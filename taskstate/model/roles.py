"""The roles of a task: their order, where each one stands, and which of them waits for a drift to be resolved.

Pure. What a file says of a role is read loosely, since a hand may have written it; its schema is checked by the linter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from collections.abc import Mapping

PENDING, IN_PROGRESS, DONE, BLOCKED = "pending", "in_progress", "done", "blocked"
STATUSES = (PENDING, IN_PROGRESS, DONE, BLOCKED)
OBJECT_ID = "[0-9a-f]{40}([0-9a-f]{24})?"


class Role(NamedTuple):
    """Where one role stands: its findings are what blocks it, its budget counts the failed checks of its snapshot."""

    name: str
    status: str
    completed_at: str | None
    session_id: str | None
    findings: tuple[str, ...]
    budget: int
    snapshot: Mapping[str, Any] | None

    @property
    def words(self) -> str:
        """The role and its status, as a sentence has them."""
        return f"{self.name} is {self.status.replace('_', ' ')}"


def pipeline(values: Mapping[str, Any], names: tuple[str, ...]) -> tuple[Role, ...]:
    """Return where each role stands: the configured ones in their order, behind them others that the file names."""
    coordination = values.get("coordination")
    told = coordination if isinstance(coordination, dict) else {}
    return tuple(_role(values, name) for name in (*names, *(name for name in told if _is_other(name, names))))


def _is_other(name: str, names: tuple[str, ...]) -> bool:
    return name not in names and not name.startswith("x-")


def _role(values: Mapping[str, Any], name: str) -> Role:
    told = role_of(values, name)
    status, budget, findings = told.get("status"), told.get("drift_budget"), told.get("blocking_findings")
    return Role(
        name=name,
        status=status if status in STATUSES else PENDING,
        completed_at=_text(told.get("completed_at")),
        session_id=_text(told.get("session_id")),
        findings=tuple(map(str, findings)) if isinstance(findings, list) else (),
        budget=budget if isinstance(budget, int) else 0,
        snapshot=snapshot_of(values, name),
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def has_begun(values: Mapping[str, Any]) -> bool:
    """Return whether coordination has begun: some role is no longer pending."""
    return any(role.status != PENDING for role in pipeline(values, ()))


def require_role(role: str, roles: tuple[str, ...]) -> str:
    """Return `role`, which must be one of the configured ones.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    if role in roles:
        return role
    from difflib import get_close_matches

    near = get_close_matches(role, roles, n=1)
    known = f"did you mean {near[0]}?" if near else f"the roles are {', '.join(roles)}"
    raise TaskstateError(f"there is no role {role!r}", help=known, code="usage")


def before(role: str, roles: tuple[str, ...]) -> str | None:
    """Return the role whose work `role` continues, or None for the first one."""
    at = roles.index(role)
    return roles[at - 1] if at else None


def role_of(values: Mapping[str, Any], role: str) -> Mapping[str, Any]:
    """Return what a front matter (`stamp.front_matter_values`) says of a role; a role never mentioned is pending."""
    coordination = values.get("coordination")
    told = coordination.get(role) if isinstance(coordination, dict) else None
    return told if isinstance(told, dict) else {"status": PENDING}


def snapshot_of(values: Mapping[str, Any], role: str) -> Mapping[str, Any] | None:
    """Return the snapshot that a role left, or None."""
    delta = values.get("delta")
    snapshots = delta.get("snapshots") if isinstance(delta, dict) else None
    told = snapshots.get(role) if isinstance(snapshots, dict) else None
    return told if isinstance(told, dict) else None


def require_ids(snapshot: Mapping[str, Any], what: str) -> None:
    """Refuse a snapshot whose trees are no ids of git objects: git would take such a text for something else.

    Raises:
        TaskstateError: code "bad-snapshot".
    """
    import re

    for key in ("tree", "index_tree"):
        told = snapshot.get(key)
        if told is not None and not (isinstance(told, str) and re.fullmatch(OBJECT_ID, told)):
            help_ = "somebody edited the state file: take its last good version, or the snapshot anew"
            raise TaskstateError(f"{what}: `{key}` is no id of a git object", help=help_, code="bad-snapshot")


def unresolved(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the roles whose drift budget is above 0: their snapshots failed, and nobody has resolved that."""
    coordination = values.get("coordination")
    told = coordination if isinstance(coordination, dict) else {}
    budgets = {name: role.get("drift_budget") for name, role in told.items() if isinstance(role, dict)}
    return tuple(name for name, budget in budgets.items() if isinstance(budget, int) and budget > 0)


def require_settled(values: Mapping[str, Any], task_id: str) -> None:
    """Refuse to go on with roles, snapshots and completion while a drift is unresolved.

    Raises:
        TaskstateError: code "drift-unresolved".
    """
    open_ = unresolved(values)
    if open_:
        what = f"task {task_id}: the working tree is not what {' and '.join(open_)} left, and nobody has resolved that"
        help_ = (
            f"see `taskstate snapshot verify {task_id} --role {open_[0]}`, then accept what is there with "
            f'`taskstate snapshot resolve {task_id} --note "WHY"`'
        )
        raise TaskstateError(what, help=help_, code="drift-unresolved")

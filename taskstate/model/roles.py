"""The roles of a task: their order, where each one stands, and which of them waits for a drift to be resolved. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model.statuses import PENDING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import Role, Snapshot, ToolBlocks

OBJECT_ID = "[0-9a-f]{40}([0-9a-f]{24})?"
_KEYS = ("status", "completed_at", "qa", "qa_log_path", "qa_log_sha256", "session_id", "blocking_findings")


def pipeline(blocks: ToolBlocks, names: tuple[str, ...]) -> tuple[Role, ...]:
    """Return where each role stands: the configured ones in their order, behind them others that the file names."""
    others = (name for name in blocks.roles if name not in names and not name.startswith("x-"))
    return tuple(blocks.role(name) for name in (*names, *others))


def has_begun(blocks: ToolBlocks) -> bool:
    """Return whether coordination has begun: some role is no longer pending."""
    return any(role.status != PENDING for role in pipeline(blocks, ()))


def require_role(role: str, roles: tuple[str, ...]) -> str:
    """Return `role`, which must be one of the configured ones.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    if role in roles:
        return role
    near = closest(role, roles)
    known = f"did you mean {near}?" if near else f"the roles are {', '.join(roles)}"
    raise TaskstateError(f"there is no role {role!r}", help=known, code="usage")


def previous_role(role: str, roles: tuple[str, ...]) -> str | None:
    """Return the role whose work `role` continues, or None for the first one."""
    at = roles.index(role)
    return roles[at - 1] if at else None


def require_ids(snapshot: Snapshot, what: str) -> None:
    """Refuse a snapshot whose trees are no ids of git objects: git would take such a text for something else.

    Raises:
        TaskstateError: code "bad-snapshot".
    """
    import re

    for key in ("tree", "index_tree"):
        told = snapshot.values.get(key)
        if told is not None and not (isinstance(told, str) and re.fullmatch(OBJECT_ID, told)):
            help_ = "somebody edited the state file: take its last good version, or the snapshot anew"
            raise TaskstateError(f"{what}: `{key}` is no id of a git object", help=help_, code="bad-snapshot")


def unresolved(blocks: ToolBlocks) -> tuple[str, ...]:
    """Return the roles whose drift budget is above 0: their snapshots failed, and nobody has resolved that."""
    return tuple(role.name for role in blocks.roles.values() if role.budget > 0)


def require_no_drift(blocks: ToolBlocks, task_id: str) -> None:
    """Refuse to go on with roles, snapshots and completion while a drift is unresolved.

    Raises:
        TaskstateError: code "drift-unresolved".
    """
    open_ = unresolved(blocks)
    if open_:
        what = f"task {task_id}: the working tree is not what {' and '.join(open_)} left, and nobody has resolved that"
        help_ = (
            f"see `taskstate snapshot verify {task_id} --role {open_[0]}`, then accept what is there with "
            f'`taskstate snapshot resolve {task_id} --note "WHY"`'
        )
        raise TaskstateError(what, help=help_, code="drift-unresolved")


# What is written


def with_role_values(blocks: ToolBlocks, changed: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return the block `coordination` with new values for some keys of some roles, everything where it stands."""
    held = blocks.values.get("coordination")
    told = {name: {**blocks.role(name).values, **keys} for name, keys in changed.items()}
    return {**(held if isinstance(held, dict) else {}), **told}


def with_roles_in_order(
    held: Mapping[str, object], changed: Mapping[str, Mapping[str, object]], names: tuple[str, ...]
) -> dict[str, object]:
    """Return the block `coordination` with some roles replaced, and the roles in the configured order."""
    after = {**held, **{name: _sorted(told, _KEYS) for name, told in changed.items()}}
    return _sorted(after, names)


def _sorted(told: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    """Return a map with these of its keys first."""
    return {key: told[key] for key in (*keys, *told) if key in told}

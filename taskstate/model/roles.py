"""The roles of a task: their order, the status of each, and which of them has an unresolved drift. Pure."""

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
    """Return the roles: the configured ones in their order, then others that the file names."""
    others = (name for name in blocks.roles if name not in names and not name.startswith("x-"))
    return tuple(blocks.role(name) for name in (*names, *others))


def has_begun(blocks: ToolBlocks) -> bool:
    """Return whether coordination has begun: some role is not pending any more."""
    return any(role.status != PENDING for role in pipeline(blocks, ()))


def require_role(role: str, roles: tuple[str, ...]) -> str:
    """Return `role`, which must be one of the configured ones.

    Raises:
        TaskstateError: code "usage": there is no such role.
    """
    if role in roles:
        return role
    suggestion = closest(role, roles)
    advice = f"did you mean {suggestion}?" if suggestion else f"the roles are {', '.join(roles)}"
    raise TaskstateError(f"there is no role {role!r}", help=advice, code="usage")


def previous_role(role: str, roles: tuple[str, ...]) -> str | None:
    """Return the role before `role` in the configured order, or None for the first one."""
    at = roles.index(role)
    return roles[at - 1] if at else None


def require_ids(snapshot: Snapshot, what: str) -> None:
    """Refuse a snapshot whose trees are not ids of git objects: git would read such a text as a name or an option.

    Raises:
        TaskstateError: code "bad-snapshot".
    """
    import re

    for key in ("tree", "index_tree"):
        value = snapshot.values.get(key)
        if value is not None and not (isinstance(value, str) and re.fullmatch(OBJECT_ID, value)):
            help_ = "somebody edited the state file: take its last good version, or the snapshot anew"
            raise TaskstateError(f"{what}: `{key}` is no id of a git object", help=help_, code="bad-snapshot")


def unresolved(blocks: ToolBlocks) -> tuple[str, ...]:
    """Return the roles whose drift budget is above 0: their snapshots failed verification, and that is not resolved."""
    return tuple(role.name for role in blocks.roles.values() if role.budget > 0)


def require_no_drift(blocks: ToolBlocks, task_id: str) -> None:
    """Refuse commands on roles, snapshots and completion while a drift is unresolved.

    Raises:
        TaskstateError: code "drift-unresolved".
    """
    drifted = unresolved(blocks)
    if drifted:
        what = (
            f"task {task_id}: the working tree is not what {' and '.join(drifted)} left, and nobody has resolved that"
        )
        help_ = (
            f"see `taskstate snapshot verify {task_id} --role {drifted[0]}`, then accept what is there with "
            f'`taskstate snapshot resolve {task_id} --note "WHY"`'
        )
        raise TaskstateError(what, help=help_, code="drift-unresolved")


# Writing the block `coordination`


def with_role_values(blocks: ToolBlocks, changed: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """Return the block `coordination` with new values for some keys of some roles, in the order of the file."""
    block = blocks.values.get("coordination")
    roles = {name: {**blocks.role(name).values, **keys} for name, keys in changed.items()}
    return {**(block if isinstance(block, dict) else {}), **roles}


def with_roles_in_order(
    block: Mapping[str, object], changed: Mapping[str, Mapping[str, object]], order: tuple[str, ...]
) -> dict[str, object]:
    """Return the block `coordination` with some roles replaced, and all roles in the configured order."""
    after = {**block, **{name: _sorted(values, _KEYS) for name, values in changed.items()}}
    return _sorted(after, order)


def _sorted(mapping: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    """Return a mapping with the given keys first, as far as it has them."""
    return {key: mapping[key] for key in (*keys, *mapping) if key in mapping}

"""The roles of a task: their order, the status of each, and which of them has an unresolved drift. Pure."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import closest
from taskstate.model.loose_values import OBJECT_ID
from taskstate.model.role_findings import KEY, OLDER_KEY, number_in_event
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS, PENDING
from taskstate.model.write_metadata import blocks_of, set_front_matter
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.delta_block import Snapshot
    from taskstate.model.role_findings import Finding
    from taskstate.model.tool_blocks import Role, ToolBlocks
    from taskstate.syntax.document import Document

_KEYS = ("status", "completed_at", "qa", "qa_log_path", "qa_log_sha256", "session_id", KEY, "drift_budget")
_EMPTY: tuple[object, ...] = (None, 0, [], {})  # values that say no more than an absent key


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


def snapshot_needed_to_take(blocks: ToolBlocks, role: str, names: tuple[str, ...], task_id: str) -> str | None:
    """Return the role whose snapshot must match the working tree before `role` takes its own, or None.

    A role that has not begun would otherwise step past the comparison with what the previous one left.

    Raises:
        TaskstateError: code "role-status": it is done, so its snapshot stays; code "role-order": the previous role is
            not done.
    """
    own, previous_name = blocks.role(role), previous_role(role, names)
    if own.status == DONE:
        advice = f'`taskstate role reopen {task_id} {role} --note "WHY"` reopens it'
        raise TaskstateError(
            f"task {task_id}: {own.words}, so its snapshot stays as it is", help=advice, code="role-status"
        )
    if own.status != PENDING or previous_name is None or not has_begun(blocks):
        return None
    if blocks.role(previous_name).status != DONE:
        raise too_early(blocks, role, names, task_id, "take its snapshot")
    return previous_name


def too_early(blocks: ToolBlocks, role: str, names: tuple[str, ...], task_id: str, step: str) -> TaskstateError:
    """Return the error for a step of a role while one before it is not done: it names the first such, and its command.

    That is the one which can go on: the later ones wait as this one does.
    """
    waits_for = next(each for each in map(blocks.role, names) if each.status != DONE)
    message = f"task {task_id}: {role} cannot {step} while {waits_for.words}"
    return TaskstateError(message, help=f"first {next_command(waits_for, task_id)}", code="role-order")


def next_command(role: Role, task_id: str) -> str:
    """Return the command that fits a role's status, as advice."""
    if role.status == IN_PROGRESS and role.snapshot is None:
        return f"`taskstate snapshot take {task_id} --role {role.name}` records its work, before it can be done"
    which = f"--finding {role.open_findings[0].number}" if role.open_findings else "--all"
    commands = {
        PENDING: f"`taskstate role set {task_id} {role.name} --status in_progress` begins it",
        IN_PROGRESS: f"`taskstate role set {task_id} {role.name} --status done` ends it",
        BLOCKED: f"`taskstate role unblock {task_id} {role.name} {which}` withdraws a finding",
        DONE: f'`taskstate role reopen {task_id} {role.name} --note "WHY"` reopens it',
    }
    return commands[role.status]


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
            help_ = "somebody edited the state file: take its last good version, or the snapshot again"
            raise TaskstateError(f"{what}: `{key}` is not an id of a git object", help=help_, code="bad-snapshot")


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
            f'accept what is there with `taskstate snapshot resolve {task_id} --note "WHY"`; '
            f"`taskstate snapshot verify {task_id} --role {drifted[0]}` shows what differs"
        )
        raise TaskstateError(what, help=help_, code="drift-unresolved")


# Writing the block `coordination`


def with_role_values(
    blocks: ToolBlocks,
    changed: Mapping[str, Mapping[str, object]],
    order: tuple[str, ...] = (),
    *,
    findings_of: Mapping[str, tuple[Finding, ...]] | None = None,
) -> dict[str, object]:
    """Return the block `coordination` with new values for some keys of some roles, each role on one line.

    `findings_of` are the new findings of some roles. A value that is empty is left out, and so are findings without
    numbers, which have them now, the path of a log, which its hash tells, and results that are those of the baseline
    from the same log. The roles in `order` come first.
    """
    block = blocks.values.get("coordination")
    before = block if isinstance(block, dict) else {}
    results = blocks.baseline.values.get("results")
    findings = {name: role.all_findings for name, role in blocks.roles.items()} | dict(findings_of or {})
    highest = max((highest_finding(blocks), *(each.number for listed in findings.values() for each in listed)))
    after = dict(before)
    for name in dict.fromkeys((*before, *changed, *(findings_of or ()))):
        if not name.startswith("x-") and (name not in before or isinstance(before[name], dict) or name in changed):
            values = {**blocks.role(name).values, **changed.get(name, {}), "qa_log_path": None}
            if values.get("qa_log_sha256") == blocks.baseline.log_sha256 and values.get("qa") == results:
                values["qa"] = None
            listed = [each.values() for each in findings.get(name, ()) if not each.is_cleared or each.number >= highest]
            after[name] = _without_empty({**values, KEY: listed})
    return _sorted(after, order)


def with_own_results(document: Document) -> Document:
    """Return the task with the results of each role written out, since its baseline is about to be another one."""
    blocks, block = blocks_of(document), blocks_of(document).values.get("coordination")
    common = {name: each.qa for name, each in blocks.roles.items() if each.qa and "qa" not in each.values}
    if not isinstance(block, dict) or not common:
        return document
    after = dict(block)
    for name, results in common.items():
        qa = {key: each._asdict() for key, each in results.items()}
        after[name] = _sorted({**blocks.role(name).values, "qa": qa}, _KEYS)
    return document.with_text(apply(document.text, set_front_matter(document, "coordination", after)))


def highest_finding(blocks: ToolBlocks) -> int:
    """Return the highest number that a finding of the task ever had; 0 where there was none."""
    numbers = (each.number for role in blocks.roles.values() for each in role.all_findings)
    return max((*numbers, *(number_in_event(each.entry) for each in blocks.audit.events)), default=0)


def _without_empty(values: Mapping[str, object]) -> dict[str, object]:
    """Return a role's values as they are written; a budget of 0 counts as empty."""
    return {
        key: value
        for key, value in _sorted(values, _KEYS).items()
        if key == "status" or key.startswith("x-") or (value not in _EMPTY and key != OLDER_KEY)
    }


def _sorted(mapping: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, object]:
    """Return a mapping with the given keys first, as far as it has them."""
    return {key: mapping[key] for key in (*keys, *mapping) if key in mapping}

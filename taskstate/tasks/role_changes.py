"""Changes the roles of a task: begin, block, unblock, finish and reopen them.

Roles hand the working tree on without a commit, so a role begins on the tree that the previous one left, and is done
with a snapshot that matches the tree. The rules are checked before the tree is compared, which takes long, and again
when the file is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.model import roles
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS, PENDING
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp
from taskstate.storage import files
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.yaml_edit import remove_key
from taskstate.tasks import role_rules
from taskstate.verification.qa import log_parser
from taskstate.verification.qa import record as qa_record
from taskstate.verification.qa import results as qa_results
from taskstate.verification.snapshots import verify as snapshot_verify
from taskstate.workspace import artifacts, preconditions, secret_check
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import add_event
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.model.tool_blocks import Role
    from taskstate.tasks.role_rules import RoleChange, Turn
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


def set_role(workspace: Workspace, task_id: str, role: str, role_change: RoleChange, request: Request) -> Outcome:
    """Set the status of a role, after verifying the snapshot that it depends on: the previous role's, or its own.

    Raises:
        TaskstateError: code "role-order", "role-status" or "findings-open": the rules do not allow it; code
            "drift-unresolved", "no-snapshot" or "drift": the working tree differs from the snapshot.
    """
    session_id = role_change.session_id
    if session_id is not None:
        session_id = escaping.one_line(session_id, what="the session's id")
    now, checked_turn = timestamp(request.metadata.now), _read_turn(workspace, task_id, role, request)
    snapshot_role = role_rules.snapshot_needed_to_set(checked_turn, role_change)
    checked = secret_check.check_text(
        workspace, log_parser.text_chunks(role_change.log or b""), request, name="the log"
    )
    _verify(workspace, checked_turn, snapshot_role, request)

    def job(turn: Turn) -> Change:
        _require_same(turn, checked_turn, snapshot_role, role_rules.snapshot_needed_to_set(turn, role_change))
        new = {**turn.role.values, "status": role_change.status}
        if role_change.status != turn.role.status:
            new |= {"completed_at": now} if role_change.status == DONE else _not_completed(turn)
        if session_id is not None:
            new["session_id"] = session_id
        log_artifacts: tuple[artifacts.Artifact, ...] = ()
        if role_change.log is not None:
            log_artifacts = (qa_record.log_artifact(turn.task_id, turn.name, role_change.log),)
            new |= _with_log(workspace, turn, role_change.log, log_artifacts[0].path)
        text = _with_roles(turn, {turn.name: new})
        if text == turn.state.document.text:
            return Change(text=text, artifacts=log_artifacts)
        text, archive_plan = checked.with_event(workspace, text)
        old_log = turn.role.qa_log_path
        replaced = (old_log,) if log_artifacts and old_log is not None else ()
        notes = role_rules.start_notes(turn, role_change.status)
        return Change(text=text, before=archive_plan, notes=notes, artifacts=log_artifacts, obsolete_artifacts=replaced)

    outcome = _change(workspace, task_id, role, job, request)
    return outcome._replace(warnings=(*checked.warnings, *outcome.warnings))


def block(workspace: Workspace, task_id: str, role: str, finding: str, request: Request) -> Outcome:
    """Record a finding that blocks a role; a role that has not begun begins with it.

    Raises:
        TaskstateError: as `set_role`; code "too-long": the finding is longer than a line or two.
    """
    text = role_rules.clean_finding(finding)
    checked_turn = _read_turn(workspace, task_id, role, request)
    snapshot_role = role_rules.snapshot_needed_to_block(checked_turn)
    _verify(workspace, checked_turn, snapshot_role, request)

    def job(turn: Turn) -> Change:
        _require_same(turn, checked_turn, snapshot_role, role_rules.snapshot_needed_to_block(turn))
        findings = [*turn.role.findings, *([text] if text not in turn.role.findings else ())]
        new = {**turn.role.values, "status": BLOCKED, "blocking_findings": findings}
        return Change(text=_with_roles(turn, {turn.name: new}), notes=role_rules.start_notes(turn, BLOCKED))

    return _change(workspace, task_id, role, job, request)


def unblock(workspace: Workspace, task_id: str, role: str, finding: str | None, request: Request) -> Outcome:
    """Remove a finding, given by its text or number, or all if None; without findings the role is no longer blocked.

    Raises:
        TaskstateError: code "not-found": there is no such finding; code "drift-unresolved".
    """

    def job(turn: Turn) -> Change:
        findings = turn.role.findings
        index = None if finding is None else role_rules.finding_index(turn, finding)
        remaining = [each for number, each in enumerate(findings) if index is not None and number != index]
        status = turn.role.status
        if not remaining and status == BLOCKED:
            status = IN_PROGRESS if turn.previous is None or turn.previous.status == DONE else PENDING
        if not findings and status == turn.role.status:
            return Change(text=turn.state.document.text)
        new = {**turn.role.values, "status": status, "blocking_findings": remaining}
        notes = (
            (f"{turn.name} is still blocked, by {role_rules.counted(len(remaining), 'finding')}",) if remaining else ()
        )
        return Change(text=_with_roles(turn, {turn.name: new}), notes=notes)

    return _change(workspace, task_id, role, job, request)


def reopen(workspace: Workspace, task_id: str, role: str, note: str, request: Request) -> Outcome:
    """Reopen a role: later roles become pending again and lose their snapshots, but keep their findings.

    Raises:
        TaskstateError: code "role-status": there is nothing to reopen; code "drift-unresolved".
    """
    reason = escaping.one_line(note, what="the note")
    actor, at = request.metadata.actor, timestamp(request.metadata.now)

    def job(turn: Turn) -> Change:
        later = tuple(each for each in turn.later if each.status != PENDING or each.snapshot)
        if turn.role.status != DONE and not later:
            raise role_rules.refusal(
                turn, "so there is nothing to take back", role_rules.next_command(turn), code="role-status"
            )
        status = BLOCKED if turn.role.findings else IN_PROGRESS
        changed = {turn.name: {**turn.role.values, "status": status, **_not_completed(turn)}}
        changed |= {each.name: _pending_again(each) for each in later}
        text = _without_snapshots(_with_roles(turn, changed), tuple(each.name for each in later))
        event = {"at": at, "actor": actor, "event": "role-reopened", "note": reason, "role": role}
        text, before = add_event(workspace, text, event)
        notes = tuple(f"{each.name} is pending again" for each in later)
        return Change(text=text, before=before, notes=notes)

    return _change(workspace, task_id, role, job, request)


def completion_gaps(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return what prevents completion in roles and working tree, one line each; empty where no role has begun.

    The tree has to match the last snapshot, committed or not.

    Raises:
        TaskstateError: the tree cannot be read.
    """
    blocks = blocks_of(loaded.document)
    if not roles.has_begun(blocks):
        return ()
    names = workspace.config.roles
    pipeline = roles.pipeline(blocks, names)
    gaps = [f"{role.words}, not done" for role in pipeline if role.name in names and role.status != DONE]
    gaps += [f"{role.name} has an open finding: {finding}" for role in pipeline for finding in role.findings]
    unresolved = roles.unresolved(blocks)
    if unresolved:
        return (*gaps, f"the drift since {' and '.join(unresolved)} left the tree is not resolved")
    last = snapshot_verify.newest_role(blocks.delta.snapshots, names)
    report = snapshot_verify.compare(workspace, loaded, last) if last else None
    if report and report.drift and (report.files or not snapshot_verify.committed_as_left(workspace, loaded)):
        gaps.append(report.message)
    return tuple(gaps)


# Steps of a change


def _read_turn(workspace: Workspace, task_id: str, role: str, request: Request) -> Turn:
    """Return the role's current turn, before anything is verified; refuses early what could not be written."""
    loaded = workspace.load(workspace.locate(task_id))
    preconditions.require_writable(loaded, request.expect)
    preconditions.require_whole(loaded)
    return role_rules.turn_of(loaded.state, role, workspace.config.roles)


def _verify(workspace: Workspace, turn: Turn, snapshot_role: str | None, request: Request) -> None:
    """Refuse where the working tree differs from a role's snapshot; this counts in its drift budget."""
    if snapshot_role:
        snapshot_verify.require_match(workspace, turn.task_id, snapshot_role, request)


def _require_same(turn: Turn, checked_turn: Turn, checked_role: str | None, snapshot_role: str | None) -> None:
    """Refuse where roles or snapshots changed while the tree was compared."""
    snapshots = [each.blocks.delta.snapshots.get(snapshot_role or "") for each in (turn, checked_turn)]
    if checked_role != snapshot_role or snapshots[0] != snapshots[1]:
        message = f"task {turn.task_id}: somebody changed the roles while the working tree was compared"
        raise TaskstateError(message, help="run this again", code="stale")


def _change(workspace: Workspace, task_id: str, role: str, job: Callable[[Turn], Change], request: Request) -> Outcome:
    def on_turn(loaded: Loaded) -> Change:
        return job(role_rules.turn_of(loaded.state, role, workspace.config.roles))

    return change(workspace, task_id, on_turn, request)


# What is written


def _not_completed(turn: Turn) -> dict[str, object]:
    return {"completed_at": None} if "completed_at" in turn.role.values else {}


def _pending_again(role: Role) -> dict[str, object]:
    """Return the block of a role that is pending again: its findings and the user's own `x-` keys stay."""
    values = {key: value for key, value in role.values.items() if key == "blocking_findings" or key.startswith("x-")}
    return {"status": PENDING, **values}


def _with_log(workspace: Workspace, turn: Turn, log: bytes, path: str) -> dict[str, object]:
    """Return the log of a role's checks as recorded, with the results that can be read from it.

    Raises:
        TaskstateError: code "task-file-changed": the task changed since it was sealed.
    """
    qa_record.require_task_file(workspace, turn.blocks.context, turn.task_id)
    recorded: dict[str, object] = {"qa_log_path": path, "qa_log_sha256": files.digest(log)}
    results = log_parser.read_log(log, workspace.config.qa)
    if results or "qa" in turn.role.values:
        recorded["qa"] = qa_results.front_matter_results(results)
    return recorded


def _with_roles(turn: Turn, changed: Mapping[str, Mapping[str, object]]) -> str:
    """Return the task's text with some of its roles changed; roles are written in the configured order."""
    document = turn.state.document
    before = turn.blocks.values.get("coordination", {})
    if not isinstance(before, dict):
        message = f"task {turn.task_id}: `coordination` is no map of roles"
        raise TaskstateError(message, help="mend it; `taskstate lint` says how", code="unreadable")
    after = roles.with_roles_in_order(before, changed, turn.names)
    return apply(document.text, set_front_matter(document, "coordination", after))


def _without_snapshots(text: str, names: tuple[str, ...]) -> str:
    """Return a state file's text without the snapshots of these roles.

    Their artifacts are deleted with the next snapshot.
    """
    for name in names:
        document = parse(text)
        node = document.front_matter.node
        snapshots = node.get("delta", "snapshots") if node else None
        if snapshots and snapshots.entry(name):
            text = apply(text, remove_key(text, snapshots, name))
    return text

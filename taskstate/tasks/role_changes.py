"""Coordination: a task's roles begin, are blocked, are done and are taken back to work, one after the other.

The working tree is handed on without a commit, so a role begins on the tree that the one before it left, and is done
with a snapshot that the tree matches. What a status needs is checked before the tree is looked at, and once more when
the file is read to be written.
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
from taskstate.tasks.role_rules import (
    clean_finding,
    counted,
    finding_index,
    next_command,
    refusal,
    roles_changed_error,
    snapshot_needed_to_block,
    snapshot_needed_to_set,
    start_notes,
    turn_of,
)
from taskstate.verification.qa import log_parser
from taskstate.verification.qa import record as qa_record
from taskstate.verification.qa import results as qa_results
from taskstate.verification.snapshots import verify as snapshot_verify
from taskstate.workspace import artifacts, preconditions, secret_check
from taskstate.workspace.change import Change
from taskstate.workspace.event_log import remember
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from taskstate.model.tool_blocks import Role
    from taskstate.tasks.role_rules import RoleChange, Turn
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace


def set_role(workspace: Workspace, task_id: str, role: str, setting: RoleChange, request: Request) -> Outcome:
    """Give a role another status; what it then rests on is verified: the snapshot of the one before, or its own.

    Raises:
        TaskstateError: code "role-order", "role-status" or "findings-open": it is not the role's turn; code
            "drift-unresolved", "no-snapshot" or "drift": the working tree is not what a role left.
    """
    if setting.session_id is not None:
        setting = setting._replace(session_id=escaping.one_line(setting.session_id, what="the session's id"))
    now, seen = timestamp(request.stamp.now), _looked(workspace, task_id, role, request)
    rests_on = snapshot_needed_to_set(seen, setting)
    checked = secret_check.check(workspace, log_parser.text_chunks(setting.log or b""), request, what="the log")
    _verify(workspace, seen, rests_on, request)

    def job(turn: Turn) -> Change:
        _require_same(turn, seen, rests_on, snapshot_needed_to_set(turn, setting))
        new = {**turn.role.values, "status": setting.status}
        if setting.status != turn.role.status:
            new |= {"completed_at": now} if setting.status == DONE else _not_completed(turn)
        if setting.session_id is not None:
            new["session_id"] = setting.session_id
        kept: tuple[artifacts.Artifact, ...] = ()
        if setting.log is not None:
            kept = (qa_record.log_artifact(turn.task_id, turn.name, setting.log),)
            new |= _with_log(workspace, turn, setting.log, kept[0].path)
        text = _with_role(turn, new)
        if text == turn.state.document.text:
            return Change(text=text, kept=kept)
        text, rolled = checked.remembered(workspace, text)
        before = turn.role.qa_log_path
        gone = (before,) if kept and before is not None else ()
        return Change(text=text, before=rolled, notes=start_notes(turn, setting.status), kept=kept, gone=gone)

    outcome = _change(workspace, task_id, role, job, request)
    return outcome._replace(warnings=(*checked.warnings, *outcome.warnings))


def block(workspace: Workspace, task_id: str, role: str, finding: str, request: Request) -> Outcome:
    """Record a finding that blocks a role; one that has not begun begins with it.

    Raises:
        TaskstateError: as `set_role`; code "too-long": the finding is no finding but a report.
    """
    said = clean_finding(finding)
    seen = _looked(workspace, task_id, role, request)
    rests_on = snapshot_needed_to_block(seen)
    _verify(workspace, seen, rests_on, request)

    def job(turn: Turn) -> Change:
        _require_same(turn, seen, rests_on, snapshot_needed_to_block(turn))
        findings = [*turn.role.findings, *([said] if said not in turn.role.findings else ())]
        new = {**turn.role.values, "status": BLOCKED, "blocking_findings": findings}
        return Change(text=_with_role(turn, new), notes=start_notes(turn, BLOCKED))

    return _change(workspace, task_id, role, job, request)


def unblock(workspace: Workspace, task_id: str, role: str, finding: str | None, request: Request) -> Outcome:
    """Take back a finding, named by its text or its number; None stands for all. The last one frees the role.

    Raises:
        TaskstateError: code "not-found": there is no such finding; code "drift-unresolved".
    """

    def job(turn: Turn) -> Change:
        found = turn.role.findings
        gone = None if finding is None else finding_index(turn, finding)
        left = [each for number, each in enumerate(found) if gone is not None and number != gone]
        status = turn.role.status
        if not left and status == BLOCKED:
            status = IN_PROGRESS if turn.previous is None or turn.previous.status == DONE else PENDING
        if not found and status == turn.role.status:
            return Change(text=turn.state.document.text)
        new = {**turn.role.values, "status": status, "blocking_findings": left}
        more = (f"{turn.name} is still blocked, by {counted(len(left), 'finding')}",) if left else ()
        return Change(text=_with_role(turn, new), notes=more)

    return _change(workspace, task_id, role, job, request)


def reopen(workspace: Workspace, task_id: str, role: str, note: str, request: Request) -> Outcome:
    """Take a role back to work: the later ones are pending again and lose their snapshots, but for their findings.

    Raises:
        TaskstateError: code "role-status": there is nothing to take back; code "drift-unresolved".
    """
    said = escaping.one_line(note, what="the note")
    actor, at = request.stamp.actor, timestamp(request.stamp.now)

    def job(turn: Turn) -> Change:
        later = tuple(each for each in turn.later if each.status != PENDING or each.snapshot)
        if turn.role.status != DONE and not later:
            raise refusal(turn, "so there is nothing to take back", next_command(turn), code="role-status")
        status = BLOCKED if turn.role.findings else IN_PROGRESS
        changed = {turn.name: {**turn.role.values, "status": status, **_not_completed(turn)}}
        changed |= {each.name: _pending_again(each) for each in later}
        text = _without_snapshots(_with_roles(turn, changed), tuple(each.name for each in later))
        event = {"at": at, "actor": actor, "event": "role-reopened", "note": said, "role": role}
        text, before = remember(workspace, text, event)
        notes = tuple(f"{each.name} is pending again" for each in later)
        return Change(text=text, before=before, notes=notes)

    return _change(workspace, task_id, role, job, request)


def completion_gaps(workspace: Workspace, loaded: Loaded) -> tuple[str, ...]:
    """Return what stands in the way of completing a task as far as its roles and its working tree go.

    Nothing where no role has begun. The tree has to be as the last snapshot left it, committed or not.

    Raises:
        TaskstateError: the tree cannot be read.
    """
    blocks = blocks_of(loaded.document)
    if not roles.has_begun(blocks):
        return ()
    names = workspace.config.roles
    told = roles.pipeline(blocks, names)
    gaps = [f"{role.words}, not done" for role in told if role.name in names and role.status != DONE]
    gaps += [f"{role.name} has an open finding: {finding}" for role in told for finding in role.findings]
    unresolved = roles.unresolved(blocks)
    if unresolved:
        return (*gaps, f"the drift since {' and '.join(unresolved)} left the tree is not resolved")
    last = snapshot_verify.newest_role(blocks.delta.snapshots, names)
    verified = snapshot_verify.compare(workspace, loaded, last) if last else None
    if verified and verified.drift and (verified.files or not snapshot_verify.committed_as_left(workspace, loaded)):
        gaps.append(verified.message)
    return tuple(gaps)


# One change


def _looked(workspace: Workspace, task_id: str, role: str, request: Request) -> Turn:
    """Return the role's turn as it is before anything is verified; what could not be written is refused at once."""
    loaded = workspace.load(workspace.locate(task_id))
    preconditions.require_writable(loaded, request.expect)
    preconditions.require_whole(loaded)
    return turn_of(loaded.state, role, workspace.config.roles)


def _verify(workspace: Workspace, turn: Turn, rests_on: str | None, request: Request) -> None:
    """Refuse to go on where the working tree is not what a role left; that is counted in its drift budget."""
    if rests_on:
        snapshot_verify.require_match(workspace, turn.task_id, rests_on, request)


def _require_same(turn: Turn, seen: Turn, rested_on: str | None, rests_on: str | None) -> None:
    """Refuse where what was verified is no longer what the change rests on."""
    left = [each.blocks.delta.snapshots.get(rests_on or "") for each in (turn, seen)]
    if rested_on != rests_on or left[0] != left[1]:
        raise roles_changed_error(turn)


def _change(workspace: Workspace, task_id: str, role: str, job: Callable[[Turn], Change], request: Request) -> Outcome:
    def on_turn(loaded: Loaded) -> Change:
        return job(turn_of(loaded.state, role, workspace.config.roles))

    return change(workspace, task_id, on_turn, request)


# What is written


def _not_completed(turn: Turn) -> dict[str, object]:
    return {"completed_at": None} if "completed_at" in turn.role.values else {}


def _pending_again(role: Role) -> dict[str, object]:
    """Return a role that has not begun: of what it had, its findings stay, and keys of somebody's own."""
    kept = {key: value for key, value in role.values.items() if key == "blocking_findings" or key.startswith("x-")}
    return {"status": PENDING, **kept}


def _with_log(workspace: Workspace, turn: Turn, log: bytes, path: str) -> dict[str, object]:
    """Return what is recorded of the log of a role's own checks: the results too, where they can be read.

    Raises:
        TaskstateError: code "task-file-changed": what was checked is not what was sealed.
    """
    qa_record.require_task_file(workspace, turn.blocks.context, turn.task_id)
    told: dict[str, object] = {"qa_log_path": path, "qa_log_sha256": files.digest(log)}
    results = log_parser.read_log(log, workspace.config.qa)
    return {"qa": qa_results.front_matter_results(results), **told} if results or "qa" in turn.role.values else told


def _with_role(turn: Turn, told: Mapping[str, object]) -> str:
    return _with_roles(turn, {turn.name: told})


def _with_roles(turn: Turn, changed: Mapping[str, Mapping[str, object]]) -> str:
    """Return the task's text with some of its roles changed; the roles stand in the configured order."""
    document = turn.state.document
    before = turn.blocks.values.get("coordination", {})
    if not isinstance(before, dict):
        what = f"task {turn.task_id}: `coordination` is no map of roles"
        raise TaskstateError(what, help="mend it; `taskstate lint` says how", code="unreadable")
    after = roles.with_roles_in_order(before, changed, turn.names)
    return apply(document.text, set_front_matter(document, "coordination", after))


def _without_snapshots(text: str, names: tuple[str, ...]) -> str:
    """Return a state file's text without the snapshots of these roles; their artifacts stay until the next ones."""
    for name in names:
        document = parse(text)
        node = document.front_matter.node
        held = node.get("delta", "snapshots") if node else None
        if held and held.entry(name):
            text = apply(text, remove_key(text, held, name))
    return text

"""Changes the roles of a task: begin, block, unblock, finish and reopen them.

Roles hand the working tree on without a commit, so a role begins on the tree that the previous one left, and is done
with a snapshot that matches the tree. The rules are checked before the tree is compared, which takes long, and again
when the file is written.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import counted, first_of
from taskstate.model import roles
from taskstate.model.start_of_work import StartOfWork, start_of_work
from taskstate.model.statuses import BLOCKED, DONE, IN_PROGRESS, PENDING
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.qa import log_parser
from taskstate.qa import record as qa_record
from taskstate.qa import results as qa_results
from taskstate.roles import findings, role_rules
from taskstate.snapshots import verify as snapshot_verify
from taskstate.snapshots.base import current_tree
from taskstate.snapshots.drift import require_tree
from taskstate.snapshots.take import ACCEPTED
from taskstate.storage import files
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply
from taskstate.syntax.yaml_edit import remove_key
from taskstate.typed import TYPE_CHECKING
from taskstate.writing import preconditions, secret_check
from taskstate.writing.change import Change
from taskstate.writing.event_log import with_oldest_moved
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from taskstate.model.tool_blocks import CheckResult, Role
    from taskstate.model.write_metadata import WriteMetadata
    from taskstate.roles.role_rules import RoleChange, RoleInTask
    from taskstate.workspace import artifacts
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

REOPENED = "role-reopened"  # the event
_LISTED, _NAMED = 20, 5  # files in an event, in a note
_PENDING_AGAIN: Mapping[str, object] = {
    "status": PENDING,
    **dict.fromkeys(("completed_at", "qa", "qa_log_sha256", "session_id", "drift_budget")),
}


def set_role(workspace: Workspace, task_id: str, role: str, role_change: RoleChange, request: Request) -> Outcome:
    """Set the status of a role, after verifying the snapshots that it depends on: the previous role's, or its own.

    Raises:
        TaskstateError: code "role-order", "role-status" or "findings-open": the rules do not allow it; code
            "regression": its checks fail; code "drift-unresolved", "no-snapshot" or "drift": the working tree differs
            from the snapshot.
    """
    checked_place = _read_place(workspace, task_id, role, request)
    needed = role_rules.snapshots_needed_to_set(checked_place, role_change)
    if role_change.status == IN_PROGRESS != checked_place.role.status:
        from taskstate.context.precondition import require_current  # a turn has asked before

        require_current(workspace, workspace.load(workspace.locate(task_id)))
    checked = secret_check.check_text(
        workspace, log_parser.text_chunks(role_change.log or b""), request, name="the log"
    )
    _verify(workspace, checked_place, needed, request, role_change.log)

    def job(place: RoleInTask, loaded: Loaded) -> Change:
        _require_same(place, checked_place, needed, role_rules.snapshots_needed_to_set(place, role_change))
        planned = with_role_set(workspace, loaded, role, role_change, request)
        if planned.text == loaded.document.text:
            return planned
        text, archive_plan = checked.with_event(workspace, planned.text)
        return planned._replace(text=text, before=archive_plan)

    outcome = _change(workspace, task_id, role, job, request)
    return outcome._replace(warnings=(*checked.warnings, *outcome.warnings))


def with_role_set(workspace: Workspace, loaded: Loaded, role: str, role_change: RoleChange, request: Request) -> Change:
    """Return the change that sets the status of a role; no snapshot is compared here, and the log is not searched.

    Raises:
        TaskstateError: code "role-order", "role-status", "findings-open" or "regression": the rules do not allow it.
    """
    place = role_rules.role_in_task(loaded.state, role, workspace.config.roles)
    role_rules.snapshots_needed_to_set(place, role_change)
    new: dict[str, object] = {"status": role_change.status}
    if role_change.status != place.role.status:
        is_done = role_change.status == DONE
        new["completed_at"] = timestamp(request.metadata.now) if is_done else None
    if role_change.session_id is not None:
        new["session_id"] = escaping.one_line(role_change.session_id, what="the session's id")
    kept: tuple[artifacts.Artifact, ...] = ()
    if role_change.log is not None:
        kept = (qa_record.log_artifact(place.task_id, role, role_change.log),)
        new["qa_log_sha256"] = files.digest(role_change.log)
    results = _results(workspace, place, role_change)
    if results is not place.role.qa:
        qa_record.require_task_file(workspace, loaded)
        new["qa"] = qa_results.front_matter_results(results)
    if role_change.status == DONE and (role_change.adds or place.role.status != DONE):
        role_rules.require_checks_passed(place, results, role_change.waived)
    old_log = place.role.qa_log_path
    text, begun = _with_begun(_with_roles(place, {role: new}), begins=role_change.status == IN_PROGRESS)
    return Change(
        text=text,
        notes=(*begun, *role_rules.start_notes(place, role_change.status)),
        artifacts=kept,
        obsolete_artifacts=(old_log,) if kept and old_log is not None else (),
    )


def _with_begun(text: str, *, begins: bool) -> tuple[str, tuple[str, ...]]:
    """Return a text in which work on the task has begun where a role begins, and notes."""
    begun = start_of_work(read_state(parse(text))) if begins else StartOfWork()
    return apply(text, begun.edits), begun.notes


def block(workspace: Workspace, task_id: str, role: str, finding: str, request: Request) -> Outcome:
    """Record a finding that blocks a role; a role that has not begun begins with it.

    Raises:
        TaskstateError: as `set_role`; code "too-long": the finding is longer than a line or two.
    """
    line = role_rules.clean_finding(finding)
    checked_place = _read_place(workspace, task_id, role, request)
    needed = role_rules.snapshots_needed_to_block(checked_place)
    _verify(workspace, checked_place, needed, request)

    def job(place: RoleInTask, _: Loaded) -> Change:
        _require_same(place, checked_place, needed, role_rules.snapshots_needed_to_block(place))
        text, begun = _with_begun(_with_roles(place, {role: {"status": BLOCKED}}), begins=True)
        raised = findings.with_raised(
            text, role, (line,), by=request.metadata.actor, writing=_writing(workspace, request)
        )
        moved, before = with_oldest_moved(workspace, parse(raised))
        return Change(text=moved, before=before, notes=(*begun, *role_rules.start_notes(place, BLOCKED)))

    return _change(workspace, task_id, role, job, request)


def unblock(workspace: Workspace, task_id: str, role: str, finding: str | None, request: Request) -> Outcome:
    """Remove a finding, given by its text or number, or all if None; without open ones the role is no longer blocked.

    Raises:
        TaskstateError: code "not-found": there is no such finding; code "drift" or "drift-unresolved".
    """
    _read_place(workspace, task_id, role, request)
    snapshot_verify.require_as_left(workspace, task_id, request)

    def job(place: RoleInTask, _: Loaded) -> Change:
        own, document = place.role.findings, place.state.document
        chosen = own if finding is None else (role_rules.finding_named(place.role, finding, place.task_id),)
        writing = _writing(workspace, request)
        text = findings.with_withdrawn(document.text, role, {each.number for each in chosen}, writing)
        if text == document.text and place.role.status == BLOCKED:  # by no finding, as a hand may leave it
            text = _with_roles(place, {role: {"status": findings.unblocked_status(place.blocks, role, place.names)}})
        text, before = with_oldest_moved(workspace, parse(text))
        remaining = blocks_of(parse(text)).role(role).open_findings
        notes = (f"{role} is still blocked, by {counted(len(remaining), 'finding')}",) if remaining else ()
        return Change(text=text, before=before, notes=notes)

    return _change(workspace, task_id, role, job, request)


def reopen(workspace: Workspace, task_id: str, role: str, note: str, request: Request) -> Outcome:
    """Reopen a role: later roles become pending again and lose their snapshots, but keep their findings.

    The tree is compared with what the last role left. What somebody else changed since becomes the role's own work, so
    an event and a note name the files.

    Raises:
        TaskstateError: code "role-status": there is nothing to reopen; code "drift-unresolved"; code "tree-changed": it
            is not the tree that the request expects; or the repository cannot be compared.
    """
    reason = escaping.one_line(note, what="the note")
    place = _read_place(workspace, task_id, role, request)
    with_reopened(place)  # refuses before the long comparison what it would refuse after
    last, found = _changed_since_left(workspace, task_id, role, request.expect_tree)
    accepted, told = _adopted(last, found, reason, request.metadata)

    def job(place: RoleInTask, loaded: Loaded) -> Change:
        _require_last(loaded, place, last)
        notes = tuple(f"{each.name} is pending again" for each in _begun(place.later))
        event = request.metadata.event(REOPENED, note=reason, role=place.name)
        text = with_event(with_reopened(place), event)
        text = with_event(text, accepted) if accepted else text
        text, before = with_oldest_moved(workspace, parse(text))
        return Change(text=text, before=before, notes=(*notes, *told))

    return _change(workspace, task_id, role, job, request)


def _changed_since_left(workspace: Workspace, task_id: str, role: str, expect_tree: str) -> tuple[str, tuple[str, ...]]:
    """Return the role that left the tree last, and the files that somebody changed since; nothing if one is at work.

    Raises:
        TaskstateError: code "drift": it differs by more than files that can be named; code "tree-changed".
    """
    loaded = workspace.load(workspace.locate(task_id))
    last = snapshot_verify.role_to_match(loaded, workspace.config.roles)
    report = snapshot_verify.compare(workspace, loaded, last) if last else None
    if expect_tree:
        tree = report.tree if report else current_tree(workspace).tree
        require_tree(tree, expect_tree, task_id, f"taskstate snapshot verify {task_id} --role {last or role}")
    if report is None or not report.drift:
        return last, ()
    if not report.files:
        raise TaskstateError(report.message, help=report.help, code="drift")
    return last, tuple(each.path for each in report.files)


def _adopted(
    last: str, found: tuple[str, ...], reason: str, metadata: WriteMetadata
) -> tuple[Mapping[str, object] | None, tuple[str, ...]]:
    """Return the event and the note that say which changes become a role's own work."""
    if not found:
        return None, ()
    event = metadata.event(ACCEPTED, note=reason, role=last, files=list(found[:_LISTED]))
    return event, (f"changed since {last} left it, and part of the work from now on: {first_of(found, _NAMED)}",)


def _require_last(loaded: Loaded, place: RoleInTask, last: str) -> None:
    """Refuse where roles or snapshots changed while the tree was compared."""
    if snapshot_verify.role_to_match(loaded, place.names) != last:
        raise _stale(place)


def with_reopened(place: RoleInTask) -> str:
    """Return the text of a task with a role back at work, and the later ones pending and without their snapshots.

    Raises:
        TaskstateError: code "role-status": there is nothing to reopen.
    """
    later = _begun(place.later)
    if place.role.status != DONE and not later:
        raise role_rules.refusal(
            place,
            "so there is nothing to reopen",
            roles.next_command(place.role, place.task_id),
            code="role-status",
        )
    status = BLOCKED if place.role.open_findings else IN_PROGRESS
    changed: dict[str, Mapping[str, object]] = {place.name: {"status": status, "completed_at": None}}
    changed |= {each.name: _PENDING_AGAIN for each in later}
    return _without_snapshots(_with_roles(place, changed), tuple(each.name for each in later))


def with_sent_back(
    place: RoleInTask, raised: tuple[str, ...], *, by: str, metadata: WriteMetadata, keep: Collection[int] = ()
) -> str:
    """Return the text of a task with a role back at work on findings that the later role `by` raises on it.

    The session of that turn tells it. The roles after it return to pending, as `with_reopened` leaves them. What `by`
    raised before and was answered is cleared, but for the numbers to `keep`, which wait for another answer.

    Raises:
        TaskstateError: code "role-status": it is not done; code "role-order": `by` is no later role; code "empty":
            there is neither a finding, nor one to keep, nor one that is open; code "not-found": none has such a number.
    """
    if by not in place.names[place.names.index(place.name) + 1 :]:
        message = f"task {place.task_id}: {by} does not come after {place.name}, so it cannot send the work back to it"
        raise TaskstateError(message, help="name an earlier role", code="role-order")
    if not raised and not keep and not place.role.open_findings:
        message = f"task {place.task_id}: nothing says why {place.name} gets the work back"
        raise TaskstateError(message, help='say it: --finding "WHAT"', code="empty")
    writing = findings.Writing(place.names, metadata, in_log=True)
    text = findings.with_cleared(with_reopened(place), by, writing, keep=keep)
    return findings.with_raised(text, place.name, raised, by=by, writing=writing)


def completion_gaps(loaded: Loaded, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return which roles prevent completion, one line for each thing; empty where no role has begun."""
    blocks = blocks_of(loaded.document)
    if not roles.has_begun(blocks):
        return ()
    pipeline = roles.pipeline(blocks, names)
    gaps = [f"{role.words}, not done" for role in pipeline if role.name in names and role.status != DONE]
    gaps += [
        f"{role.name} has a finding that nobody cleared: {finding}; "
        f"`taskstate role unblock {loaded.state.id} {role.name} --finding {finding.number}`"
        for role in pipeline
        for finding in role.findings
    ]
    return tuple(gaps)


def tree_gap(workspace: Workspace, loaded: Loaded) -> str:
    """Return how the tree differs from what the last role left, counted or not; empty where it does not.

    Work that was committed as it was left is no difference.

    Raises:
        TaskstateError: the tree cannot be read.
    """
    blocks = blocks_of(loaded.document)
    unresolved = roles.unresolved(blocks)
    if unresolved:
        return f"the drift since {' and '.join(unresolved)} left the tree is not resolved"
    last = snapshot_verify.newest_role(blocks.delta, workspace.config.roles)
    report = snapshot_verify.compare(workspace, loaded, last) if last and roles.has_begun(blocks) else None
    if report and report.drift and (report.files or not snapshot_verify.committed_as_left(workspace, loaded)):
        return report.message
    return ""


# Steps of a change


def _read_place(workspace: Workspace, task_id: str, role: str, request: Request) -> RoleInTask:
    """Return the role as it is before anything is verified; refuses early what could not be written."""
    loaded = workspace.load(workspace.locate(task_id))
    preconditions.require_writable(loaded, request.expect)
    preconditions.require_whole(loaded)
    return role_rules.role_in_task(loaded.state, role, workspace.config.roles)


def _verify(
    workspace: Workspace, place: RoleInTask, needed: tuple[str, ...], request: Request, log: bytes | None = None
) -> None:
    """Refuse where the working tree differs from a snapshot; this counts in the drift budget of its role.

    The `log` that is being recorded may lie in the tree.
    """
    for name in needed:
        recorded = "" if log is None else files.digest(log)
        snapshot_verify.require_match(workspace, place.task_id, name, request, recorded)


def _require_same(
    place: RoleInTask, checked_place: RoleInTask, checked: tuple[str, ...], needed: tuple[str, ...]
) -> None:
    """Refuse where roles or snapshots changed while the tree was compared."""
    snapshots = [[each.blocks.delta.snapshots.get(name) for name in needed] for each in (place, checked_place)]
    if checked != needed or snapshots[0] != snapshots[1]:
        raise _stale(place)


def _stale(place: RoleInTask) -> TaskstateError:
    message = f"task {place.task_id}: somebody changed the roles while the working tree was compared"
    return TaskstateError(message, help="run this again", code="stale")


def _change(
    workspace: Workspace, task_id: str, role: str, job: Callable[[RoleInTask, Loaded], Change], request: Request
) -> Outcome:
    def on_role(loaded: Loaded) -> Change:
        return job(role_rules.role_in_task(loaded.state, role, workspace.config.roles), loaded)

    return change(workspace, task_id, on_role, request)


def _writing(workspace: Workspace, request: Request) -> findings.Writing:
    return findings.Writing(workspace.config.roles, request.metadata)


# What is written


def _begun(later: tuple[Role, ...]) -> tuple[Role, ...]:
    """Return the roles that have begun or left a snapshot."""
    return tuple(each for each in later if each.status != PENDING or each.snapshot)


def _results(workspace: Workspace, place: RoleInTask, role_change: RoleChange) -> Mapping[str, CheckResult]:
    """Return the results of a role's checks after the change: those given, those in its log, or those of before."""
    if role_change.results is not None:
        return role_change.results
    return place.role.qa if role_change.log is None else log_parser.read_log(role_change.log, workspace.config.qa)


def _with_roles(place: RoleInTask, changed: Mapping[str, Mapping[str, object]]) -> str:
    """Return the task's text with some values of its roles changed; roles are written in the configured order."""
    document = place.state.document
    before = place.blocks.values.get("coordination", {})
    if not isinstance(before, dict):
        message = f"task {place.task_id}: `coordination` is not a map of roles"
        raise TaskstateError(message, help="fix it; `taskstate lint` says how", code="unreadable")
    after = roles.with_role_values(place.blocks, changed, place.names)
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

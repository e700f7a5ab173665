"""`snapshot`: takes snapshots of the working tree, compares and restores them, and accepts drift."""

from __future__ import annotations

from taskstate.operations.operation import EXPECT_TREE, TASK, Operation, option, switch
from taskstate.operations.result import Result, changed
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.operations.call import Call
    from taskstate.operations.operation import Name, TaskId, Text
    from taskstate.snapshots.drift import Difference, DriftReport
    from taskstate.workspace.workspace import Loaded, Workspace

_SHORT = 12  # digits of a hash in a report
_ROLE = option("R", "role of the snapshot, such as implementer", is_required=True)


class Take(NamedTuple):
    """The arguments of `snapshot take`."""

    id: TaskId = TASK
    role: str = _ROLE


class Verify(NamedTuple):
    """The arguments of `snapshot verify`."""

    id: TaskId = TASK
    role: str = _ROLE._replace(is_required=False, help="role of the snapshot (without it: what the last turn left)")
    restore: tuple[str, ...] = option(
        "FILE",
        "first restore these files from the snapshot; for a name that begins with -: --restore=./-name",
        in_a_row=True,
    )


class Diff(NamedTuple):
    """The arguments of `snapshot diff`."""

    id: TaskId = TASK
    role: str = _ROLE._replace(is_required=False)
    type: str = option(
        "",
        "from-base (default): base to the role's snapshot; incremental: previous role's snapshot to its own; now: what "
        "the role, or without --role the last turn, left to the working tree; seen: what the role saw last to the "
        "working tree",
        choices=("from-base", "incremental", "now", "seen"),
        default="from-base",
    )
    path: bool = switch("print the path of the gzipped diff instead")


class Resolve(NamedTuple):
    """The arguments of `snapshot resolve`."""

    id: TaskId = TASK
    note: Text = option("TEXT", "reason; it is recorded", is_required=True)
    expect_tree: Name = EXPECT_TREE


def take(call: Call, asked: Take) -> Result:
    """Record the exact working tree, staged or not, with its diffs; git's own data is not changed."""
    from taskstate.snapshots.take import take as take_snapshot

    taken = take_snapshot(call.workspace, call.task_id(asked.id), asked.role, call.request())
    text = f"snapshot of {asked.role} taken: {taken.result.stat}"
    return changed(call, taken, text, role=asked.role, diff_stat=taken.result.stat, files=taken.result.number)


def verify(call: Call, asked: Verify) -> Result:
    """Compare the working tree with a role's snapshot; on drift, print a report and exit with status 1.

    Without `--role` it is compared with what the last turn left, the one before that which is open; nothing is counted.
    """
    from taskstate.errors import TaskstateError
    from taskstate.model.roles import require_role
    from taskstate.snapshots.drift import LAST_TURN, printable_path
    from taskstate.snapshots.verify import compare, count

    workspace = call.workspace
    task = call.load_parsed(asked.id).state.id
    if asked.role:
        require_role(asked.role, workspace.config.roles)
    restored = _restore(call, task, asked)
    back = [_put_back(call, printable_path(name), own_id) for name, own_id in restored.items()]
    try:
        loaded = workspace.load(workspace.locate(task))
        report = compare(workspace, loaded, asked.role) if asked.role else _since_last_turn(workspace, loaded)
    except TaskstateError:
        call.notes(tuple(back))  # what was restored before the failure
        raise
    if asked.role and (report.drift or restored):
        count(report, (workspace, task, asked.role), call.request(), tuple(restored))
    data = {
        "drift": report.drift,
        "checks": [check._asdict() for check in report.checks],
        "files": [each.as_json() for each in report.files],
        "notes": list(report.notes),
        "message": report.message,
        "explained": [each._asdict() for each in report.explained],
        "committed": list(report.committed),
        "commits": list(report.commits),
        "at_work": report.at_work,
        "superseded_by": report.superseded_by,
        "tree": report.tree or None,
        **({"restored": list(restored), "kept": [*filter(None, restored.values())]} if asked.restore else {}),
    }
    return Result(data, "\n".join([*back, *_report(report, asked.role or LAST_TURN)]), status=1 if report.drift else 0)


def _since_last_turn(workspace: Workspace, loaded: Loaded) -> DriftReport:
    from taskstate.snapshots.changes_since import since_last_turn

    return since_last_turn(workspace, loaded)


def _restore(call: Call, task: str, asked: Verify) -> Mapping[str, str]:
    """Restore what is asked for; return the names, each with the id under which what stood there is kept or ""."""
    if not asked.restore:
        return {}
    from taskstate.snapshots.restore import restore

    kept, notes = restore(call.workspace, task, asked.role, asked.restore, call.request())
    call.notes(notes)
    return kept


def _put_back(call: Call, name: str, own_id: str) -> str:
    from taskstate.storage.replaced_texts import named

    if call.dry_run:
        return f"would put back {name}"
    return f"put back {name}; {named([own_id])}" if own_id else f"put back {name}"


def _report(report: DriftReport, role: str) -> list[str]:
    notes = [f"  note: {note}" for note in report.notes]
    if report.at_work:
        return [f"{report.at_work} is at work on what {role} left", *map(_line, report.files), *notes]
    if report.superseded_by:
        return [f"{report.superseded_by} went on from what {role} left", *map(_line, report.files), *notes]
    if not report.drift and not report.is_here:
        return [f"nothing here differs from what this clone knows of what {role} left", *notes]
    if not report.drift:
        what = "differs only by what is explained from what" if report.explained else "is as"
        return [f"the working tree {what} {role} left{'' if report.explained else ' it'}", *notes]
    failed = [f"  {check.name}: {check.detail}" for check in report.checks if not check.ok]
    listed = [_line(each) for each in report.files]
    look = [f"what changed: `{report.look}`"] if report.look else []
    return [f"drift: {report.message}", *listed, *look, "failed checks:", *failed, *notes, f"what to do: {report.help}"]


def _line(each: Difference) -> str:
    from taskstate.snapshots.drift import printable_path

    expected = (each.expected or ("none" if each.change == "added" else "unknown"))[:_SHORT]
    current = (each.current or ("none" if each.change == "removed" else "unknown"))[:_SHORT]
    origin = f" (was {printable_path(each.origin)})" if each.origin else ""
    return f"  {each.change:<8} {printable_path(each.path)}{origin}: expected {expected}, is {current}"


def diff(call: Call, asked: Diff) -> Result:
    """Show what a role changed, or what changed since."""
    from taskstate.snapshots.diffs import diff_of

    found = diff_of(call.workspace, call.task_id(asked.id), asked.role, asked.type)
    data = {"path": found.path, "role": asked.role, "type": asked.type}
    if asked.path:
        return Result(data, found.path)
    text = found.content.decode("utf-8", "replace")
    above = "".join(f"# {line}\n" for line in found.came_in)
    shown = {**data, "came_in": list(found.came_in), "diff": text}
    return Result(shown, "", raw=above.encode() + found.content, is_diff=True, is_verbatim=True)


def resolve(call: Call, asked: Resolve) -> Result:
    """Accept the working tree and HEAD as they are, and record who did so and why."""
    from taskstate.snapshots.accept_drift import resolve as accept

    task = call.task_id(asked.id)
    outcome = accept(call.workspace, task, asked.note, call.request(asked.expect_tree))
    accepted = outcome.result
    retaken = f"; snapshot of {' and '.join(accepted.retaken)} taken again" if accepted.retaken else ""
    text = f"the working tree is accepted as it is{retaken}"
    return changed(call, outcome, text, retaken=list(accepted.retaken), base_commit=accepted.base)


OPERATIONS = (
    Operation(
        "snapshot take",
        "record the working tree of a role",
        take,
        Take,
        writes=True,
        compares="what the previous role left, if the role has not begun",
    ),
    Operation(
        "snapshot verify",
        "compare the working tree with a snapshot",
        verify,
        Verify,
        writes=True,
        compares="the role's snapshot; a difference is counted",
    ),
    Operation("snapshot diff", "show the diff of a role", diff, Diff),
    Operation(
        "snapshot resolve",
        "accept drift",
        resolve,
        Resolve,
        writes=True,
        compares="each snapshot that drifted; an event names what differs",
    ),
)

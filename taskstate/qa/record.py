"""Records the results of checks, as the task's baseline or for a role, and compares the two.

The log itself is kept as an artifact. Results belong to the task as it was sealed, so recording is refused once the
task file has changed.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model import names, roles
from taskstate.model.statuses import RECORDED
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp, with_event
from taskstate.qa import results as qa_results
from taskstate.qa.log_parser import read_log, text_chunks
from taskstate.storage import files, folders
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace import artifacts
from taskstate.writing import secret_check
from taskstate.writing.change import Change
from taskstate.writing.event_log import add_event
from taskstate.writing.preconditions import require_work
from taskstate.writing.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import Baseline, CheckResult, ToolBlocks
    from taskstate.qa.results import Comparison
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

BASELINE = "baseline"
_COORDINATION = "coordination"
_REDONE = "baseline-redone"  # the event of a baseline that took another's place
_LATE = "baseline-late"  # the event of a baseline that was taken after work had begun
_LARGE = 10 * 1024**2  # bytes of a log that are worth a warning
_TABLE = "[[tool.taskstate.qa]]"


class QaRequest(NamedTuple):
    """The results to record: a log, and results and exit statuses given by hand, by the name of the check."""

    log: bytes
    texts: Mapping[str, str]
    exit_statuses: Mapping[str, int]


class Results(NamedTuple):
    """Results to record by the name of the check, and the log that shows them."""

    results: Mapping[str, CheckResult]
    log: bytes


class BaselineReason(NamedTuple):
    """Why a baseline is recorded though work has begun, or in the place of another one (`redo`).

    `begun` says in words that work has begun, as `late_baseline.begun` does; None where nobody has looked yet.
    """

    note: str = ""
    redo: bool = False
    begun: str | None = None


class RecordResult(NamedTuple):
    """The outcome of recording, and the recorded results."""

    outcome: Outcome
    results: Mapping[str, CheckResult]


_NO_REASON = BaselineReason()


class RoleComparison(NamedTuple):
    """A role's results compared with the baseline."""

    baseline: Mapping[str, CheckResult]
    results: Mapping[str, CheckResult]
    comparison: Comparison


def results_of(workspace: Workspace, qa: QaRequest) -> Results:
    """Return a log with its results and those given by hand, which override it.

    Raises:
        TaskstateError: code "log-unknown": there are no results; code "usage", "too-long" or "several-lines": one that
            is given by hand is not well-formed.
    """
    results = read_log(qa.log, workspace.config.qa)
    for name, text in qa.texts.items():
        results[names.require_result_name(name)] = qa_results.result_of(_line(name, text))
    for name, status in qa.exit_statuses.items():
        before = results.get(names.require_result_name(name))
        results[name] = qa_results.result_of(before.text if before else "", status)
    if not results:
        message = "nothing in the log is a result that taskstate knows"
        help_ = (
            f'name what it shows, such as --result test="12 passed, 0 failed", or teach taskstate to read it: {_TABLE}'
        )
        raise TaskstateError(message, help=help_, code="log-unknown")
    return Results(results, qa.log)


def _line(name: str, text: str) -> str:
    line = escaping.one_line(text, what=f"the result {name}")
    if len(line) > qa_results.MAX_TEXT:
        message = f"the result {name} has {len(line)} characters"
        raise TaskstateError(message, help=f"give its figures alone, in at most {qa_results.MAX_TEXT}", code="too-long")
    return line


def record_role(workspace: Workspace, task_id: str, found: Results, request: Request, *, role: str) -> RecordResult:
    """Record results as those of a role.

    Raises:
        TaskstateError: the task file changed since it was sealed (code "task-file-changed"); the working tree differs
            from the role's snapshot (code "drift"), or an earlier drift is unresolved; the log contains what looks like
            a credential (code "secret").
    """
    roles.require_role(role, workspace.config.roles)
    checked = _checked(workspace, found, request)
    _require_no_drift(workspace, task_id, role, request, files.digest(found.log))

    def job(loaded: Loaded) -> Change[artifacts.Artifact]:
        require_work(loaded.state, "checks")
        blocks = blocks_of(loaded.document)
        require_task_file(workspace, loaded)
        roles.require_no_drift(blocks, loaded.state.id)
        log_file = log_artifact(loaded.state.id, role, found.log)
        _require_map(blocks, _COORDINATION, loaded.state.id)
        new = roles.with_role_values(blocks, {role: _role(found)}, workspace.config.roles)
        text = apply(loaded.document.text, set_front_matter(loaded.document, _COORDINATION, new))
        text, archive_plan = checked.with_event(workspace, text) if text != loaded.document.text else (text, ())
        planned = _change(text, log_file, blocks.role(role).qa_log_path)
        return planned._replace(before=archive_plan, notes=_missing_snapshot_note(blocks, role))

    outcome = change(workspace, task_id, job, request)
    return RecordResult(_with_warnings(outcome, found, checked), found.results)


def record_baseline(
    workspace: Workspace, task_id: str, found: Results, request: Request, why: BaselineReason = _NO_REASON
) -> RecordResult:
    """Record results as the task's baseline. It is a fixed point: only with a note another one replaces it.

    One that is taken after work has begun needs a note, too, and says in the file that it is late. The same results of
    the same log are no other baseline, and change nothing.

    Raises:
        TaskstateError: there is another baseline, and no note (code "baseline-recorded"); work has begun, and no note
            says why it is taken now (code "baseline-late"); the task file changed since it was sealed (code
            "task-file-changed"); the log contains what looks like a credential (code "secret").
    """
    from taskstate.qa import late_baseline

    checked = _checked(workspace, found, request)
    note = escaping.clean(why.note, what="--note") if why.note else ""
    begun = why.begun
    if begun is None:
        loaded = workspace.load(workspace.locate(task_id))
        begun = late_baseline.begun(workspace, loaded, files.digest(found.log))

    def job(loaded: Loaded) -> Change[artifacts.Artifact]:
        require_work(loaded.state, "checks")
        blocks = blocks_of(loaded.document)
        require_task_file(workspace, loaded)
        log_file = log_artifact(loaded.state.id, BASELINE, found.log)
        _require_map(blocks, BASELINE, loaded.state.id)
        before = blocks.baseline
        if _says_the_same(before, found):
            return _change(loaded.document.text, log_file, before.log)
        late = {"late": True} if begun else {}
        new = _baseline(before, {**late, **_recorded_values(found)}, request)
        text = _with_baseline(loaded.document, new)
        if before.status == RECORDED:
            _require_redo(before, loaded.state.id, redo=why.redo)
        late_baseline.require_reason(loaded.state.id, begun, note)
        event = _baseline_event(before, begun, note, request)
        if not event:
            text, archive_plan = checked.with_event(workspace, text)
            return _change(text, log_file, before.log)._replace(before=archive_plan)
        text = with_event(text, checked.event) if checked.event else text
        text, archive_plan = add_event(workspace, text, event)
        notes = _baseline_notes(before, begun)
        return _change(text, log_file, before.log)._replace(before=archive_plan, notes=notes)

    outcome = change(workspace, task_id, job, request)
    return RecordResult(_with_warnings(outcome, found, checked), found.results)


def _baseline_event(before: Baseline, begun: str, note: str, request: Request) -> dict[str, object]:
    """Return what the audit says of a baseline that replaces another or is late; nothing of any other one."""
    if before.status == RECORDED:
        return request.metadata.event(_REDONE, note=note, **({"late": True} if begun else {}))
    return request.metadata.event(_LATE, note=note) if begun else {}


def _baseline_notes(before: Baseline, begun: str) -> tuple[str, ...]:
    notes = []
    if before.status == RECORDED:
        notes.append(f"it replaces the baseline of {before.recorded_at}")
    if begun:
        notes.append(f"it is late ({begun}): checks that fail in it stop `finish` until each is waived by name")
    return tuple(notes)


def require_baseline_possible(
    workspace: Workspace, task_id: str, why: BaselineReason = _NO_REASON
) -> tuple[Loaded, BaselineReason]:
    """Return the task, for which a baseline may be recorded: to be asked before the long run of its commands.

    The reason says then whether work had begun before they ran: what they leave in the tree is none.

    Raises:
        TaskstateError: as `record_baseline` has it for a log other than that of the recorded baseline.
    """
    from taskstate.qa import late_baseline

    loaded = workspace.load(workspace.locate(task_id))
    require_work(loaded.state, "checks")
    blocks = blocks_of(loaded.document)
    require_task_file(workspace, loaded)
    if blocks.baseline.status == RECORDED:
        _require_redo(blocks.baseline, loaded.state.id, redo=why.redo)
    begun = late_baseline.begun(workspace, loaded)
    late_baseline.require_reason(loaded.state.id, begun, why.note)
    return loaded, why._replace(begun=begun)


def _require_redo(baseline: Baseline, task_id: str, *, redo: bool) -> None:
    if redo:
        return
    message = f"task {task_id} has the baseline of {baseline.recorded_at}, with which all later work is compared"
    help_ = f'if it was wrong, replace it: `taskstate qa baseline {task_id} --redo --note "WHY"`'
    raise TaskstateError(message, help=help_, code="baseline-recorded")


def _checked(workspace: Workspace, found: Results, request: Request) -> secret_check.AcceptedText:
    """Refuse results and a log that contain possible credentials, unless the write is forced."""
    lines = [f"{each.text}\n" for each in found.results.values()]
    secret_check.check_text(workspace, lines, request, name="the results")
    return secret_check.check_text(workspace, text_chunks(found.log), request, name="the log")


def _change(text: str, log: artifacts.Artifact, before: str | None) -> Change[artifacts.Artifact]:
    """Return the change to a state file's `text`; the log takes the place of the one that was kept `before`."""
    return Change(text=text, artifacts=(log,), obsolete_artifacts=() if before is None else (before,), result=log)


def _with_warnings(
    outcome: Outcome[artifacts.Artifact], found: Results, checked: secret_check.AcceptedText
) -> Outcome[artifacts.Artifact]:
    size = _size_warning(found.log, len(outcome.result.data))
    return outcome._replace(warnings=(*size, *checked.warnings, *outcome.warnings))


def log_artifact(task_id: str, owner: str, log: bytes) -> artifacts.Artifact:
    """Return the artifact that keeps a log; `owner` is `baseline` or a role."""
    return artifacts.content_addressed(task_id, f"qa-{owner}", log, ".log")


def _size_warning(log: bytes, packed: int) -> tuple[str, ...]:
    """Return a warning where the log is very large; `packed` is its compressed size in bytes."""
    if len(log) <= _LARGE:
        return ()
    sizes = f"the log holds {len(log) // 1024**2} MB, of which {-(-packed // 1024**2)} MB are kept packed"
    return (f"warning: {sizes}; the end of it, where tools tell their results, would do",)


def _baseline(before: Baseline, recorded: Mapping[str, object], request: Request) -> Mapping[str, object]:
    """Return the new baseline block with what was `recorded`."""
    others = {key: value for key, value in before.values.items() if key.startswith("x-")}
    return {**others, "recorded_at": timestamp(request.metadata.now), **recorded}


def _with_baseline(document: Document, new: Mapping[str, object]) -> str:
    """Return the text with another baseline; a role's results that were those of the one before stay as they were."""
    document = roles.with_own_results(document)
    return apply(document.text, set_front_matter(document, BASELINE, new))


def _says_the_same(before: Baseline, found: Results) -> bool:
    """Return whether a baseline holds the same results of the same log already."""
    new = _recorded_values(found)
    return before.status == RECORDED and all(before.values.get(key) == value for key, value in new.items())


def _recorded_values(found: Results) -> dict[str, object]:
    results = qa_results.front_matter_results(found.results)
    return {"results": results, "log_sha256": files.digest(found.log)}


def _role(found: Results) -> dict[str, object]:
    """Return the values of a role with the results of its checks."""
    return {"qa": qa_results.front_matter_results(found.results), "qa_log_sha256": files.digest(found.log)}


def _missing_snapshot_note(blocks: ToolBlocks, role: str) -> tuple[str, ...]:
    if role in blocks.delta.snapshots:
        return ()
    return (f"{role} has left no snapshot yet, so nothing says which files were tested",)


def _require_map(blocks: ToolBlocks, key: str, task_id: str) -> None:
    block = blocks.values.get(key)
    if block is not None and not isinstance(block, dict):
        message = f"task {task_id}: `{key}` is not a map"
        raise TaskstateError(message, help="fix it; `taskstate lint` says how", code="unreadable")


def _require_no_drift(workspace: Workspace, task_id: str, role: str, request: Request, log: str) -> None:
    """Refuse where the working tree differs from the snapshot that counts for a role: other files were tested then.

    That is its own snapshot, or the last one where it has none and no role is at work.
    """
    loaded = workspace.load(workspace.locate(task_id))
    blocks = blocks_of(loaded.document)
    roles.require_no_drift(blocks, loaded.state.id)
    from taskstate.snapshots.verify import require_as_left, require_match

    if role in blocks.delta.snapshots:
        require_match(workspace, task_id, role, request, log)
    else:
        require_as_left(workspace, task_id, request, log)


def require_task_file(workspace: Workspace, loaded: Loaded) -> None:
    """Refuse where the task file changed since the task was sealed or created from it.

    Raises:
        TaskstateError: code "task-file-changed", or that of what keeps the context from being captured anew.
    """
    context, task_id = blocks_of(loaded.document).context, loaded.state.id
    name, sha = context.task_file, context.task_file_sha
    if name is None or sha is None:
        return
    from taskstate.context.task_file import blob_ids

    path = files.resolved(workspace.root, name)
    exists = folders.is_file(path)
    if exists and sha in blob_ids(files.read(path)):
        return
    from taskstate.context.precondition import capture_refusal

    refusal = capture_refusal(workspace, loaded)
    if exists and refusal:
        raise refusal
    change = "changed" if exists else "is gone"
    since = "the task was sealed" if context.seal is not None else "the task was made from it"
    seal = f"taskstate context rebuild {task_id}" if context.seal is not None else f"taskstate context init {task_id}"
    if not exists:
        help_ = f"bring it back, or name another one: `{seal} --from FILE`"
    elif context.seal is not None:
        help_ = f'take it over with `{seal} --note "WHY"`'
    else:
        help_ = f"take it over, and seal the task, with `{seal}`"
    message = f"task {task_id}: the task file {files.shown(name)} {change} since {since}"
    raise TaskstateError(message, help=help_, code="task-file-changed")


# Reading recorded results


def compare_role(workspace: Workspace, task_id: str, role: str) -> RoleComparison:
    """Return a role's results compared with the task's baseline.

    Raises:
        TaskstateError: code "not-recorded": the baseline or the role's results are missing.
    """
    roles.require_role(role, workspace.config.roles)
    loaded = workspace.load(workspace.locate(task_id))
    blocks = blocks_of(loaded.document)
    baseline, results = blocks.baseline.results, blocks.role(role).qa
    for recorded, owner, flag in ((baseline, "baseline", ""), (results, f"results of the {role}", f" --role {role}")):
        if not recorded:
            message = f"task {loaded.state.id} has no {owner} to compare"
            it = "them" if flag else "it"
            help_ = f"`taskstate qa record {loaded.state.id}{flag} --from LOG` records {it}"
            raise TaskstateError(message, help=help_, code="not-recorded")
    compared = qa_results.compare(baseline, results, is_late=blocks.baseline.is_late)
    return RoleComparison(baseline, results, compared)

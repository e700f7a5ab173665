"""Records the results of checks, as the task's baseline or for a role, and compares the two.

The log itself is kept as an artifact. Results belong to the task as it was sealed, so recording is refused once the
task file has changed.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.model import names, roles
from taskstate.model.write_metadata import blocks_of, set_front_matter, timestamp
from taskstate.storage import files
from taskstate.syntax import escaping
from taskstate.syntax.edits import apply
from taskstate.verification.qa import results as qa_results
from taskstate.verification.qa.log_parser import read_log, text_chunks
from taskstate.workspace import artifacts, secret_check
from taskstate.workspace.change import Change
from taskstate.workspace.writer import change

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import Baseline, CheckResult, Context, Role, ToolBlocks
    from taskstate.storage.journal import Plan
    from taskstate.verification.qa.results import Comparison
    from taskstate.workspace.change import Outcome, Request
    from taskstate.workspace.workspace import Loaded, Workspace

BASELINE = "baseline"
_COORDINATION, _RECORDED = "coordination", "recorded"
_LARGE = 10 * 1024**2  # bytes of a log that are worth a warning
_TABLE = "[[tool.taskstate.qa]]"


class QaRequest(NamedTuple):
    """The results to record: a log, and results and exit statuses given by hand, by the name of the check."""

    log: bytes
    texts: Mapping[str, str]
    exit_statuses: Mapping[str, int]


class RecordResult(NamedTuple):
    """The outcome of recording, and the recorded results."""

    outcome: Outcome
    results: Mapping[str, CheckResult]


class RoleComparison(NamedTuple):
    """A role's results compared with the baseline."""

    baseline: Mapping[str, CheckResult]
    results: Mapping[str, CheckResult]
    comparison: Comparison


def results_of(workspace: Workspace, qa: QaRequest) -> dict[str, CheckResult]:
    """Return the results of a log, with those given by hand, which override it.

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
    return results


def _line(name: str, text: str) -> str:
    line = escaping.one_line(text, what=f"the result {name}")
    if len(line) > qa_results.MAX_TEXT:
        message = f"the result {name} has {len(line)} characters"
        raise TaskstateError(message, help=f"give its figures alone, in at most {qa_results.MAX_TEXT}", code="too-long")
    return line


def record(workspace: Workspace, task_id: str, qa: QaRequest, request: Request, *, role: str = "") -> RecordResult:
    """Record the results of a log as the task's baseline, or as those of a role.

    Raises:
        TaskstateError: the log has no known results; the task file changed since it was sealed (code
            "task-file-changed"); the working tree differs from the role's snapshot (code "drift"), or an earlier drift
            is unresolved; the log contains what looks like a credential (code "secret").
    """
    if role:
        roles.require_role(role, workspace.config.roles)
    results = results_of(workspace, qa)
    secret_check.check_text(workspace, [f"{each.text}\n" for each in results.values()], request, name="the results")
    checked = secret_check.check_text(workspace, text_chunks(qa.log), request, name="the log")
    if role:
        _require_no_drift(workspace, task_id, role, request)

    def job(loaded: Loaded) -> Change[artifacts.Artifact]:
        blocks = blocks_of(loaded.document)
        require_task_file(workspace, blocks.context, loaded.state.id)
        if role:
            roles.require_no_drift(blocks, loaded.state.id)
        log_file = log_artifact(loaded.state.id, role or BASELINE, qa.log)
        log = (log_file.path, files.digest(qa.log))
        key = _COORDINATION if role else BASELINE
        block = _block(blocks, key, loaded.state.id)
        new: Mapping[str, object]
        if role:
            before = blocks.role(role).qa_log_path
            changed = {role: _role(blocks.role(role), results, log)}
            new = roles.with_roles_in_order(block, changed, workspace.config.roles)
            notes = _missing_snapshot_note(blocks, role)
        else:
            before = blocks.baseline.log
            new, notes = _baseline(blocks.baseline, results, log, request)
        text = apply(loaded.document.text, set_front_matter(loaded.document, key, new))
        archive_plan: Plan = ()
        if text != loaded.document.text:
            text, archive_plan = checked.with_event(workspace, text)
        replaced = () if before is None else (before,)
        return Change(
            text=text,
            before=archive_plan,
            notes=notes,
            artifacts=(log_file,),
            obsolete_artifacts=replaced,
            result=log_file,
        )

    outcome = change(workspace, task_id, job, request)
    warnings = (*_size_warning(qa.log, len(outcome.result.data)), *checked.warnings, *outcome.warnings)
    return RecordResult(outcome._replace(warnings=warnings), results)


def log_artifact(task_id: str, owner: str, log: bytes) -> artifacts.Artifact:
    """Return the artifact that keeps a log; `owner` is `baseline` or a role."""
    return artifacts.content_addressed(task_id, f"qa-{owner}", log, ".log")


def _size_warning(log: bytes, packed: int) -> tuple[str, ...]:
    """Return a warning where the log is very large; `packed` is its compressed size in bytes."""
    if len(log) <= _LARGE:
        return ()
    sizes = f"the log holds {len(log) // 1024**2} MB, of which {-(-packed // 1024**2)} MB are kept packed"
    return (f"warning: {sizes}; the end of it, where tools tell their results, would do",)


def _baseline(
    before: Baseline, results: Mapping[str, CheckResult], log: tuple[str, str], request: Request
) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """Return the new baseline block, and notes; the same results of the same log keep their time."""
    path, sha256 = log
    new = {"results": qa_results.front_matter_results(results), "log": path, "log_sha256": sha256}
    recorded = before.status == _RECORDED
    if recorded and all(before.values.get(key) == value for key, value in new.items()):
        return before.values, ()
    notes = (f"it takes the place of the baseline of {before.recorded_at}",) if recorded else ()
    return {**before.values, "status": _RECORDED, "recorded_at": timestamp(request.metadata.now), **new}, notes


def _role(before: Role, results: Mapping[str, CheckResult], log: tuple[str, str]) -> dict[str, object]:
    """Return a role's block with the results of its checks; a role without a block has not begun."""
    path, sha256 = log
    new = {"qa": qa_results.front_matter_results(results), "qa_log_path": path, "qa_log_sha256": sha256}
    return {"blocking_findings": [], "drift_budget": 0, **before.values, **new}


def _missing_snapshot_note(blocks: ToolBlocks, role: str) -> tuple[str, ...]:
    if role in blocks.delta.snapshots:
        return ()
    return (f"{role} has left no snapshot yet, so nothing says which files were tested",)


def _block(blocks: ToolBlocks, key: str, task_id: str) -> Mapping[str, object]:
    block = blocks.values.get(key)
    if block is not None and not isinstance(block, dict):
        message = f"task {task_id}: `{key}` is no map"
        raise TaskstateError(message, help="mend it; `taskstate lint` says how", code="unreadable")
    return block or {}


def _require_no_drift(workspace: Workspace, task_id: str, role: str, request: Request) -> None:
    """Refuse where the working tree differs from the role's snapshot: other files were tested then."""
    loaded = workspace.load(workspace.locate(task_id))
    blocks = blocks_of(loaded.document)
    roles.require_no_drift(blocks, loaded.state.id)
    if role in blocks.delta.snapshots:
        from taskstate.verification.snapshots.verify import require_match

        require_match(workspace, task_id, role, request)


def require_task_file(workspace: Workspace, context: Context, task_id: str) -> None:
    """Refuse where the task file changed since the task was sealed or created from it.

    Raises:
        TaskstateError: code "task-file-changed".
    """
    name, sha = context.task_file, context.task_file_sha
    if name is None or sha is None:
        return
    from taskstate.context.task_file import blob_ids

    path = files.inside(workspace.root, name)
    exists = os.path.isfile(path)
    if exists and sha in blob_ids(files.read(path)):
        return
    change = "changed" if exists else "is gone"
    if context.seal is not None:
        since = "the task was sealed"
        help_ = f"see `taskstate context check {task_id}`, then take it over with `taskstate context rebuild {task_id}`"
    else:
        since = "the task was made from it"
        help_ = f"take it over, and seal the task, with `taskstate context init {task_id}`"
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
            help_ = f"record them: `taskstate qa record {loaded.state.id}{flag} --from LOG`"
            raise TaskstateError(message, help=help_, code="not-recorded")
    return RoleComparison(baseline, results, qa_results.compare(baseline, results))

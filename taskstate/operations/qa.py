"""`qa`: records the results of checks, and compares those of a role with the baseline."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.operations.call import usage_error
from taskstate.operations.operation import TASK, Operation, option, switch
from taskstate.operations.result import Result, changed
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.model.tool_blocks import CheckResult
    from taskstate.operations.call import Call, Source
    from taskstate.operations.operation import Name, TaskId
    from taskstate.qa.record import BaselineReason, RecordResult, Results, RoleComparison
    from taskstate.qa.run import CommandRun

_MAX_FILES = 10  # named in a warning
_DIGITS = 10  # of an exit status, which on some systems is a large number
_RESULT = option("NAME=TEXT", 'result that is not in the log, such as test="212 passed, 1 failed"')
_EXIT_STATUS = option("NAME=N", "exit status of a check, such as lint=0")
_NOTE = option("T", "why a baseline is replaced, or taken after work began; it is recorded")


class Record(NamedTuple):
    """The arguments of `qa record`."""

    id: TaskId = TASK
    log: Source = option("LOG", "log of the checks; - reads standard input", flag="from", is_required=True)
    role: str = option("R", "role that ran the checks")
    result: tuple[str, ...] = _RESULT
    exit_status: tuple[str, ...] = _EXIT_STATUS
    note: Name = _NOTE


class Baseline(NamedTuple):
    """The arguments of `qa baseline`."""

    id: TaskId = TASK
    qa_log: Source | None = option("F", "log with the results, instead of a run of the checks; - reads standard input")
    result: tuple[str, ...] = _RESULT
    exit_status: tuple[str, ...] = _EXIT_STATUS
    redo: bool = switch("replace the baseline that is recorded; needs --note")
    note: Name = _NOTE


class Compare(NamedTuple):
    """The arguments of `qa compare`."""

    id: TaskId = TASK
    role: str = option("R", "role whose results to compare", is_required=True)


def record(call: Call, asked: Record) -> Result:
    """Record the results in a log as the baseline, or with --role as the results of that role."""
    from taskstate.qa.record import BaselineReason, record_baseline, record_role

    found = _results_of(call, asked.log, asked)
    task, request = call.task_id(asked.id), call.request()
    if asked.role:
        recorded = record_role(call.workspace, task, found, request, role=asked.role)
    else:
        recorded = record_baseline(call.workspace, task, found, request, BaselineReason(asked.note))
    return _recorded(call, recorded, role=asked.role)


def baseline(call: Call, asked: Baseline) -> Result:
    """Run the validation commands that `taskstate trust` has allowed, and record their results as the baseline."""
    from taskstate.qa.record import BaselineReason, Results, record_baseline

    task, why = call.task_id(asked.id), BaselineReason(asked.note, asked.redo)
    altered: Sequence[str] = ()
    untracked: Sequence[str] = ()
    if asked.qa_log:
        found = _results_of(call, asked.qa_log, asked)
    else:
        ran, why = _run_commands(call, task, why)
        found, altered, untracked = Results(ran.results, ran.log), ran.changed, ran.untracked
    recorded = record_baseline(call.workspace, task, found, call.request(), why)
    if altered:
        call.problems((f"warning: the commands changed tracked files: {_names(altered)}",))
    notes = (f"they left untracked files: {_names(untracked)}",) if untracked else ()
    outcome = recorded.outcome._replace(notes=(*recorded.outcome.notes, *notes))
    return _recorded(call, recorded._replace(outcome=outcome), changed_files=altered)


def _names(paths: Sequence[str]) -> str:
    from taskstate.storage import files

    return first_of([files.shown(path) for path in paths], _MAX_FILES)


def _run_commands(call: Call, task: str, why: BaselineReason) -> tuple[CommandRun, BaselineReason]:
    """Run the validation commands of the task; the reason says then whether work had begun before.

    Raises:
        TaskstateError: code "no-commands": there are none; code "untrusted"; or another baseline is recorded.
    """
    from taskstate.qa.record import require_baseline_possible
    from taskstate.qa.run import run_commands
    from taskstate.qa.trust import require_trusted

    workspace = call.workspace
    loaded, why = require_baseline_possible(workspace, task, why)
    instead = f"run them yourself: `taskstate qa baseline {task} --qa-log LOG`"
    commands = require_trusted(workspace, loaded, instead=instead)
    if not commands:
        message = f"neither task {task} nor the configuration names validation commands"
        raise TaskstateError(
            message, help=f"give their log: `taskstate qa baseline {task} --qa-log LOG`", code="no-commands"
        )
    timeout = workspace.config.validation_run.timeout
    return run_commands(workspace, commands, timeout=timeout, progress=call.progress), why


def _recorded(call: Call, recorded: RecordResult, *, role: str = "", changed_files: Sequence[str] = ()) -> Result:
    """Return what was recorded; `changed_files` are those that the commands changed."""
    results = {name: result._asdict() for name, result in sorted(recorded.results.items())}
    owner = f"results of the {role}" if role else "baseline"
    text = "\n".join([f"{owner} recorded", *_table(recorded.results)])
    return changed(call, recorded.outcome, text, role=role or None, results=results, changed_files=[*changed_files])


def _results_of(call: Call, log: Source, asked: Record | Baseline) -> Results:
    """Return the results in a log, with those given by hand."""
    from taskstate.qa.record import QaRequest, results_of

    texts = dict(_pairs(asked.result, "--result", 'test="212 passed"'))
    return results_of(call.workspace, QaRequest(_content(log), texts, dict(_statuses(asked.exit_status))))


def _content(log: Source) -> bytes:
    from taskstate.storage import files

    try:
        return log.read(MAX_BYTES)
    except TaskstateError as error:
        if error.code != "too-large":
            raise
        end = f"`tail -c 50M {files.shown(log.name)} | taskstate qa record … --from -`"
        raise TaskstateError(
            error.message, help=f"tools tell their results at the end: {end}", code=error.code
        ) from error


def _pairs(values: Sequence[str], flag: str, example: str) -> Iterator[tuple[str, str]]:
    names: set[str] = set()
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name or name in names:
            message = f"{flag} gives {name!r} twice" if name in names else f"{flag} {value!r} has no name and value"
            raise usage_error(f"qa record: {message}", help=f"write {flag} {example}")
        names.add(name)
        yield name, text


def _statuses(values: Sequence[str]) -> Iterator[tuple[str, int]]:
    for name, text in _pairs(values, "--exit-status", "test=0"):
        if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
            raise usage_error(
                f"qa record: {text!r} is not an exit status", help="write a whole number, such as --exit-status test=1"
            )
        yield name, int(text)


def _table(results: Mapping[str, CheckResult]) -> Iterator[str]:
    width = max(map(len, results), default=0)
    for name, result in sorted(results.items()):
        yield f"  {name:{width}}  {'ok  ' if result.ok else 'FAIL'}  {result.text}"


def compare(call: Call, asked: Compare) -> Result:
    """Compare a role's results with the baseline; exit with status 1 if any became worse."""
    from taskstate.qa.record import compare_role

    role_comparison = compare_role(call.workspace, call.task_id(asked.id), asked.role)
    comparison = role_comparison.comparison
    data = {
        "regressions": [each._asdict() for each in comparison.regressions],
        "improvements": [each._asdict() for each in comparison.improvements],
        "same": list(comparison.same),
    }
    return Result(data, "\n".join(_lines(role_comparison)), status=1 if comparison.regressions else 0)


def _lines(role_comparison: RoleComparison) -> Iterator[str]:
    comparison = role_comparison.comparison
    names = [each.name for each in (*comparison.regressions, *comparison.improvements)] + list(comparison.same)
    width = max(map(len, names), default=0)
    for word, differences in (("worse", comparison.regressions), ("better", comparison.improvements)):
        for each in differences:
            figures = " -> ".join(text if text is not None else "-" for text in (each.before, each.after))
            yield f"{word:6}  {each.name:{width}}  {each.detail} ({figures})"
    for name in comparison.same:
        yield f"same    {name:{width}}  {role_comparison.results[name].text}"


OPERATIONS = (
    Operation(
        "qa record",
        "record the results in a log",
        record,
        Record,
        writes=True,
        compares="the role's own snapshot, else what the last role left; without `--role` the base, as `qa baseline`",
        apart=(("--role", "--note"),),
    ),
    Operation(
        "qa baseline",
        "run the validation commands, and record the baseline",
        baseline,
        Baseline,
        writes=True,
        compares="the base; if the tree differs, the baseline is late",
        together=(
            ("--redo", "--note", "say with --note why the baseline is replaced"),
            ("--result", "--qa-log", "give the log of the checks"),
            ("--exit-status", "--qa-log", "give the log of the checks"),
        ),
    ),
    Operation("qa compare", "compare a role's results with the baseline", compare, Compare),
)

"""`taskstate qa`: records the results of checks, and compares those of a role with the baseline."""

from __future__ import annotations

import sys

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation, read_bytes
from taskstate.errors import TaskstateError
from taskstate.messages import first_of
from taskstate.storage.files import MAX_BYTES
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.model.tool_blocks import CheckResult
    from taskstate.verification.qa.record import RecordResult, Results, RoleComparison
    from taskstate.verification.qa.run import CommandRun

_MAX_FILES = 10  # named in a warning
_DIGITS = 10  # of an exit status, which on some systems is a large number


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    record = parser.add_action(
        "record",
        "record the results in a log",
        "Record the results in a log as the baseline, or with --role as the results of that role.",
    )
    record.add_argument(
        "--from", dest="log", metavar="LOG", required=True, help="log of the checks; - reads standard input"
    )
    record.add_argument("--role", metavar="R", default="", help="role that ran the checks")
    _add_given_results(record)
    record.add_writing(run=run_record)
    baseline = parser.add_action(
        "baseline",
        "run the validation commands, and record the baseline",
        "Run the validation commands that `taskstate trust` has allowed, and record their results as the baseline.",
    )
    baseline.add_argument(
        "--qa-log", metavar="F", help="log of the checks, which are not run then; - reads standard input"
    )
    _add_given_results(baseline)
    baseline.add_argument("--redo", action="store_true", help="replace the baseline that is recorded; needs --note")
    baseline.add_argument("--note", metavar="T", help="why it is replaced, for the audit")
    baseline.add_writing(run=run_baseline)
    compare = parser.add_action(
        "compare",
        "compare a role's results with the baseline",
        "Compare a role's results with the baseline; exit with status 1 if any became worse.",
    )
    compare.add_argument("--role", metavar="R", required=True, help="role whose results to compare")
    compare.add_common(run=run_compare)


def _add_given_results(parser: Parser) -> None:
    parser.add_repeatable("--result", "NAME=TEXT", 'result that is not in the log, such as test="212 passed, 1 failed"')
    parser.add_repeatable("--exit-status", "NAME=N", "exit status of a check, such as lint=0")


def run_record(invocation: Invocation) -> int:
    """Record the results in a log."""
    from taskstate.verification.qa.record import record_baseline, record_role

    args, workspace = invocation.args, invocation.workspace
    found = _results_of(invocation, args.log)
    if not args.role:
        return _print_recorded(invocation, record_baseline(workspace, invocation.task, found, invocation.request()))
    recorded = record_role(workspace, invocation.task, found, invocation.request(), role=args.role)
    return _print_recorded(invocation, recorded, role=args.role)


def run_baseline(invocation: Invocation) -> int:
    """Run the validation commands, or read a log, and record the baseline."""
    from taskstate.verification.qa.record import Results, record_baseline

    args = invocation.args
    note = invocation.flag_value("note")
    if args.redo != bool(note):
        raise usage_error("--redo and --note go together", help="say with --note why the baseline is replaced")
    if args.qa_log is None and (args.result or args.exit_status):
        raise usage_error("--result and --exit-status go with --qa-log", help="give the log of the checks")
    ran = _run_commands(invocation, note) if args.qa_log is None else None
    found = Results(ran.results, ran.log) if ran else _results_of(invocation, args.qa_log)
    recorded = record_baseline(invocation.workspace, invocation.task, found, invocation.request(), redo=note)
    changed, untracked = (ran.changed, ran.untracked) if ran else ((), ())
    if changed:
        invocation.print_problems((f"warning: the commands changed tracked files: {_names(changed)}",))
    notes = (f"they left untracked files: {_names(untracked)}",) if untracked else ()
    outcome = recorded.outcome._replace(notes=(*recorded.outcome.notes, *notes))
    return _print_recorded(invocation, recorded._replace(outcome=outcome), changed_files=changed)


def _names(paths: Sequence[str]) -> str:
    from taskstate.storage import files

    return first_of([files.shown(path) for path in paths], _MAX_FILES)


def _run_commands(invocation: Invocation, redo: str) -> CommandRun:
    """Run the validation commands of the task.

    Raises:
        TaskstateError: code "no-commands": there are none; code "untrusted"; or another baseline is recorded.
    """
    from taskstate.cli.terminal import is_terminal
    from taskstate.verification.qa.record import require_baseline_possible
    from taskstate.verification.qa.run import run_commands
    from taskstate.verification.qa.trust import require_trusted

    workspace, task = invocation.workspace, invocation.task
    loaded = require_baseline_possible(workspace, task, redo=redo)
    instead = f"run them yourself: `taskstate qa baseline {task} --qa-log LOG`"
    commands = require_trusted(workspace, loaded, instead=instead)
    if not commands:
        message = f"neither task {task} nor the configuration names validation commands"
        raise TaskstateError(
            message, help=f"give their log: `taskstate qa baseline {task} --qa-log LOG`", code="no-commands"
        )

    def progress(line: str) -> None:
        if is_terminal(sys.stderr):
            invocation.print_notes((line,))

    return run_commands(workspace, commands, timeout=workspace.config.validation_run.timeout, progress=progress)


def _print_recorded(
    invocation: Invocation, recorded: RecordResult, *, role: str = "", changed_files: Sequence[str] = ()
) -> int:
    """Print what was recorded, and return the exit status; `changed_files` are those that the commands changed."""
    results = {name: result._asdict() for name, result in sorted(recorded.results.items())}
    owner = f"results of the {role}" if role else "baseline"
    text = "\n".join([f"{owner} recorded", *_table(recorded.results)])
    return invocation.print_outcome(
        recorded.outcome, text, role=role or None, results=results, changed_files=[*changed_files]
    )


def _results_of(invocation: Invocation, log: str) -> Results:
    """Return the results in a log, with those given by hand."""
    from taskstate.verification.qa.record import QaRequest, results_of

    args = invocation.args
    texts = dict(_pairs(args.result, "--result", 'test="212 passed"'))
    return results_of(invocation.workspace, QaRequest(_log(log), texts, dict(_statuses(args.exit_status))))


def _log(name: str) -> bytes:
    from taskstate.storage import files

    try:
        return read_bytes(name, MAX_BYTES)
    except TaskstateError as error:
        if error.code != "too-large":
            raise
        help_ = (
            f"tools tell their results at the end: `tail -c 50M {files.shown(name)} | taskstate qa record … --from -`"
        )
        raise TaskstateError(error.message, help=help_, code=error.code) from error


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
                f"qa record: {text!r} is no exit status", help="write a whole number, such as --exit-status test=1"
            )
        yield name, int(text)


def _table(results: Mapping[str, CheckResult]) -> Iterator[str]:
    width = max(map(len, results), default=0)
    for name, result in sorted(results.items()):
        yield f"  {name:{width}}  {'ok  ' if result.ok else 'FAIL'}  {result.text}"


def run_compare(invocation: Invocation) -> int:
    """Compare a role's results with the baseline."""
    from taskstate.verification.qa.record import compare_role

    role_comparison = compare_role(invocation.workspace, invocation.task, invocation.args.role)
    comparison = role_comparison.comparison
    data = {
        "regressions": [each._asdict() for each in comparison.regressions],
        "improvements": [each._asdict() for each in comparison.improvements],
        "same": list(comparison.same),
    }
    return invocation.print_result(data, "\n".join(_lines(role_comparison)), status=1 if comparison.regressions else 0)


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

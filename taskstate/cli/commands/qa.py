"""`taskstate qa`: records the results of checks, and compares those of a role with the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.invocation import Invocation, read_bytes
from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from taskstate.model.tool_blocks import CheckResult
    from taskstate.verification.qa.record import RoleComparison

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
    record.add_repeatable("--result", "NAME=TEXT", 'result that is not in the log, such as test="212 passed, 1 failed"')
    record.add_repeatable("--exit-status", "NAME=N", "exit status of a check, such as lint=0")
    record.add_writing(run=run_record)
    compare = parser.add_action(
        "compare",
        "compare a role's results with the baseline",
        "Compare a role's results with the baseline; exit with status 1 if any became worse.",
    )
    compare.add_argument("--role", metavar="R", required=True, help="role whose results to compare")
    compare.add_common(run=run_compare)


def run_record(invocation: Invocation) -> int:
    """Record the results in a log."""
    from taskstate.verification.qa.record import QaRequest, record

    args = invocation.args
    texts = dict(_pairs(args.result, "--result", 'test="212 passed"'))
    qa_request = QaRequest(_log(args.log), texts, dict(_statuses(args.exit_status)))
    recorded = record(invocation.workspace, invocation.task, qa_request, invocation.request(), role=args.role)
    results = {name: result._asdict() for name, result in sorted(recorded.results.items())}
    owner = f"results of the {args.role}" if args.role else "baseline"
    lines = [f"{owner} recorded", *_table(recorded.results)]
    return invocation.print_outcome(recorded.outcome, "\n".join(lines), role=args.role or None, results=results)


def _log(name: str) -> bytes:
    from taskstate.storage import files

    try:
        return read_bytes(name)
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

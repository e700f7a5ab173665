"""Prints the findings of `taskstate lint`, and the diff of its fixes."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from taskstate.cli.arguments import usage_error
from taskstate.cli.invocation import Invocation
from taskstate.cli.terminal import shows_colour
from taskstate.lint.reporters import FOR_PEOPLE, Run, reporter
from taskstate.syntax.spans import printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from taskstate.errors import TaskstateError
    from taskstate.lint.runner import LintRun, Report
    from taskstate.model.config import Config


@contextmanager
def checking(invocation: Invocation, config: Config) -> Iterator[LintRun]:
    """Yield the settings of a lint run; print notes on what cannot be checked, and save the cache at the end."""
    from taskstate.lint.runner import LintRequest, open_run

    args = invocation.args
    lint_request = LintRequest(
        now=_now(),
        against=args.against or ("HEAD" if args.staged else ""),
        staged=args.staged,
        remember=not args.no_cache,
        jobs=args.jobs,
    )
    settings, notes = open_run(invocation.any_workspace, config, lint_request)
    invocation.print_problems(notes)
    try:
        yield settings
        if settings.cache:
            settings.cache.save()
    finally:
        settings.repository.close()


def _now() -> str:
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def check_flags(invocation: Invocation) -> None:
    """Refuse conflicting flags, and make `--diff` a dry run of the fixes.

    Raises:
        TaskstateError: code "usage".
    """
    args = invocation.args
    output = args.output_format or "text"
    if args.diff and output not in FOR_PEOPLE:
        raise _clash("--diff prints a diff", f"leave out --diff or --output-format {output}")
    if args.watch and (invocation.as_json or output not in FOR_PEOPLE):
        raise _clash("--watch prints for people", "leave out --watch, or the format")
    if args.watch and "-" in args.paths:
        raise _clash("--watch cannot watch standard input", "name a file or folder instead of -")
    if args.diff:
        args.fix = args.dry_run = True
    if args.staged and args.fix:
        raise _clash("the index cannot be mended", "leave out --staged, mend the files, and stage them again")
    if args.jobs < 0:
        raise _clash(f"--jobs {args.jobs} is no number of processes", "leave it out for one on each core")


def _clash(problem: str, help_: str) -> TaskstateError:
    return usage_error(f"lint: {problem}", help=help_)


def print_report(invocation: Invocation, report: Report, diff: str = "") -> int:
    """Print the findings, and return the exit status; `diff` contains the fixes of a dry run."""
    args = invocation.args
    status = status_of(invocation, report)
    if invocation.as_json:
        from taskstate.lint.reporters.json import shape

        data = shape(report.findings, files=report.files)
        return invocation.print_result(
            data | {"diff": diff} if args.diff else data, "", status=1 if args.diff and diff else status
        )
    if args.diff:
        return _print_only_diff(invocation, report, diff, status)
    for_people = (args.output_format or "text") in FOR_PEOPLE
    if diff and for_people:
        print_diff(invocation, diff)
    if not (args.quiet and status == 0 and for_people):
        sys.stdout.write(rendered(invocation, report, sys.stdout))
    return status


def status_of(invocation: Invocation, report: Report) -> int:
    """Return 1 if there are errors, or any findings with `--strict`."""
    errors = any(finding.diagnostic.severity == "error" for finding in report.findings)
    return 1 if errors or (invocation.args.strict and report.findings) else 0


def rendered(invocation: Invocation, report: Report, stream: TextIO) -> str:
    """Return the report in the requested format, for output on `stream`."""
    name = invocation.args.output_format or "text"
    if invocation.args.statistics and name in FOR_PEOPLE:
        name = "statistics"
    elif invocation.args.statistics:
        invocation.print_notes((f"--statistics does not go with --output-format {name}, which stays as it is",))
    colour = name in {*FOR_PEOPLE, "statistics"} and shows_colour(stream, refused=invocation.args.no_color)
    return reporter(name)(report.findings, Run(files=report.files, colour=colour))


def print_diff(invocation: Invocation, diff: str) -> None:
    """Print a unified diff, in colour on a terminal."""
    if diff and not invocation.args.quiet:
        from taskstate.lint.reporters.colors import Painter

        sys.stdout.write(Painter(shows_colour(sys.stdout, refused=invocation.args.no_color)).diff(printable(diff)))


def _print_only_diff(invocation: Invocation, report: Report, diff: str, status: int) -> int:
    """Print the diff alone on standard output, for piping, and the summary on standard error."""
    from taskstate.lint.reporters.text import summary

    print_diff(invocation, diff)
    if diff:
        summary_line = "Something would change; nothing was written."
    else:
        summary_line = f"Nothing would change. {summary(report.findings, files=report.files)}"
    invocation.print_notes((summary_line,))
    return 1 if diff else status

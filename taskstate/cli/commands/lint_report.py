"""Prints the findings of `taskstate lint`, and the diff of its fixes."""

from __future__ import annotations

import sys
from contextlib import contextmanager

from taskstate.cli.arguments import usage_error
from taskstate.cli.hook_scope import is_last_commit, place_and_base
from taskstate.cli.invocation import Invocation
from taskstate.cli.terminal import shows_colour
from taskstate.lint.reporters import FOR_PEOPLE, STATISTICS, Run, nothing_found, reporter
from taskstate.storage.paths import real
from taskstate.syntax.spans import printable, without_commands
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TextIO

    from taskstate.errors import TaskstateError
    from taskstate.lint.runner import LintRun, Report
    from taskstate.model.config import Config


@contextmanager
def checking(invocation: Invocation, config: Config) -> Iterator[LintRun]:
    """Yield the settings of a lint run; print notes on what cannot be checked, and save the cache at the end."""
    from taskstate.lint.runner import LintRequest, open_run

    args = invocation.args
    place, against = place_and_base(args, invocation.any_workspace.root)
    lint_request = LintRequest(
        now=now(),
        against=against,
        place=place,
        last_commit=is_last_commit(args, invocation.any_workspace.root),
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


def now() -> str:
    """Return the present time as a timestamp."""
    import time

    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def check_flags(invocation: Invocation) -> None:
    """Refuse conflicting flags, and make `--diff` a dry run of the fixes.

    Raises:
        TaskstateError: code "usage".
    """
    args = invocation.args
    _check_output(invocation)
    if args.diff:
        args.fix = args.dry_run = True
    if args.staged and args.fix:
        raise _clash("the index cannot be mended", "leave out --staged, mend the files, and stage them again")
    if args.add_ignores and (args.fix or args.diff or args.staged or "-" in args.paths):
        raise _clash(
            "--add-ignores writes into the files", "leave out --fix, --diff, --staged and -; --dry-run shows it"
        )
    if args.against is not None and not args.against.strip():  # a variable that is not set, in a script
        raise _clash("--against names no revision", "name one, or `none` to compare with nothing")
    if args.jobs < 0:
        raise _clash(f"--jobs {args.jobs} is no number of processes", "leave it out for one on each core")


def _check_output(invocation: Invocation) -> None:
    """Refuse flags about the output that do not go together."""
    args = invocation.args
    output = args.output_format or "text"
    if args.diff and output not in FOR_PEOPLE:
        raise _clash("--diff prints a diff", f"leave out --diff or --output-format {output}")
    if args.watch and (invocation.as_json or output not in FOR_PEOPLE):
        raise _clash("--watch prints for people", "leave out --watch, or the format")
    if args.watch and "-" in args.paths:
        raise _clash("--watch cannot watch standard input", "name a file or folder instead of -")
    if args.statistics and output not in STATISTICS:
        raise _clash(f"there are no statistics in the format {output}", f"use one of {', '.join(STATISTICS)}")
    if args.output_file is not None and (args.diff or invocation.as_json):
        given = "--diff" if args.diff else "--format json"
        raise _clash(f"{given} prints on standard output", "leave out --output-file, or use --output-format")


def _clash(problem: str, help_: str) -> TaskstateError:
    return usage_error(f"lint: {problem}", help=help_)


def print_report(invocation: Invocation, report: Report, diff: str = "") -> int:
    """Print the findings, and return the exit status; `diff` contains the fixes of a dry run."""
    args = invocation.args
    status = status_of(invocation, report)
    if invocation.as_json:
        data = _data(invocation, report)
        changes = args.diff and diff and not args.exit_zero
        return invocation.print_result(
            data | {"diff": diff} if args.diff else data, "", status=1 if changes else status
        )
    if args.diff:
        return _print_only_diff(invocation, report, diff, status)
    if diff and (args.output_format or "text") in FOR_PEOPLE:
        print_diff(invocation, diff)
    print_findings(invocation, report, sys.stdout)
    return status


def _data(invocation: Invocation, report: Report) -> dict[str, Any]:
    """Return the findings, or with `--statistics` their numbers, as JSON values."""
    from taskstate.lint.reporters.json import shape
    from taskstate.lint.reporters.statistics import statistics_shape

    shape_of = statistics_shape if invocation.args.statistics else shape
    return shape_of(report.findings, files=report.files)


def status_of(invocation: Invocation, report: Report) -> int:
    """Return 1 if there are errors, or any findings with `--strict`; with `--exit-zero` always 0."""
    if invocation.args.exit_zero:
        return 0
    errors = any(finding.diagnostic.severity == "error" for finding in report.findings)
    return 1 if errors or (invocation.args.strict and report.findings) else 0


def print_findings(invocation: Invocation, report: Report, stream: TextIO) -> None:
    """Print the report in the requested format on `stream`, or write it to the file of `--output-file`."""
    args = invocation.args
    if args.output_file is None:
        stream.write(_rendered(invocation, report, colour=shows_colour(stream, refused=args.no_color)))
        return
    from taskstate.workspace.artifacts import save_as

    path = real(invocation.flag_value("output_file"))
    save_as(invocation.any_workspace, path, _rendered(invocation, report, colour=False))


def _rendered(invocation: Invocation, report: Report, *, colour: bool) -> str:
    args = invocation.args
    name = args.output_format or "text"
    if args.statistics:
        name = "statistics_json" if name == "json" else "statistics"
    if name == "text" and not (report.findings or colour or args.quiet):
        return f"{nothing_found(report.files)}\n"
    for_people = name in {*FOR_PEOPLE, "statistics"}
    run = Run(files=report.files, colour=colour and for_people, strict=args.strict, summarised=not args.quiet)
    rendered = reporter(name)(report.findings, run)
    return without_commands(rendered) if for_people else rendered


def print_diff(invocation: Invocation, diff: str) -> None:
    """Print a unified diff, in colour on a terminal."""
    if diff and not invocation.args.quiet:
        from taskstate.lint.reporters.colors import Painter

        shown = without_commands(printable(diff))
        sys.stdout.write(Painter(shows_colour(sys.stdout, refused=invocation.args.no_color)).diff(shown))


def _print_only_diff(invocation: Invocation, report: Report, diff: str, status: int) -> int:
    """Print the diff alone on standard output, for piping, and the summary on standard error."""
    from taskstate.lint.reporters.text import summary

    print_diff(invocation, diff)
    if diff:
        summary_line = "Something would change; nothing was written."
    else:
        summary_line = f"Nothing would change. {summary(report.findings, files=report.files)}"
    invocation.print_notes((summary_line,))
    return 1 if diff and not invocation.args.exit_zero else status

"""Prints the findings of `taskstate lint`, and the diff of its fixes."""

from __future__ import annotations

import sys

from taskstate.cli.terminal import shows_colour
from taskstate.lint.reporters import FOR_PEOPLE, STATISTICS, Run, nothing_found, reporter
from taskstate.operations.call import usage_error
from taskstate.operations.lint import require_alone, shape_of, status_of
from taskstate.operations.result import Result
from taskstate.storage.paths import real
from taskstate.syntax.spans import printable, without_commands
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO

    from taskstate.cli.output import CommandLineCall
    from taskstate.errors import TaskstateError
    from taskstate.lint.runner import Report
    from taskstate.operations.lint import Lint


def require_fitting(call: CommandLineCall, asked: Lint) -> None:
    """Refuse flags that do not go together.

    Raises:
        TaskstateError: code "usage".
    """
    require_alone(asked)
    _check_output(asked, as_json=call.as_data)
    reads_input = "-" in map(str, asked.paths)
    if asked.staged and (asked.fix or asked.diff):
        raise _clash("the index cannot be fixed", "leave out --staged, fix the files, and stage them again")
    if asked.add_ignores and (asked.fix or asked.diff or asked.staged or reads_input):
        raise _clash(
            "--add-ignores writes into the files", "leave out --fix, --diff, --staged and -; --dry-run shows it"
        )
    if asked.against is not None and not asked.against.strip():  # a variable that is not set, in a script
        raise _clash("--against names no revision", "name one, or `none` to compare with nothing")
    if asked.jobs < 0:
        raise _clash(f"--jobs {asked.jobs} is not a number of processes", "leave it out for one on each core")


def _check_output(asked: Lint, *, as_json: bool) -> None:
    """Refuse flags about the output that do not go together."""
    output = asked.output_format or "text"
    if asked.diff and output not in FOR_PEOPLE:
        raise _clash("--diff prints a diff", f"leave out --diff or --output-format {output}")
    if asked.watch and (as_json or output not in FOR_PEOPLE):
        raise _clash("--watch prints for people", "leave out --watch, or the format")
    if asked.watch and "-" in map(str, asked.paths):
        raise _clash("--watch cannot watch standard input", "name a file or folder instead of -")
    if asked.statistics and output not in STATISTICS:
        raise _clash(f"there are no statistics in the format {output}", f"use one of {', '.join(STATISTICS)}")
    if asked.output_file is not None and (asked.diff or as_json):
        given = "--diff" if asked.diff else "--format json"
        raise _clash(f"{given} prints on standard output", "leave out --output-file, or use --output-format")


def _clash(problem: str, help_: str) -> TaskstateError:
    return usage_error(f"lint: {problem}", help=help_)


def print_report(call: CommandLineCall, asked: Lint, report: Report, diff: str = "") -> Result:
    """Print the findings, and return what is left to print; `diff` contains the fixes of a dry run."""
    status = status_of(asked, report)
    if call.as_data:
        data = shape_of(asked, report)
        changes = asked.diff and diff and not asked.exit_zero
        return Result(data | {"diff": diff} if asked.diff else data, "", 1 if changes else status)
    if asked.diff:
        return _print_only_diff(call, asked, report, diff)
    if diff and (asked.output_format or "text") in FOR_PEOPLE:
        print_diff(call, diff)
    print_findings(call, asked, report, sys.stdout)
    return Result(None, "", status)


def print_findings(call: CommandLineCall, asked: Lint, report: Report, stream: TextIO) -> None:
    """Print the report in the requested format on `stream`, or write it to the file of `--output-file`."""
    if asked.output_file is None:
        colour = shows_colour(stream, refused=call.output.no_color)
        stream.write(_rendered(call, asked, report, colour=colour))
        return
    from taskstate.workspace.artifacts import save_as

    save_as(call.any_workspace, real(asked.output_file), _rendered(call, asked, report, colour=False))


def _rendered(call: CommandLineCall, asked: Lint, report: Report, *, colour: bool) -> str:
    name, is_quiet = asked.output_format or "text", call.output.is_quiet
    if asked.statistics:
        name = "statistics_json" if name == "json" else "statistics"
    if name == "text" and not (report.findings or colour or is_quiet):
        return f"{nothing_found(report.files)}\n"
    for_people = name in {*FOR_PEOPLE, "statistics"}
    run = Run(files=report.files, colour=colour and for_people, strict=asked.strict, summarised=not is_quiet)
    rendered = reporter(name)(report.findings, run)
    return without_commands(rendered) if for_people else rendered


def print_diff(call: CommandLineCall, diff: str) -> None:
    """Print a unified diff, in colour on a terminal."""
    if diff and not call.output.is_quiet:
        from taskstate.lint.reporters.colors import Painter

        shown = without_commands(printable(diff))
        sys.stdout.write(Painter(shows_colour(sys.stdout, refused=call.output.no_color)).diff(shown))


def _print_only_diff(call: CommandLineCall, asked: Lint, report: Report, diff: str) -> Result:
    """Print the diff alone on standard output, for piping, and the summary on standard error."""
    from taskstate.lint.reporters.text import summary

    print_diff(call, diff)
    if diff:
        summary_line = "Something would change; nothing was written."
    else:
        summary_line = f"Nothing would change. {summary(report.findings, files=report.files)}"
    call.notes((summary_line,))
    return Result(None, "", 1 if diff and not asked.exit_zero else status_of(asked, report))

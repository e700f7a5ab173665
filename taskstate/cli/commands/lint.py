"""`taskstate lint`: the operation, with its findings in many formats, for editors, and again at each change."""

from __future__ import annotations

from functools import wraps

from taskstate.cli.commands.lint_report import print_report, require_fitting
from taskstate.operations.lint import LINT, check, lint
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.operations.lint import Lint
    from taskstate.operations.result import Result


@wraps(lint)
def run(call: CommandLineCall, asked: Lint) -> Result:
    """Lint once, or with `--watch` after each change."""
    require_fitting(call, asked)
    if asked.diff:  # a dry run of the fixes
        asked = asked._replace(fix=True)
        call.conditions = call.conditions._replace(dry_run=True)
    if asked.watch:
        from taskstate.cli.commands.watch import watch

        return watch(call, asked, _run)
    return _run(call, asked)


def _run(call: CommandLineCall, asked: Lint) -> Result:
    if [*map(str, asked.paths)] == ["-"]:
        from taskstate.cli.commands import lint_stdin

        return lint_stdin.run(call, asked)
    with call.bar("checking") as bar:
        report, diff = check(call, asked, bar)
    call.problems(report.unreadable)
    result = print_report(call, asked, report, diff)
    return result._replace(status=2) if report.unreadable else result


OPERATIONS = (LINT._replace(run=run),)

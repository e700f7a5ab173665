"""`taskstate lint`: checks state files, and fixes problems."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.commands.lint_report import _now, check_flags, checking, print_report
from taskstate.cli.invocation import Invocation
from taskstate.cli.paths import real, shown
from taskstate.errors import TaskstateError
from taskstate.lint.reporters import FORMATS

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.runner import LintRun, Report
    from taskstate.model.config import Config


def configure(parser: Parser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        help="files and folders to check (default: the repository); - reads standard input",
    )
    parser.add_argument("--fix", action="store_true", help="apply safe fixes, then check again")
    parser.add_argument(
        "--unsafe-fixes", action="store_true", help="with --fix: also apply fixes that may change the meaning"
    )
    parser.add_argument("--diff", action="store_true", help="print the fixes as a unified diff, and write nothing")
    parser.add_argument("--output-format", choices=FORMATS, help="output format for findings (default: text)")
    parser.add_argument("--select", metavar="CODES", help="rule codes or prefixes to check, such as TS4,TS101")
    parser.add_argument("--ignore", metavar="CODES", help="rule codes or prefixes to ignore")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 on warnings, too")
    parser.add_argument(
        "--statistics", action="store_true", help="print the number of findings per rule instead of the findings"
    )
    parser.add_argument(
        "--against", metavar="REV", help="also compare with this revision, whose records must not be rewritten"
    )
    parser.add_argument(
        "--staged", action="store_true", help="check the staged files, compared with HEAD (for git hooks)"
    )
    parser.add_argument("--no-cache", action="store_true", help="disable the cache")
    parser.add_argument("--jobs", metavar="N", type=int, default=0, help="number of processes (default: one per core)")
    parser.add_argument("--watch", action="store_true", help="check again whenever a file changes, until Ctrl-C")
    parser.add_argument("--stdin-filename", metavar="NAME", help="file name to assume for standard input")
    parser.add_writing(run=run)


def run(invocation: Invocation) -> int:
    """Lint once, or with `--watch` after each change."""
    check_flags(invocation)
    if invocation.args.watch:
        from taskstate.cli.commands.lint_watch import watch

        return watch(invocation, _run, _paths(invocation))
    return _run(invocation)


def _run(invocation: Invocation) -> int:
    config = _config(invocation)
    if invocation.args.paths == ["-"]:
        from taskstate.cli.commands import lint_stdin

        return lint_stdin.run(invocation, config)
    report, diff = _check_paths(invocation, config)
    invocation.print_problems(report.unreadable)
    status = print_report(invocation, report, diff)
    return 2 if report.unreadable else status


def _config(invocation: Invocation) -> Config:
    config = invocation.any_workspace.config
    lint = config.lint
    if invocation.args.select is not None:
        lint = lint._replace(select=_codes(invocation.args.select), extend_select=())
    if invocation.args.ignore is not None:
        lint = lint._replace(ignore=(*lint.ignore, *_codes(invocation.args.ignore)))
    return config._replace(lint=lint)


def _codes(text: str) -> tuple[str, ...]:
    """Return the rule codes or prefixes of a comma-separated list.

    Raises:
        TaskstateError: no rule has such a code.
    """
    from taskstate.lint.registry import known_codes

    codes = tuple(code.strip().upper() for code in text.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in known_codes()):
            raise usage_error(f"no lint rule has the code {code}", help="`taskstate rule` lists the rules")
    return codes


def _check_paths(invocation: Invocation, config: Config) -> tuple[Report, str]:
    """Return the report, and the diff of the fixes in a dry run."""
    from taskstate.cli.progress import Bar
    from taskstate.lint.runner import check_files, own_files_in, with_removed

    files, others = own_files_in(invocation.any_workspace, _paths(invocation))
    invocation.print_notes(others)
    with checking(invocation, config) as settings:
        settings.repository.all_files = None if invocation.args.paths else files
        diff = _fix(invocation, files, settings) if invocation.args.fix else ""
        settings.repository.forget()
        settings.repository.now = _now()  # files fixed just now have a later time than the start of the run
        with Bar(
            "checking", enabled=not (invocation.args.quiet or invocation.as_json), no_color=invocation.args.no_color
        ) as bar:
            report = check_files(files, settings, shown, bar)
        if settings.cache and not invocation.args.paths:
            settings.cache.keep(settings.name(path) for path in files)
        return with_removed(report, settings, _paths(invocation), shown), diff


def _fix(invocation: Invocation, paths: tuple[Path, ...], settings: LintRun) -> str:
    """Fix the files, and return the diff of a dry run."""
    from taskstate.lint.fixer import fix_file

    request, diffs = invocation.request(), []
    for path in paths:
        try:
            outcome = fix_file(settings, path, request, unsafe=invocation.args.unsafe_fixes)
        except TaskstateError as error:
            invocation.print_problems((f"not fixed: {error}",))
            continue
        invocation.print_notes(tuple(f"{outcome.path}: {note}" for note in outcome.notes))
        diffs.append(outcome.diff)
    return "".join(diffs)


def _paths(invocation: Invocation) -> list[Path]:
    return [real(path) for path in invocation.args.paths] or [invocation.any_workspace.root]

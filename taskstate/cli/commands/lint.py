"""`taskstate lint`: checks state files, and fixes problems."""

from __future__ import annotations

from taskstate.cli.arguments import Parser, usage_error
from taskstate.cli.commands.lint_report import check_flags, checking, now, print_report
from taskstate.cli.hook_scope import is_commit_hook
from taskstate.cli.invocation import Invocation
from taskstate.errors import TaskstateError
from taskstate.lint.reporters import FORMATS
from taskstate.model.config import Lint
from taskstate.storage.paths import real
from taskstate.typed import TYPE_CHECKING

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
    parser.add_argument(
        "--add-ignores", action="store_true", help="add a comment to the files for each finding, which silences it"
    )
    parser.add_argument("--diff", action="store_true", help="print the fixes as a unified diff, and write nothing")
    parser.add_argument("--output-format", choices=FORMATS, help="output format for findings (default: text)")
    parser.add_argument("--output-file", metavar="FILE", help="write the findings to a file")
    parser.add_argument(
        "--select", metavar="RULES", help="rules to check: codes, prefixes, names, ALL, such as TS4,secret"
    )
    parser.add_argument("--extend-select", metavar="RULES", help="rules to check besides the selected ones")
    parser.add_argument("--ignore", metavar="RULES", help="rules to ignore")
    parser.add_argument("--strict", action="store_true", help="exit with status 1 on warnings, too")
    parser.add_argument("--exit-zero", action="store_true", help="exit with status 0 even if there are findings")
    parser.add_argument(
        "--statistics", action="store_true", help="print the number of findings per rule instead of the findings"
    )
    parser.add_argument(
        "--against",
        metavar="REV",
        help="compare with the place where this revision was left, whose records must not be rewritten; none: with "
        "nothing (default: HEAD, see `append-only`)",
    )
    parser.add_argument(
        "--staged",
        action="store_true",
        help="check the staged files instead, in a commit hook only those that change (for git hooks)",
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
    workspace, args = invocation.any_workspace, invocation.args
    lint = workspace.config.lint
    if (
        lint != Lint()
    ):  # most repositories have no settings, and this spares importing the rules' table for a cached file
        from taskstate.lint.selection import require_known

        require_known(lint, args.config or workspace.root)
    if args.select is not None:
        lint = lint._replace(select=_selectors(args.select), extend_select=())
    if args.extend_select is not None:
        lint = lint._replace(extend_select=(*lint.extend_select, *_selectors(args.extend_select)))
    if args.ignore is not None:
        lint = lint._replace(ignore=(*lint.ignore, *_selectors(args.ignore)))
    return workspace.config._replace(lint=lint)


def _selectors(text: str) -> tuple[str, ...]:
    """Return the rules that a comma-separated list names.

    Raises:
        TaskstateError: code "usage": no rule has such a code or name.
    """
    from taskstate.lint.selection import advice, is_known

    selectors = tuple(each.strip() for each in text.split(",") if each.strip())
    for selector in selectors:
        if not is_known(selector):
            raise usage_error(f"no lint rule has the code or name {selector}", help=advice(selector))
    return selectors


def _check_paths(invocation: Invocation, config: Config) -> tuple[Report, str]:
    """Return the report, and the diff of the fixes in a dry run."""
    from taskstate.cli.progress import Bar
    from taskstate.lint.runner import check_files

    args = invocation.args
    with checking(invocation, config) as settings:
        own_files = _files(invocation, settings)
        settings.repository.all_files = None if args.paths or settings.place else own_files
        diff, refused = _write(invocation, own_files, settings) if args.fix or args.add_ignores else ("", ())
        settings.repository.forget()
        settings.repository.now = now()  # files fixed just now have a later time than the start of the run
        with Bar(
            "checking", enabled=not (invocation.args.quiet or invocation.as_json), no_color=invocation.args.no_color
        ) as bar:
            report = check_files(own_files, settings, bar)
        if settings.cache and not (args.paths or settings.place):
            settings.cache.keep(settings.name(path) for path in own_files)
        report = report._replace(unreadable=(*refused, *report.unreadable))
        return _with_removed(report, invocation, settings), diff


def _with_removed(report: Report, invocation: Invocation, settings: LintRun) -> Report:
    """Return the report with the findings about files that are gone since the compared revision."""
    if settings.repository.history is None:
        return report
    from taskstate.lint.removed import removed_findings, with_removed

    removed = tuple(removed_findings(settings, _paths(invocation)))
    files = report.files + len({finding.path for finding in removed})
    return report._replace(files=files, findings=with_removed(report.findings, removed))


def _files(invocation: Invocation, settings: LintRun) -> tuple[Path, ...]:
    """Return the files to check: those that are named, all, or in a commit hook those that the commit changes."""
    from taskstate.lint.runner import own_files_in, own_files_in_git

    if settings.place and not invocation.args.paths:
        return own_files_in_git(settings, changed=is_commit_hook(invocation.any_workspace.root))
    if settings.repository.history and not invocation.args.paths:
        settings.repository.history.start()  # git looks at the files while they are listed
    own_files, others = own_files_in(invocation.any_workspace, _paths(invocation))
    invocation.print_notes(others)
    return own_files


def _write(invocation: Invocation, paths: tuple[Path, ...], settings: LintRun) -> tuple[str, tuple[str, ...]]:
    """Fix the files or add directives to them; return the diff of a dry run, and a line for each damaged file."""
    from taskstate.lint.fixer import fix_file, ignore_findings
    from taskstate.workspace import damage

    args, request, diffs, refused = invocation.args, invocation.request(), list[str](), list[str]()
    for path in paths:
        try:
            if args.add_ignores:
                outcome = ignore_findings(settings, path, request)
            else:
                outcome = fix_file(settings, path, request, unsafe=args.unsafe_fixes)
        except TaskstateError as error:
            line = f"{'no directives' if args.add_ignores else 'not fixed'}: {error}"
            if error.code in damage.CODES:
                refused.append(line)
            else:
                invocation.print_problems((line,))
            continue
        invocation.print_notes(tuple(f"{outcome.path}: {note}" for note in outcome.notes))
        diffs.append(outcome.diff)
    return "".join(diffs), tuple(refused)


def _paths(invocation: Invocation) -> list[Path]:
    return [real(path) for path in invocation.args.paths] or [invocation.any_workspace.root]

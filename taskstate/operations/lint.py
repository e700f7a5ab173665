"""`lint`: checks state files, and fixes problems."""

from __future__ import annotations

from contextlib import closing, contextmanager

from taskstate.errors import TaskstateError
from taskstate.lint.reporters import FORMATS
from taskstate.model.config import Lint as Settings
from taskstate.operations.call import usage_error
from taskstate.operations.operation import Operation, option, positional, switch
from taskstate.operations.result import Result
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.workspace.hook_scope import is_commit_hook, place_and_base

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import Any

    from taskstate.lint.runner import LintRun, Report
    from taskstate.model.config import Config
    from taskstate.operations.call import Call
    from taskstate.operations.operation import FilePath, Name


class Lint(NamedTuple):
    """The arguments of `lint`; how findings are printed, `watch` and `stdin_filename` are for the command line."""

    paths: tuple[FilePath, ...] = positional(
        "PATH", "files and folders to check (default: the repository); - reads standard input"
    )
    fix: bool = switch("apply safe fixes, then check again")
    unsafe_fixes: bool = switch("with --fix: also apply fixes that may change the meaning")
    add_ignores: bool = switch("silence each finding by a comment in its file")
    diff: bool = switch("print the fixes as a unified diff, and write nothing")
    output_format: str = option("", "output format for findings (default: text)", choices=FORMATS)
    output_file: Name | None = option("FILE", "write the findings to a file")
    select: str | None = option("RULES", "rules to check: codes, prefixes, names, ALL, such as TS4,secret")
    extend_select: str | None = option("RULES", "rules to check besides the selected ones")
    ignore: str | None = option("RULES", "rules to ignore")
    strict: bool = switch("exit with status 1 on warnings, too")
    exit_zero: bool = switch("exit with status 0 even if there are findings")
    statistics: bool = switch("print the number of findings per rule instead of the findings")
    against: str | None = option(
        "REV",
        "report records that were rewritten since the merge base with this revision; none: compare with nothing "
        "(default: HEAD, see `append-only`)",
    )
    at: str | None = option("REV", "check what a commit holds, without looking at the disk; also in a bare repository")
    staged: bool = switch("check the staged files; in a commit hook, only those that change")
    no_cache: bool = switch("disable the cache")
    jobs: int = option("N", "number of processes (default: one per core)", default=0)
    watch: bool = switch("check again whenever a file changes, until Ctrl-C")
    stdin_filename: str = option("NAME", "file name to assume for standard input")


def lint(call: Call, asked: Lint) -> Result:
    """Check state files, and fix problems."""
    report, diff = check(call, asked)
    call.problems(report.unreadable)
    data = shape_of(asked, report) | ({"diff": diff} if asked.diff else {})
    text = "" if call.as_data else text_of(report)
    return Result(data, text, 2 if report.unreadable else status_of(asked, report))


def text_of(report: Report) -> str:
    """Return the findings in full, for a reader without a terminal."""
    from taskstate.lint.reporters import Run
    from taskstate.lint.reporters.text import report as rendered

    return rendered(report.findings, Run(files=report.files))


def shape_of(asked: Lint, report: Report) -> dict[str, Any]:
    """Return the findings, or with `--statistics` their numbers, as JSON values."""
    from taskstate.lint.reporters.json import shape
    from taskstate.lint.reporters.statistics import statistics_shape

    return (statistics_shape if asked.statistics else shape)(report.findings, files=report.files)


def status_of(asked: Lint, report: Report) -> int:
    """Return 1 if there are errors, or any findings with `--strict`; with `--exit-zero` always 0."""
    if asked.exit_zero:
        return 0
    errors = any(finding.diagnostic.severity == "error" for finding in report.findings)
    return 1 if errors or (asked.strict and report.findings) else 0


def check(call: Call, asked: Lint, progress: Callable[[int, int], None] | None = None) -> tuple[Report, str]:
    """Fix the files if that is asked for, check them, and return the report, and the diff of the fixes in a dry run."""
    from taskstate.lint.runner import check_files

    _choose_commit(call, asked)
    with checking(call, asked) as settings:
        own_files = _files(call, asked, settings)
        is_whole = not (asked.paths or settings.place)
        settings.repository.all_files = own_files if is_whole else None
        diff, refused = _write(call, asked, own_files, settings) if asked.fix or asked.add_ignores else ("", ())
        settings.repository.forget()
        settings.repository.now = call.now()  # files fixed just now have a later time than the start of the run
        report = check_files(own_files, settings, progress)
        if settings.cache and is_whole:
            settings.cache.keep(settings.name(path) for path in own_files)
        report = report._replace(unreadable=(*refused, *report.unreadable))
        report = _with_removed(report, _under(call, asked), settings)
        if settings.repository.workspace.other_texts():
            from taskstate.lint.near_names import with_near_names

            report = with_near_names(report, _under(call, asked), settings)
        return report, diff


def _choose_commit(call: Call, asked: Lint) -> None:
    """Let the call read the commit that `--at` names."""
    require_alone(asked)
    if asked.at is not None:
        call.conditions = call.conditions._replace(at=asked.at)  # the command line has done so, to read paths


def require_alone(asked: Lint) -> None:
    """Refuse `--at` beside a flag that writes, or reads something else.

    Raises:
        TaskstateError: code "usage".
    """
    if asked.at is None:
        return
    if not asked.at.strip():  # a variable that is not set, in a script
        raise usage_error("lint: --at names no commit", help="name one, such as HEAD")
    flags = {"--fix": asked.fix, "--add-ignores": asked.add_ignores, "--diff": asked.diff, "--staged": asked.staged}
    flags |= {"--watch": asked.watch, "-": "-" in map(str, asked.paths)}
    given = next((flag for flag, is_given in flags.items() if is_given), "")
    if given:
        help_ = f"leave out --at or {given}"
        raise usage_error("lint: --at checks a commit, which stays as it is", help=help_)


@contextmanager
def checking(call: Call, asked: Lint) -> Iterator[LintRun]:
    """Yield the settings of a run; say what cannot be checked, and save the cache at the end."""
    from taskstate.lint.runner import LintRequest, open_run

    root = call.any_workspace.root
    place, against = place_and_base(root, asked.against, staged=asked.staged)
    request = LintRequest(
        now=call.now(),
        against=against,
        place=place,
        # With `--all-files` of a manager of hooks the last commit is checked, if nothing is staged.
        last_commit=asked.staged and not is_commit_hook(root),
        remember=not asked.no_cache,
        jobs=asked.jobs,
    )
    with closing(call.any_workspace.source):
        settings, notes = open_run(call.any_workspace, _config(call, asked), request)
        call.problems(notes)
        try:
            yield settings
            if settings.cache:
                settings.cache.save()
        finally:
            settings.repository.close()


def _config(call: Call, asked: Lint) -> Config:
    """Return the configuration, with the rules that are selected besides."""
    workspace = call.any_workspace
    lint = workspace.config.lint
    if lint != Settings():  # most repositories have none, which spares importing the rules' table for a cached file
        from taskstate.lint.selection import require_known

        require_known(lint, call.conditions.config or workspace.root)
    if asked.select is not None:
        lint = lint._replace(select=selectors(asked.select), extend_select=())
    if asked.extend_select is not None:
        lint = lint._replace(extend_select=(*lint.extend_select, *selectors(asked.extend_select)))
    if asked.ignore is not None:
        lint = lint._replace(ignore=(*lint.ignore, *selectors(asked.ignore)))
    return workspace.config._replace(lint=lint)


def selectors(text: str) -> tuple[str, ...]:
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


def _under(call: Call, asked: Lint) -> tuple[Path, ...]:
    return asked.paths or (call.any_workspace.root,)


def _with_removed(report: Report, under: tuple[Path, ...], settings: LintRun) -> Report:
    """Return the report with the findings about files that are gone since the compared revision."""
    if settings.repository.history is None:
        return report
    from taskstate.lint.removed import removed_findings, with_removed

    removed = tuple(removed_findings(settings, [*under]))
    files = report.files + len({finding.path for finding in removed})
    return report._replace(files=files, findings=with_removed(report.findings, removed))


def _files(call: Call, asked: Lint, settings: LintRun) -> tuple[Path, ...]:
    """Return the files to check: those that are named, all, or in a commit hook those that the commit changes."""
    from taskstate.lint.runner import own_files_in, own_files_in_git

    if settings.place and not asked.paths:
        return own_files_in_git(settings, changed=is_commit_hook(call.any_workspace.root))
    if settings.repository.history and not asked.paths:
        settings.repository.history.start()  # git looks at the files while they are listed
    own_files, others = own_files_in(call.any_workspace, _under(call, asked))
    call.notes(others)
    return own_files


def _write(call: Call, asked: Lint, paths: tuple[Path, ...], settings: LintRun) -> tuple[str, tuple[str, ...]]:
    """Fix the files or add directives to them; return the diff of a dry run, and a line for each damaged file."""
    from taskstate.lint.fixer import fix_file, ignore_findings
    from taskstate.writing import damage

    request, diffs, refused = call.request(), list[str](), list[str]()
    for path in call.any_workspace.counted("writing", paths):
        try:
            if asked.add_ignores:
                outcome = ignore_findings(settings, path, request)
            else:
                outcome = fix_file(settings, path, request, unsafe=asked.unsafe_fixes)
        except TaskstateError as error:
            line = f"{'no directives' if asked.add_ignores else 'not fixed'}: {error}"
            if error.code in damage.CODES:
                refused.append(line)
            else:
                call.problems((line,))
            continue
        call.notes(tuple(f"{outcome.path}: {note}" for note in outcome.notes))
        diffs.append(outcome.diff)
    return "".join(diffs), tuple(refused)


LINT = Operation("lint", "check state files, and fix problems", lint, Lint, writes=True)
OPERATIONS = (LINT,)

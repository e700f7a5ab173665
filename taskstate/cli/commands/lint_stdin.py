"""`taskstate lint -`: checks or fixes text from an editor on standard input; reads and writes no file itself."""

from __future__ import annotations

import sys

from taskstate.cli.commands.lint_report import print_findings, print_report
from taskstate.cli.output import standard_input
from taskstate.cli.terminal import is_terminal, write_bytes
from taskstate.lint import engine
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.runner import Report
from taskstate.operations.call import usage_error
from taskstate.operations.lint import checking, status_of
from taskstate.operations.result import Result
from taskstate.storage.files import MAX_TEXT
from taskstate.storage.paths import real
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from taskstate.cli.output import CommandLineCall
    from taskstate.lint.runner import LintRun
    from taskstate.operations.lint import Lint


def run(call: CommandLineCall, asked: Lint) -> Result:
    """Lint standard input under the given name; with `--fix`, print the fixed text."""
    name = asked.stdin_filename
    if not name:
        raise usage_error("lint: - needs --stdin-filename", help="name the file, such as task-101-state.md")
    data = standard_input(MAX_TEXT)
    with checking(call, asked) as settings:
        fixed = _fixed(data, name, settings, unsafe=asked.unsafe_fixes) if asked.fix else data
        if call.dry_run:
            return print_report(call, asked, _report(data, name, settings), _diff(name, data, fixed))
        report = _report(fixed, name, settings)
    return _give_back(call, asked, fixed, report) if asked.fix else print_report(call, asked, report)


def _report(data: bytes, name: str, checking: LintRun) -> Report:
    """Return the report on a text; its file name determines the task and the files around it."""
    path = real(name)
    findings = engine.findings(data, checking.name(path), checking.config, RepositoryQueries(checking.repository, path))
    return Report(files=1, findings=findings, unreadable=())


def _fixed(data: bytes, name: str, checking: LintRun, *, unsafe: bool) -> bytes:
    """Return the text with fixes applied; data that is not UTF-8 stays unchanged."""
    text, path = engine.decode(data), real(name)
    if not isinstance(text, str):
        return data
    queries = RepositoryQueries(checking.repository, path)
    return engine.fix(text, checking.name(path), checking.config, queries, unsafe=unsafe).text.encode()


def _diff(name: str, old: bytes, new: bytes) -> str:
    from taskstate.writing.writer import unified_diff

    return unified_diff(name, old.decode(), new.decode()) if old != new else ""


def _give_back(call: CommandLineCall, asked: Lint, data: bytes, report: Report) -> Result:
    """Print the text on standard output, byte for byte, and the remaining findings on standard error."""
    status = status_of(asked, report)
    if call.as_data:
        from taskstate.lint.reporters.json import shape

        text = data.decode("utf-8", errors="replace")
        return Result(shape(report.findings, files=1) | {"text": text}, "", status, is_verbatim=True)
    if is_terminal(sys.stdout):  # for a person, not for an editor: escape control characters
        sys.stdout.write(printable(data.decode("utf-8", errors="replace")))
    else:
        write_bytes(data)
    if report.findings or asked.output_file is not None:
        print_findings(call, asked, report, sys.stderr)
    return Result(None, "", status)

"""`taskstate lint -`: checks the text of an editor, or mends it and gives it back; no file is read or written."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from taskstate.cli.commands.lint_report import checking, rendered, status_of, tell
from taskstate.cli.invocation import standard_input
from taskstate.cli.paths import real
from taskstate.cli.terminal import is_terminal
from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lint.queries.answers import RepositoryQueries
from taskstate.lint.runner import Report
from taskstate.storage.files import MAX_BYTES
from taskstate.syntax.spans import printable

if TYPE_CHECKING:
    from taskstate.cli.invocation import Invocation
    from taskstate.lint.runner import Checking
    from taskstate.model.config import Config


def run(invocation: Invocation, config: Config) -> int:
    """Lint standard input under the name that was given, with `--fix` print it as the fixes leave it."""
    name = invocation.args.stdin_filename
    if not name:
        raise TaskstateError(
            "lint: - needs --stdin-filename", help="name the file, such as task-101-state.md", code="usage"
        )
    data = standard_input(MAX_BYTES)
    with checking(invocation, config) as found:
        fixed = _fixed(data, name, found, unsafe=invocation.args.unsafe_fixes) if invocation.args.fix else data
        if invocation.args.dry_run:
            return tell(invocation, _report(data, name, found), _diff(name, data, fixed))
        report = _report(fixed, name, found)
    return _give_back(invocation, fixed, report) if invocation.args.fix else tell(invocation, report)


def _report(data: bytes, name: str, checking: Checking) -> Report:
    """Return what is found; the file that the text is of says where it belongs, and so what lies around it."""
    path = real(name)
    found = engine.findings(data, checking.name(path), checking.config, RepositoryQueries(checking.repository, path))
    return Report(files=1, findings=tuple(each._replace(path=name) for each in found), unreadable=())


def _fixed(data: bytes, name: str, checking: Checking, *, unsafe: bool) -> bytes:
    """Return what the fixes make of `data`; what is not UTF-8 stays as it is."""
    text, path = engine.decode(data), real(name)
    if not isinstance(text, str):
        return data
    queries = RepositoryQueries(checking.repository, path)
    return engine.fix(text, checking.name(path), checking.config, queries, unsafe=unsafe).text.encode()


def _diff(name: str, old: bytes, new: bytes) -> str:
    from taskstate.workspace.writer import unified_diff

    return unified_diff(name, old.decode(), new.decode()) if old != new else ""


def _give_back(invocation: Invocation, data: bytes, report: Report) -> int:
    """Print the text on standard output, byte for byte, and what is left to mend on standard error."""
    status = status_of(invocation, report)
    if invocation.as_json:
        from taskstate.lint.reporters.json import shape

        text = data.decode("utf-8", errors="replace")
        return invocation.print_result(shape(report.findings, files=1) | {"text": text}, "", status=status)
    if is_terminal(sys.stdout):  # whoever reads it there is no editor
        sys.stdout.write(printable(data.decode("utf-8", errors="replace")))
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    if report.findings and not (invocation.args.quiet and status == 0):
        sys.stderr.write(rendered(invocation, report, sys.stderr))
    return status

"""Reports findings as workflow commands of GitHub Actions, which shows them beside their lines in a pull request."""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters.concise import headline
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run

# In this order: `%` first, since the other replacements add it.
_IN_MESSAGES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_PROPERTIES = (*_IN_MESSAGES, (":", "%3A"), (",", "%2C"))


def report(findings: Sequence[Finding], run: Run) -> str:  # noqa: ARG001 - every reporter is called alike
    """Return a workflow command for each finding."""
    return "".join(_command(finding) for finding in findings)


def _command(finding: Finding) -> str:
    """Return one command; its message repeats the place, because the log shows only the message."""
    diagnostic = finding.diagnostic
    properties = {
        "title": f"{diagnostic.code} {diagnostic.name}",
        "file": finding.path,
        "line": str(finding.line),
        "endLine": str(finding.end_line),
    }
    if finding.line == finding.end_line:  # GitHub rejects an annotation of several lines that has columns
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    where = ",".join(f"{key}={_escaped(value, _IN_PROPERTIES)}" for key, value in properties.items())
    level = "error" if diagnostic.severity == ERROR else "warning"
    message = _escaped(f"{headline(finding)}\n{diagnostic.help}", _IN_MESSAGES)
    return f"::{level} {where}::{message}\n"


def _escaped(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    text = printable(text)
    for char, escape in escapes:
        text = text.replace(char, escape)
    return text

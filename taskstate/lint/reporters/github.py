"""Findings as workflow commands of GitHub Actions, which shows them beside the lines that they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters.concise import headline
from taskstate.syntax.spans import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run

# In this order: the sign that begins an escape comes first.
_IN_MESSAGES = (("%", "%25"), ("\r", "%0D"), ("\n", "%0A"))
_IN_PROPERTIES = (*_IN_MESSAGES, (":", "%3A"), (",", "%2C"))


def report(findings: Sequence[Finding], run: Run) -> str:  # noqa: ARG001 - every reporter is called alike
    """Return a workflow command for each finding."""
    return "".join(_command(finding) for finding in findings)


def _command(finding: Finding) -> str:
    """Return one command; its message says the place too, because the log shows nothing but the message."""
    diagnostic = finding.diagnostic
    properties = {
        "title": f"{diagnostic.code} {diagnostic.name}",
        "file": finding.path,
        "line": str(finding.line),
        "endLine": str(finding.end_line),
    }
    if finding.line == finding.end_line:  # with columns, GitHub refuses an annotation of several lines
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    where = ",".join(f"{key}={_escaped(value, _IN_PROPERTIES)}" for key, value in properties.items())
    level = "error" if diagnostic.severity == ERROR else "warning"
    said = _escaped(f"{headline(finding)}\n{diagnostic.help}", _IN_MESSAGES)
    return f"::{level} {where}::{said}\n"


def _escaped(text: str, escapes: tuple[tuple[str, str], ...]) -> str:
    text = printable(text)
    for char, escape in escapes:
        text = text.replace(char, escape)
    return text

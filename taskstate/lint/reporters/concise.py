"""Reports findings as one line each: for editors, for `grep`, and for people who know the rules."""

from __future__ import annotations

from taskstate.lint.diagnostics import WARNING
from taskstate.lint.reporters import colors
from taskstate.lint.reporters.colors import Painter
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Diagnostic, Finding
    from taskstate.lint.reporters import Run


def report(findings: Sequence[Finding], run: Run) -> str:
    """Return a line for each finding, and nothing where there is none."""
    return "".join(f"{headline(finding, Painter(run.colour))}\n" for finding in findings)


def headline(finding: Finding, colours: Painter = Painter()) -> str:  # noqa: B008 - a frozen record
    """Return a finding as one line: place, code, name and message."""
    diagnostic = finding.diagnostic
    place = colours(one_line(f"{finding.path}:{finding.line}:{finding.column}"), colors.STRONG)
    code = colours(diagnostic.code, colors.WARNING if diagnostic.severity == WARNING else colors.ERROR)
    return f"{place} {code} {diagnostic.name}: {one_line(diagnostic.message)}{_remarks(diagnostic)}"


def _remarks(diagnostic: Diagnostic) -> str:
    """Return in brackets whether this is a warning, and whether there is a fix."""
    remarks = ["warning"] if diagnostic.severity == WARNING else []
    if diagnostic.fix:
        remarks.append("fixable" if diagnostic.fix.safe else "unsafe fix")
    return f" ({', '.join(remarks)})" if remarks else ""

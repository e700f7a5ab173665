"""One line for each finding: for editors, `grep`, and whoever knows the rules."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.lint.diagnostic import WARNING
from taskstate.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.engine import Finding

_BREAKS = re.compile("[\t\n\r\u2028\u2029]")


def report(findings: Sequence[Finding], *, files: int) -> str:  # noqa: ARG001 - every reporter is called alike
    """Return a line for each finding, and nothing where there is none."""
    return "".join(f"{headline(finding)}\n" for finding in findings)


def headline(finding: Finding) -> str:
    """Return where a finding stands, and what it says."""
    diagnostic = finding.diagnostic
    place = f"{finding.path}:{finding.line}:{finding.column}"
    severity = " (warning)" if diagnostic.severity == WARNING else ""
    return one_line(f"{place} {diagnostic.code} {diagnostic.name}: {diagnostic.message}{severity}")


def one_line(text: str) -> str:
    """Return `text` with everything spelled out that would end a line or be obeyed by a terminal."""
    return _BREAKS.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), printable(text))

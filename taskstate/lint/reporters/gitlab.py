"""Reports findings as a GitLab code quality report; merge requests show those that their target branch has not."""

from __future__ import annotations

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters.fingerprint import fingerprints
from taskstate.lint.reporters.json import dumps
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run


def report(findings: Sequence[Finding], run: Run) -> str:  # noqa: ARG001 - every reporter is called alike
    """Return the findings as the JSON that GitLab collects as an artifact."""
    return dumps([_shape(*each) for each in zip(findings, fingerprints(findings), strict=True)])


def _shape(finding: Finding, fingerprint: str) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    return {
        "description": printable(f"{diagnostic.code} {diagnostic.name}: {diagnostic.message} ({diagnostic.help})"),
        "check_name": diagnostic.code,
        "fingerprint": fingerprint,
        "severity": "major" if diagnostic.severity == ERROR else "minor",
        "location": {"path": finding.path, "lines": {"begin": finding.line, "end": finding.end_line}},
    }

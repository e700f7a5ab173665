"""Reports findings as JSON, in the documented shape that programs rely on (docs/commands.md)."""

from __future__ import annotations

import json

from taskstate.lint.diagnostics import cut_off
from taskstate.syntax.spans import printable_json
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run


def report(findings: Sequence[Finding], run: Run) -> str:
    """Return the findings as JSON."""
    return dumps(shape(findings, files=run.files))


def dumps(value: object) -> str:
    """Return `value` as JSON with control characters escaped; a parser reads the same values back."""
    return printable_json(json.dumps(value, ensure_ascii=False, indent=2)) + "\n"


def shape(findings: Sequence[Finding], *, files: int) -> dict[str, Any]:
    """Return the findings as JSON values, and where there may be more than those of a rule in a file."""
    cut = [{"path": path, "code": code} for path, code in cut_off(findings)]
    shape: dict[str, Any] = {"files": files, "findings": [_shape(finding) for finding in findings]}
    return {**shape, "cut": cut} if cut else shape


def _shape(finding: Finding) -> dict[str, Any]:
    diagnostic = finding.diagnostic
    return {
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        "help": diagnostic.help,
        "fixable": diagnostic.fix is not None,
    }

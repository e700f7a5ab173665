"""Reports how many findings each rule has as JSON (docs/linting.md)."""

from __future__ import annotations

from taskstate.lint.reporters.json import dumps
from taskstate.lint.reporters.statistics import statistics_shape
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run


def report(findings: Sequence[Finding], run: Run) -> str:
    """Return the numbers as JSON."""
    return dumps(statistics_shape(findings, files=run.files))

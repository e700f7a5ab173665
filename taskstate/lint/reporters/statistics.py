"""Reports how many findings each rule has instead of the findings: an overview of a repository with many of them."""

from __future__ import annotations

from collections import Counter

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters import colors
from taskstate.lint.reporters.colors import Painter
from taskstate.lint.reporters.text import summary
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run


def report(findings: Sequence[Finding], run: Run) -> str:
    """Return a line for each rule with findings, the most frequent one first, and the summary."""
    ordered = _by_rule(findings)
    count = max((len(str(len(each))) for each in ordered), default=0)
    name = max((len(each[0].diagnostic.name) for each in ordered), default=0)
    rows = [_row(each, count, name, Painter(run.colour)) for each in ordered]
    if not run.summarised:
        return "".join(rows)
    return "".join([*rows, "\n" if rows else "", summary(findings, files=run.files), "\n"])


def statistics_shape(findings: Sequence[Finding], *, files: int) -> dict[str, Any]:
    """Return the numbers as JSON values, in the order of the lines for people."""
    return {"files": files, "statistics": [_shape(each) for each in _by_rule(findings)]}


def _shape(findings: Sequence[Finding]) -> dict[str, Any]:
    first = findings[0].diagnostic
    return {
        "code": first.code,
        "name": first.name,
        "count": len(findings),
        "fixable": sum(each.diagnostic.fix is not None for each in findings),
    }


def _by_rule(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Return the findings of each rule, the most frequent rule first."""
    by_code: dict[str, list[Finding]] = {}
    for finding in findings:
        by_code.setdefault(finding.diagnostic.code, []).append(finding)
    return sorted(by_code.values(), key=lambda each: (-len(each), each[0].diagnostic.code))


def _row(findings: Sequence[Finding], count: int, name: int, colours: Painter) -> str:
    first = findings[0].diagnostic
    is_error = any(finding.diagnostic.severity == ERROR for finding in findings)
    code = colours(first.code, colors.ERROR if is_error else colors.WARNING)
    return f"{len(findings):{count}}  {code}  {first.name:{name}}  {_fixable_note(findings)}".rstrip() + "\n"


def _fixable_note(findings: Sequence[Finding]) -> str:
    """Return whether a rule's findings can be fixed: `fix`, `unsafe fix`, with their number where not all can be."""
    kinds = Counter("fix" if each.diagnostic.fix.safe else "unsafe fix" for each in findings if each.diagnostic.fix)
    notes = [kind if count == len(findings) else f"{kind} ({count})" for kind, count in sorted(kinds.items())]
    return ", ".join(notes)

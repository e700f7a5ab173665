"""Findings as text: for people, for editors, for programs.

A reporter gets findings and the number of files that were checked, returns a string, and knows nothing else. What
comes out of files is shown with its control characters spelled out, so that no terminal obeys it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from taskstate.lint.reporters import concise, json, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from taskstate.lint.engine import Finding


class Reporter(Protocol):
    """What turns the findings of a number of files into text."""

    def __call__(self, findings: Sequence[Finding], *, files: int) -> str:
        """Return the report."""
        ...


REPORTERS: Mapping[str, Reporter] = {
    "concise": concise.report,
    "json": json.report,
    "text": text.report,
}

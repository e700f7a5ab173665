"""Findings as text: for people, for editors, for programs.

A reporter is a module whose `report` gets findings and what else is known of the run, returns a string, and knows
nothing else. It is imported when it is asked for. What comes out of files is shown with its control characters spelled
out, so that no terminal obeys it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
FOR_PEOPLE = ("text", "concise")


class Run(NamedTuple):
    """What a report says besides the findings: how many files were checked, and whether colours are shown."""

    files: int
    colour: bool = False


class Reporter(Protocol):
    """What turns the findings of a run into text."""

    def __call__(self, findings: Sequence[Finding], run: Run) -> str:
        """Return the report."""
        ...


def reporter(name: str) -> Reporter:
    """Return the reporter of one of the `FORMATS`."""
    from importlib import import_module

    found: Reporter = import_module(f"taskstate.lint.reporters.{name}").report
    return found

"""Reporters: write findings as text for people, editors and programs, one module for each output format.

A reporter's `report` is a pure function from findings and a `Run` to text. Its module is imported on use. Text that
comes from files is printed with control characters spelled out, so that a terminal does not execute them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
FOR_PEOPLE = ("text", "concise")


class Run(NamedTuple):
    """What reporters need besides the findings: the number of checked files, and whether to use colours."""

    files: int
    colour: bool = False


class Reporter(Protocol):
    """A function that writes the findings of a run as text."""

    def __call__(self, findings: Sequence[Finding], run: Run) -> str:
        """Return the report."""
        ...


def reporter(name: str) -> Reporter:
    """Return the reporter of one of the `FORMATS`."""
    from importlib import import_module

    report: Reporter = import_module(f"taskstate.lint.reporters.{name}").report
    return report

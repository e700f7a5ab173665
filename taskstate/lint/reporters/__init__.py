"""Reporters: write findings as text for people, editors and programs, one module for each output format.

A reporter's `report` is a pure function from findings and a `Run` to text. Its module is imported on use. Text that
comes from files is printed with control characters spelled out, so that a terminal does not execute them.
"""

from __future__ import annotations

from taskstate.messages import counted
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from taskstate.lint.diagnostics import Finding

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit")
FOR_PEOPLE = ("text", "concise")
STATISTICS = (*FOR_PEOPLE, "json")  # the formats that have numbers instead of findings, too


class Run(NamedTuple):
    """What reporters need besides the findings.

    `files` is the number of checked files. With `strict` warnings fail the run like errors. A report for people that is
    not `summarised` has the findings alone.
    """

    files: int
    colour: bool = False
    strict: bool = False
    summarised: bool = True


def nothing_found(files: int) -> str:
    """Return the summary of a run without findings, as most are: no reporter needs to be loaded for it."""
    return f"No findings in {counted(files, 'file')}."


def reporter(name: str) -> Callable[[Sequence[Finding], Run], str]:
    """Return the reporter of one of the `FORMATS`."""
    from importlib import import_module

    report: Callable[[Sequence[Finding], Run], str] = import_module(f"taskstate.lint.reporters.{name}").report
    return report

"""Reads the lines of tests/cases/secrets: those with a secret that must be found, and those without.

Each value is stored with a mark inside, which is removed here, so that no scanner of a hosting site takes it for real.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from taskstate.syntax.spans import Span

FOLDER = Path(__file__).parents[1] / "cases" / "secrets"
_MARK, _LINE_END, _BEGIN, _END = "\u2016", "\u00b6", "\u00ab", "\u00bb"


class Line(NamedTuple):
    """A case: the kind of secret, its text of one or more lines, and the span of the secret, or None."""

    kind: str
    text: str
    span: Span | None


@cache
def positive() -> tuple[Line, ...]:
    """Return the lines in which one secret must be found, each with its span."""
    return _read("positive.txt")


@cache
def negative() -> tuple[Line, ...]:
    """Return the lines in which nothing must be found; the kind is the one that they resemble, or `-`."""
    return _read("negative.txt")


def _read(name: str) -> tuple[Line, ...]:
    lines = (FOLDER / name).read_text(encoding="utf-8").split("\n")
    return tuple(_line(line) for line in lines if line and not line.startswith("# "))


def _line(line: str) -> Line:
    kind, _, text = line.partition(" | ")
    text = text.replace(_MARK, "").replace(_LINE_END, "\n")
    start, end = text.find(_BEGIN), text.find(_END)
    span = Span(start, end - len(_BEGIN)) if start >= 0 else None
    return Line(kind, text.replace(_BEGIN, "").replace(_END, ""), span)

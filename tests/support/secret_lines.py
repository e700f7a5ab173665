"""The lines of tests/cases/secrets: what must be found and what must not, read from data files.

Values are written with a mark in them that is taken out here, so that no scanner of a host takes them for real ones.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

from taskstate.syntax.spans import Span

FOLDER = Path(__file__).parents[1] / "cases" / "secrets"
_MARK, _LINE_END, _BEGIN, _END = "\u2016", "\u00b6", "\u00ab", "\u00bb"


class Line(NamedTuple):
    """A line of text (some have several), the kind it is of, and where the value stands in it, or nowhere."""

    kind: str
    text: str
    span: Span | None


@cache
def positive() -> tuple[Line, ...]:
    """Return the lines in which one secret must be found, each with its place."""
    return _read("positive.txt")


@cache
def negative() -> tuple[Line, ...]:
    """Return the lines in which nothing must be found; the kind is what they nearly are, or `-`."""
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

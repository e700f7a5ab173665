"""Names the line because of which a front matter does not parse, and says in words what is wrong with it.

A YAML parser notices many faults only some lines later. The line to blame is the one without which the rest can be
read. Imported only when a front matter has faults.
"""

from __future__ import annotations

import re

from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.spans import Span, line_end
from taskstate.syntax.yaml_emitter import double_quoted
from taskstate.syntax.yaml_parser import read_yaml
from taskstate.typed import NamedTuple

_MAX_LINES = 40  # above a fault; for each that has one of the shapes the front matter is parsed again
_KEY = r"(?:[A-Za-z_][A-Za-z0-9_.-]*)"
_BEFORE = rf"(?:- +)?(?:{_KEY} *: +)?"
_QUOTES = "\"'"


class _Shape(NamedTuple):
    """A malformed shape of a line: `kind` and message, and for what is certain the value that was meant, quoted."""

    kind: str
    pattern: str
    message: str


_SHAPES = (
    _Shape("no-blank", rf"{_KEY}:[^\s:/].*", "the space after the colon is missing"),
    _Shape(
        "quote-unclosed", rf"(?:- +)?(?:{_KEY} *: +)?(?:\"[^\"]*|'[^']*)", "the quote that begins here is never closed"
    ),
    _Shape(
        "bracket-unclosed",
        rf"{_BEFORE}(?:\[[^\]]*|\{{[^}}]*)",
        "the bracket that begins here is never closed",
    ),
    _Shape("equals-sign", rf"{_KEY} *=.*", "there is an equals sign instead of a colon"),
    _Shape("remark", r"(?://|--|;|<!--|/\*).*", "this looks like a remark, which begins with `#` in YAML"),
    _Shape("list-item", r"[-*] .*", "there is a list item instead of a key"),
    _Shape("not-an-entry", rf"(?!{_KEY} *:(?: |$)).*", "this line is not of the form `key: value`"),
)
_INDENTATION = _Shape("indentation", "", "this line is not indented like the lines around it")


def line_to_blame(text: str, start: int, end: int, fault: Fault) -> Fault | None:
    """Return the fault of the line without which the text parses furthest, of several the nearest; None if unclear.

    Searched are the line of `fault` and those above it, as far as they have one of the shapes.
    """
    shaped = ((line, _shape(text, start, line)) for line in lines_upwards(text, start, fault.span.start))
    told = [(_parses_to(text, start, end, line), line, shape) for line, shape in shaped if shape]
    reached, line, shape = max(told, key=lambda each: each[0], default=(0, None, None))
    return _told(text, start, end, line, shape) if line and shape and reached > fault.span.end else None


def lines_upwards(text: str, start: int, at: int) -> list[Span]:
    """Return the line that holds an offset, and those above it, as far as something stands in them."""
    lines = [Span(*each.span()) for each in re.compile(r"[^\r\n]+").finditer(text, start, line_end(text, at))]
    return [line for line in lines[: -_MAX_LINES - 1 : -1] if line.of(text).strip()]


def _parses_to(text: str, start: int, end: int, line: Span) -> int:
    """Return the offset up to which the text parses without a line."""
    without = text[: line.start] + " " * (line.end - line.start) + text[line.end :]
    result = read_yaml(without, start, end)
    return len(text) + 1 if isinstance(result, Node) else result[0].span.start


def _shape(text: str, start: int, line: Span) -> _Shape | None:
    content = line.of(text)
    shape = next((each for each in _SHAPES if re.fullmatch(each.pattern, content.strip(" \t"))), None)
    above = text[start : line.start].rstrip(" \t\r\n")
    return shape or (_INDENTATION if indent_of(content) != indent_of(above[above.rfind("\n") + 1 :]) else None)


def _told(text: str, start: int, end: int, line: Span, shape: _Shape) -> Fault:
    content = line.of(text)
    stripped = content.strip(" \t")
    at = line.start + len(content) - len(content.lstrip(" \t"))
    span = Span(at, at + len(stripped))
    edits = _repair(shape.kind, stripped, span)
    return Fault(span, shape.message, shape.kind, edits if edits and _is_repaired(text, start, end, edits) else ())


def indent_of(line: str) -> int:
    """Return how many spaces begin a line."""
    return len(line) - len(line.lstrip(" "))


def _repair(kind: str, line: str, span: Span) -> tuple[Edit, ...]:
    """Return the edits that give a line the value that was certainly meant."""
    if kind == "no-blank":
        key, _, value = line.partition(":")
        return (Edit(*span, f"{key}: {value}"),)
    if kind == "quote-unclosed" and line[0] not in _QUOTES:
        quote = min(line.find(each) for each in _QUOTES if each in line)
        value = line[quote + 1 :]
        # With a comment, or a list in one line, nobody knows where the value was meant to end.
        return () if re.search(r" #|[\[\]{}]", value) else (Edit(span.start + quote, span.end, double_quoted(value)),)
    return ()


def _is_repaired(text: str, start: int, end: int, edits: tuple[Edit, ...]) -> bool:
    """Return whether the front matter parses with the edits, or its first fault then is below them."""
    repaired = apply(text, edits)
    growth = len(repaired) - len(text)
    if not isinstance(read_yaml(repaired, start, edits[-1].end + growth), Node):
        return False
    result = read_yaml(repaired, start, end + growth)
    return isinstance(result, Node) or result[0].span.start > edits[-1].end + growth

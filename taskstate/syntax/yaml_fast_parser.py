"""Parses front matter of the common shape fast: exactly the tree of `yaml_parser.read_yaml`, or it declines.

The common shape: nested block mappings and lists with simple keys, scalars on one line (plain, or quoted with the
simplest escapes), flow lists and mappings on one line, comments, blank lines, LF or CRLF. All else (tabs, anchors,
tags, text blocks, continuation lines, odd indentation, faults of any kind but keys that are given twice) is left to the
reference parser, which also words the faults. Property tests compare the two trees.
"""

from __future__ import annotations

import re

from taskstate.syntax.nodes import Fault, MapEntry, Node, duplicates, entries_of
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_INDENT = 30  # with the depth in brackets this stays below the nesting limit of `yaml_parser`
_MAX_FLOW_DEPTH = 10

# The character classes below list what they exclude, because a class with wide ranges takes milliseconds to compile.
# Characters that some version of YAML does not read as themselves are excluded beforehand by `_CONTROL` and `_EXOTIC`:
# controls, the further line ends of YAML 1.1, the byte order mark, non-characters.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_EXOTIC = "[\x80-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]"  # compiled for the first text that is not ASCII
_ANY = r"[^\t\r\n]"
_SOLID = r"[^\t\r\n #:]"
_FLOW_SOLID = r"[^\t\r\n #,:?\[\]{}]"
_IN_DOUBLE = r'[^\t\r\n"\\]'
_IN_SINGLE = r"[^\t\r\n']"

_FIRST = r"(?:[^\t\r\n !\"#%&'*,\-:>?@\[\]`{|}]|-(?=[A-Za-z0-9]))"
# Possessive: nothing shorter fits either, and remembering each step of a long value would take 250 bytes a character.
_PLAIN = rf"({_FIRST}(?:{_SOLID}++|:(?=[^\t\r\n ])|(?<!\ )\#|\ ++(?=[^\t\r\n #]))*+)"
_FLOW_PLAIN = rf"({_FIRST}{_FLOW_SOLID}*+(?:\ ++{_FLOW_SOLID}++)*+)"
_DOUBLE = rf"\"({_IN_DOUBLE}*+(?:\\[\"\\nt]{_IN_DOUBLE}*+)*+)\""
_SINGLE = rf"'({_IN_SINGLE}*+(?:''{_IN_SINGLE}*+)*+)'"
_KEY = rf"(?:([A-Za-z_][A-Za-z0-9_.-]{{0,200}})|\"({_IN_DOUBLE}{{0,200}})\"):"
_BRACKET = r"(?=([\[{]))"
_TAIL = rf"\ *(?:(?<![^ \n])\#{_ANY}*)?(?:\r?\n|\Z)"

_LINE = re.compile(rf"(\ *)(-\ +)?(?:{_KEY}(?=\ |\r?\n|\Z)\ *)?(?:(?:{_PLAIN}|{_DOUBLE}|{_SINGLE})?{_TAIL}|{_BRACKET})")
_LINE_TAIL = re.compile(_TAIL)
_FLOW_KEY = re.compile(rf"\ *{_KEY}(?=\ )")
_FLOW_ITEM = re.compile(rf"\ *(?:{_FLOW_PLAIN}|{_DOUBLE}|{_SINGLE}|{_BRACKET})\ *")
_EMPTY_FLOW = re.compile(r"\[ *\]|\{ *\}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}

_new = tuple.__new__  # this path is hot: builds records without calling their Python constructors


class _Line(NamedTuple):
    """A line with content: offset of its first character, indentation, width of its dash (or 0), key and value."""

    start: int
    indent: int
    dash: int
    key: Node | None
    value: Node | None


class _Odd(Exception):
    """The text is not of the common shape; never leaves this module."""


def scan_yaml(text: str, start: int, end: int) -> Node | tuple[Fault, ...] | None:
    """Return the mapping in `text[start:end]` with absolute spans, or None if the reference parser must decide.

    Keys that are given twice are returned as faults: of ten thousand the reference makes a second of work.
    """
    try:
        lines = [] if _is_exotic(text, start, end) else _lines(text, start, end)
        if not lines or lines[0].indent or lines[0].dash:
            return None
        entries, at = _entries(lines, 0, 0)
    except _Odd:
        return None
    if at < len(lines):
        return None
    return _block(entries) if _are_unique(entries) else tuple(duplicates(entries))


def _is_exotic(text: str, start: int, end: int) -> bool:
    if _CONTROL.search(text, start, end):
        return True
    return not text[start:end].isascii() and re.compile(_EXOTIC).search(text, start, end) is not None


def _lines(text: str, start: int, end: int) -> list[_Line]:
    lines: list[_Line] = []
    match = _LINE.match
    at = start
    while at < end:
        line = match(text, at, end)
        if line is None:
            raise _Odd
        # `regs` gives all spans at once: faster than a call of `span` for each group
        _, (_, indent_end), (dash, dash_end), key, quoted_key, plain, double, single, (bracket, _) = line.regs
        value = _scalar(text, plain, double, single)
        next_line = line.end()
        if bracket >= 0:
            value = _flow(text, bracket, end, 1)
            next_line = _line_end(text, value.span.end, end)
        key_node = _scalar(text, key, quoted_key, _NOWHERE)
        if key_node or (value and dash_end > dash):
            lines.append(_new(_Line, (indent_end, indent_end - at, dash_end - dash, key_node, value)))
        elif value or dash_end > dash:
            raise _Odd
        at = next_line
    return lines


_NOWHERE = (-1, -1)


def _scalar(text: str, plain: tuple[int, int], double: tuple[int, int], single: tuple[int, int]) -> Node | None:
    """Return the scalar of the group that matched, given the spans of all three, or None."""
    start, end = plain
    if start >= 0:
        return _new(Node, ("scalar", _new(Span, plain), "plain", text[start:end], (), (), ""))
    start, end = double
    if start >= 0:
        content = text[start:end]
        if "\\" in content:
            content = _ESCAPE.sub(lambda match: _ESCAPED[match[1]], content)
        return _new(Node, ("scalar", _new(Span, (start - 1, end + 1)), "double", content, (), (), ""))
    start, end = single
    if start >= 0:
        content = text[start:end].replace("''", "'")
        return _new(Node, ("scalar", _new(Span, (start - 1, end + 1)), "single", content, (), (), ""))
    return None


def _line_end(text: str, at: int, end: int) -> int:
    tail = _LINE_TAIL.match(text, at, end)
    if tail is None:
        raise _Odd
    return tail.end()


def _mapping(lines: list[_Line], at: int, indent: int) -> tuple[Node, int]:
    """Return the block mapping whose first line is `lines[at]`, and the index of the line behind it."""
    entries, at = _entries(lines, at, indent)
    if at < len(lines) and lines[at].indent > indent:
        raise _Odd
    return _block(_unique(entries)), at


def _entries(lines: list[_Line], at: int, indent: int) -> tuple[list[MapEntry], int]:
    """Return the entries of the block mapping whose first line is `lines[at]`, and the index of the line behind it."""
    entries: list[MapEntry] = []
    while at < len(lines):
        _, line_indent, dash, key, value = lines[at]
        if line_indent != indent or dash or key is None:
            break
        at += 1
        if value is None:
            value, at = _below(lines, at, key, indent)
        entries.append(_new(MapEntry, (key, value)))
    return entries, at


def _block(entries: Sequence[MapEntry]) -> Node:
    span = _new(Span, (entries[0].key.span.start, entries[-1].value.span.end))
    return _new(Node, ("mapping", span, "block", "", entries_of(entries), (), ""))


def _are_unique(entries: Sequence[MapEntry]) -> bool:
    return len({entry.key.text for entry in entries}) == len(entries)


def _unique(entries: list[MapEntry]) -> tuple[MapEntry, ...]:
    if not _are_unique(entries):
        raise _Odd
    return entries_of(entries)


def _below(lines: list[_Line], at: int, key: Node, indent: int) -> tuple[Node, int]:
    """Return the value of a key that stands alone on its line: the block that begins at `lines[at]`, or null."""
    if at < len(lines):
        line = lines[at]
        if line.indent > _MAX_INDENT:
            raise _Odd
        if line.dash and line.indent >= indent:
            return _sequence(lines, at, line.indent)
        if line.indent > indent:
            return _mapping(lines, at, line.indent)
    behind = key.span.end + 1
    return _new(Node, ("scalar", _new(Span, (behind, behind)), "plain", "", (), (), "")), at


def _sequence(lines: list[_Line], at: int, indent: int) -> tuple[Node, int]:
    """Return the block list whose first line is `lines[at]`, and the index of the line behind it."""
    items: list[Node] = []
    start = lines[at].start
    while at < len(lines):
        line = lines[at]
        if line.indent != indent or not line.dash:
            break
        if line.key is None and line.value is not None:
            item, at = line.value, at + 1
        else:
            inner = indent + line.dash
            lines[at] = line._replace(indent=inner, dash=0)  # what follows the dash is the first line of a mapping
            item, at = _mapping(lines, at, inner)
        items.append(item)
    if at < len(lines) and lines[at].indent > indent:
        raise _Odd
    span = _new(Span, (start, items[-1].span.end))
    return _new(Node, ("sequence", span, "block", "", (), tuple(items), "")), at


def _flow(text: str, at: int, end: int, depth: int) -> Node:
    """Return the flow collection whose opening bracket stands at `at`."""
    if depth > _MAX_FLOW_DEPTH:
        raise _Odd
    empty = _EMPTY_FLOW.match(text, at, end)
    if empty:
        kind = "mapping" if text[at] == "{" else "sequence"
        return _new(Node, (kind, _new(Span, empty.span()), "flow", "", (), (), ""))
    return _flow_mapping(text, at, end, depth) if text[at] == "{" else _flow_sequence(text, at, end, depth)


def _flow_sequence(text: str, start: int, end: int, depth: int) -> Node:
    items: list[Node] = []
    at, more = start, True
    while more:
        item, at = _flow_item(text, at + 1, end, depth)
        items.append(item)
        more = _more(text, at, end, "]")
    return _new(Node, ("sequence", _new(Span, (start, at + 1)), "flow", "", (), tuple(items), ""))


def _flow_mapping(text: str, start: int, end: int, depth: int) -> Node:
    entries: list[MapEntry] = []
    at, more = start, True
    while more:
        match = _FLOW_KEY.match(text, at + 1, end)
        if match is None:
            raise _Odd
        key = _scalar(text, match.regs[1], match.regs[2], _NOWHERE)
        value, at = _flow_item(text, match.end(), end, depth)
        entries.append(_new(MapEntry, (key, value)))
        more = _more(text, at, end, "}")
    return _new(Node, ("mapping", _new(Span, (start, at + 1)), "flow", "", _unique(entries), (), ""))


def _more(text: str, at: int, end: int, closing: str) -> bool:
    """Return whether a comma stands at `at`, rather than the closing bracket."""
    if text.startswith(",", at, end):
        return True
    if text.startswith(closing, at, end):
        return False
    raise _Odd


def _flow_item(text: str, at: int, end: int, depth: int) -> tuple[Node, int]:
    """Return the value that begins at `at`, and the offset of the comma or bracket behind it."""
    match = _FLOW_ITEM.match(text, at, end)
    if match is None:
        raise _Odd
    _, plain, double, single, (bracket, _) = match.regs
    node = _scalar(text, plain, double, single)
    if node:
        return node, match.end()
    node = _flow(text, bracket, end, depth + 1)
    at = node.span.end
    while text.startswith(" ", at, end):
        at += 1
    return node, at

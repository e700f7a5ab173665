"""Reads YAML with the right parser: a front matter, or a whole YAML file such as a task file.

A whole file is foreign and may begin with `---` and end with `...`; a front matter must hold neither.
"""

from __future__ import annotations

import re

from taskstate.syntax.nodes import Fault, Node
from taskstate.syntax.yaml_fast_parser import scan_yaml


def read_front_matter(text: str, start: int, end: int) -> Node | tuple[Fault, ...]:
    """Return the mapping in `text[start:end]`, or its faults, each with its cause and, if certain, its repair.

    A `Node` is itself a tuple, so test with `isinstance(result, Node)`.
    """
    node = scan_yaml(text, start, end)
    if node is not None:
        return node
    from taskstate.syntax.yaml_parser import read_yaml  # most front matter is plain

    result = read_yaml(text, start, end)
    if isinstance(result, Node):
        return result
    from taskstate.syntax.yaml_diagnosis import diagnosed

    return diagnosed(text, start, end, result)


# CRLF must match in one way only: with `\r\n?|\n`, 25 lines of comment without a mark take a minute of backtracking.
_LINE_END = r"(?:\r\n|\r(?!\n)|\n)"
_START = rf"\ufeff?(?:[ \t]*(?:#[^\r\n]*)?{_LINE_END})*?---[ \t]*(?:#[^\r\n]*)?{_LINE_END}"
_END = r"(?<=[\r\n])\.\.\.\s*\Z"


def read_yaml_file(text: str) -> Node | tuple[Fault, ...]:
    """Return the span tree of the only document in `text`, or its faults."""
    from taskstate.syntax.yaml_parser import read_yaml

    start, end = re.match(_START, text), re.search(_END, text)
    return read_yaml(text, start.end() if start else 0, end.start() if end else len(text))

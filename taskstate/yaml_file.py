"""Reads a whole YAML file that is somebody else's: a task file, a pre-commit configuration.

Unlike a front matter it may begin with `---` and end with `...`, as such files often do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.yaml_spans import read_yaml

if TYPE_CHECKING:
    from taskstate.data import Fault, Node

_START = re.compile(r"\ufeff?(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n))*?---[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n)")
_END = re.compile(r"(?<=[\r\n])\.\.\.\s*\Z")


def read_yaml_file(text: str) -> Node | tuple[Fault, ...]:
    """Return the span tree of the only document in `text`, or what keeps it from being read."""
    start = _START.match(text)
    end = _END.search(text)
    return read_yaml(text, start.end() if start else 0, end.start() if end else len(text))

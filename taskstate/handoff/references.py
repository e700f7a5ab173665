"""Reads and writes the paths that a handoff names: its file, and its references with a label and what to look for.

Pure. Writer and linter share it, so that what one writes the other understands.
"""

from __future__ import annotations

import re

from taskstate.syntax import escaping
from taskstate.syntax.patterns import CODE
from taskstate.typed import NamedTuple

TO_BE_CREATED = " (to be created)"  # behind the file of Current State, where it does not exist yet

_MARK = r"(?i)(?<![ \t])[ \t]*\(to be created\)[ \t.]*\Z"
_LINK = r"\[[^\]\n]*\]\(<?([^)\s>]++)>?[^)\n]*\)"
_LABEL = r"[*_]*[A-Za-z][\w -]{0,24}:[*_]*[ \t]+(?=[`\[\w./])"
_POSITION = r"(?::L?\d+(?:[-:]L?\d+)?|#[^\s/#]*)\Z"


class Reference(NamedTuple):
    """A reference in three parts that are the text when joined; the path is empty where there is none."""

    before: str
    path: str
    after: str


def split_reference(text: str) -> Reference:
    """Split a reference: the path is in code marks, in a link, or goes up to a comma.

    A label in front (`Plan: docs/plan.md, phase 3`) is no part of the path, and neither is the mark of a new file.
    """
    line = without_mark(text.strip().split("\n", 1)[0].strip())
    label = re.match(_LABEL, line)
    label_end = label.end() if label else 0
    rest = line[label_end:]
    code, link = re.match(CODE, rest), re.match(_LINK, rest)
    path = (code[2] if code else link[1] if link else rest.split(", ", 1)[0]).strip()
    start = text.find(path, text.find(line) + label_end)
    return Reference(text[:start], path, text[start + len(path) :])


def referenced_path(text: str) -> str:
    """Return the path of a reference, empty where there is none."""
    return split_reference(text).path


def without_mark(text: str) -> str:
    """Return the text without `(to be created)` at its end."""
    return re.sub(_MARK, "", text)


def without_position(path: str) -> str:
    """Return a path without a line number or heading behind it, as in `a.py:88` and `a.md#part`."""
    return re.sub(_POSITION, "", path)


def in_code_marks(text: str) -> str:
    """Return a path in code marks, unless it contains one itself.

    Raises:
        TaskstateError: it has several lines.
    """
    path = escaping.one_line(text, what="a path")
    return path if "`" in path else f"`{path}`"


def written_reference(text: str) -> str:
    """Return a reference with its path in code marks, unless it is written in Markdown already.

    Raises:
        TaskstateError: it has several lines.
    """
    before, path, after = split_reference(text)
    if "`" in text or before.endswith(("](", "](<")) or not path:
        return text
    escaping.one_line(text, what="a reference")
    return f"{before}{in_code_marks(path)}{after}"

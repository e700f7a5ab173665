"""The lines of a YAML text as an editor by span needs them: where they begin and end, and what belongs to a text block.

Nothing here changes a text, and nothing reads a value from it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from taskstate.data import last_leaf

if TYPE_CHECKING:
    from taskstate.data import Node

# YAML 1.1 ends a line at all of these, and so does a comment in ruamel.yaml.
_ENDS = "\r\n\x85\u2028\u2029"
_LINE_END = re.compile(f"[{_ENDS}]")


class Lines:
    """The lines of one text; lives as long as one change of it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def start(self, at: int) -> int:
        """Return where the line of an offset begins."""
        return max(self.text.rfind(char, 0, at) for char in _ENDS) + 1

    def end(self, at: int) -> int:
        """Return where the line of an offset ends, its line break not included."""
        found = _LINE_END.search(self.text, at)
        return found.start() if found else len(self.text)

    def break_at(self, at: int) -> str:
        """Return the line break that stands at an offset, or nothing."""
        return "\r\n" if self.text.startswith("\r\n", at) else self.text[at : at + 1]

    def break_before(self, at: int) -> int:
        """Return where the line break in front of the line of an offset stands."""
        start = self.start(at)
        return start - 2 if self.text.endswith("\r\n", 0, start) else start - 1

    def column(self, at: int) -> int:
        """Return the column of an offset."""
        return at - self.start(at)

    def begins(self, at: int) -> bool:
        """Return whether nothing but blanks stands before an offset on its line."""
        return not self.text[self.start(at) : at].strip(" ")

    def above_comments(self, at: int) -> int:
        """Return where the comment lines directly above the line that begins at `at` begin; they belong to it."""
        while at > 0:
            above = self.start(self.break_before(at))
            if not self.text[above:at].lstrip(" ").startswith("#"):
                break
            at = above
        return at

    def takes_in(self, value: Node, at: int, *, column: int | None = None) -> bool:
        """Return whether `value` ends with a text block (`|`, `>`) that lines behind `at` belong to, or would.

        Such lines are blank or, where a `column` is given, indented deeper than it.
        """
        leaf = last_leaf(value)
        if leaf.style not in {"literal", "folded"}:
            return False
        keeps = "+" in self.text[leaf.span.start : self.end(leaf.span.start)]
        while line_break := self.break_at(at):
            start = at + len(line_break)
            at = self.end(start)
            line = self.text[start:at]
            if line.strip(" "):
                return column is not None and len(line) - len(line.lstrip(" ")) > column
            if keeps or line:
                return True
        # Where the text ends with the block, a line end would become part of it.
        return at == self.end(leaf.span.end)

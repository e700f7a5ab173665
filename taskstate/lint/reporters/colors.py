"""Colours text for terminals with ANSI escape sequences.

A library for this (rich) takes longer to import than linting a file takes.
"""

from __future__ import annotations

import re

from taskstate.typed import NamedTuple

ERROR, WARNING, GUTTER, HELP, STRONG = "1;31", "1;33", "34", "36", "1"
REMOVED, ADDED, _HUNK = "31", "32", "36"
_LINE = r"(?m)^(?:(---|\+\+\+) |(@@) |(-)|(\+)).*$"


class Painter(NamedTuple):
    """Colours text if `enabled`; otherwise returns it unchanged."""

    enabled: bool = False

    def __call__(self, text: str, style: str) -> str:
        """Return `text` in a style."""
        return f"\x1b[{style}m{text}\x1b[0m" if self.enabled and text else text

    def diff(self, text: str) -> str:
        """Return a unified diff with removed and added lines in different colours."""
        return re.sub(_LINE, lambda line: self(line[0], self._of(line)), text) if self.enabled else text

    def highlighted(self, text: str, highlights: tuple[tuple[str, str], ...]) -> str:
        """Return a text with what each pattern matches in the style that stands beside it."""
        for pattern, style in highlights:
            text = re.sub(pattern, self(r"\g<0>", style), text)
        return text

    def _of(self, line: re.Match[str]) -> str:
        return (STRONG, _HUNK, REMOVED, ADDED)[(line.lastindex or 1) - 1]

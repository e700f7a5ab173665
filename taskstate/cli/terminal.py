"""What stands at the other end of a stream: whether somebody sees colours there, and whether somebody is watching."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream leads to a terminal on which one can move about."""
    return stream.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}


def shows_colour(stream: TextIO, *, refused: bool) -> bool:
    """Return whether to print in colour: not where it is refused by a flag or NO_COLOR, always with FORCE_COLOR."""
    if refused or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "") not in {"", "0"}:
        return True
    return is_terminal(stream)

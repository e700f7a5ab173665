"""Terminal detection for output streams: whether to use colours and boxes."""

from __future__ import annotations

import os
import sys

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with cursor control."""
    return stream.isatty() and os.environ.get("TERM", "") not in {"", "dumb"}


def size(stream: TextIO) -> tuple[int, int]:
    """Return how many columns and lines a terminal has; 0 for what is none, or does not say it."""
    return os.get_terminal_size(stream.fileno()) if is_terminal(stream) else (0, 0)


def shows_colour(stream: TextIO, *, refused: bool) -> bool:
    """Return whether to print in colour: never if refused by flag or NO_COLOR, always with FORCE_COLOR."""
    if refused or os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "") not in {"", "0"}:
        return True
    return is_terminal(stream)


def write_bytes(data: bytes) -> None:
    """Write to standard output byte for byte: text output would change line ends on Windows."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def boxed(lines: tuple[str, ...], stream: TextIO) -> tuple[str, ...]:
    """Return lines in a frame where `stream` is a terminal that is wide enough, else unchanged."""
    width = max(map(len, lines), default=0)
    if not lines or not is_terminal(stream) or width + 4 > os.get_terminal_size(stream.fileno()).columns:
        return lines
    rule = "\u2500" * (width + 2)
    inside = (f"\u2502 {line.ljust(width)} \u2502" for line in lines)
    return (f"\u256d{rule}\u256e", *inside, f"\u2570{rule}\u256f")

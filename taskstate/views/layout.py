"""How views become lines: what fits a width; ages and bars for who watches a terminal, times for who reads a pipe."""

from __future__ import annotations

import re
import textwrap
import unicodedata

from taskstate.model.write_metadata import moment
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LEAST_WIDTH = 40
NARROW = 70  # below this many columns nothing stands side by side
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_DAYS = 2  # from here on an age is in days
_BAR = 10  # characters
_WIDE = ("W", "F")


class Screen(NamedTuple):
    """What a view is shown on, and when: a terminal that `is_live`, or a pipe that wants the same bytes each time.

    A pipe has no `height`.
    """

    now: str
    width: int = 100
    height: int = 0
    is_live: bool = False

    @property
    def columns(self) -> int:
        """How many columns a line may have."""
        return max(self.width, _LEAST_WIDTH)

    @property
    def is_narrow(self) -> bool:
        """Whether nothing fits side by side."""
        return self.columns < NARROW

    def age(self, since: str) -> str:
        """Return how long ago a time is on a terminal, else the time itself; so is one ahead of the clock."""
        begin, end = moment(since), moment(self.now)
        if not self.is_live or begin is None or end is None or end < begin:
            return re.sub(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\dZ$", r"\1 \2Z", one_line(since))
        seconds = int(end - begin)
        if seconds < _HOUR:
            return f"{seconds // _MINUTE} min"
        if seconds < _DAYS * _DAY:
            return f"{seconds // _HOUR} h {seconds % _HOUR // _MINUTE:02}"
        return f"{seconds // _DAY} days"

    def bar(self, done: int, total: int) -> str:
        """Return a bar on a terminal; nothing elsewhere, where the numbers say it."""
        if not self.is_live or not total:
            return ""
        full = _BAR * done // total
        return "#" * full + "." * (_BAR - full)


def cells(text: str) -> int:
    """Return how many columns a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in _WIDE) for each in text)


def fit(text: str, width: int) -> str:
    """Return a text in one line that takes exactly so many columns: cut with an ellipsis, or filled with blanks."""
    line = " ".join(one_line(text).split())
    if cells(line) > width:
        line = masked(line)  # half of a credential would not be known for one
        while line and cells(line) >= width:
            line = line[: width - 1] if line.isascii() else line[:-1]
        line = (line + "\u2026")[: max(width, 0)]
    return line + " " * (width - cells(line))


def labelled(text: str, label: str, width: int) -> str:
    """Return a text with the branch that it is of behind it, in so many columns: the text is cut first."""
    shown = f" [{fit(label, min(cells(label), width // 3))}]" if label else ""
    line = fit(text, width - cells(shown))
    return fit(line.rstrip() + shown, width)


def wrapped(text: str, screen: Screen, indent: str = "  ") -> list[str]:
    """Return a text in as many lines as it needs."""
    line = masked(" ".join(one_line(text).split()))
    return textwrap.wrap(line, screen.columns, initial_indent=indent, subsequent_indent=indent)


def command(words: str, screen: Screen, indent: int) -> Iterator[str]:
    """Yield a command so that it works when it is copied: a long one goes on behind a backslash."""
    room = screen.columns - indent - 2
    parts, line = re.split(r" (?=--)", one_line(words)), ""
    for part in parts:
        if line and cells(line) + cells(part) + 1 > room:
            yield " " * indent + line + " \\"
            line = f"  {part}"
        else:
            line = f"{line} {part}" if line else part
    yield " " * indent + line


def lines_of(lines: Iterable[str]) -> str:
    """Return lines as a text, none of which ends with blanks."""
    return "\n".join(each.rstrip() for each in lines)

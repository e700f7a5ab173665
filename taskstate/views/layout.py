"""How views become lines: what fits a width; ages and bars for who watches a terminal, times for who reads a pipe."""

from __future__ import annotations

import re
import unicodedata

from taskstate.model.write_metadata import moment
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LEAST_WIDTH = 40
NARROW = 70  # below this many columns nothing stands side by side
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_DAYS = 2  # from here on an age is in days
_BAR = 10  # characters
_WIDE = ("W", "F")
_LEAST_INDENT = 2
EMPTY = "-"  # a cell of a table that has nothing to say
_WORDS = r"(?:`[^`]+`|\S)+\s*"  # a command is one
_ARGUMENTS = r"""(?:"[^"]*"|'[^']*'|\S)+\s*"""


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


def between(begin: str, text: str, end: str, screen: Screen, label: str = "") -> str:
    """Return a line as wide as the screen, with a text in what `begin` and `end` leave of it."""
    return begin + labelled(text, label, screen.columns - cells(begin) - cells(end)) + end


def wrapped(text: str, screen: Screen, indent: str = "  ") -> list[str]:
    """Return a text in as many lines as it needs."""
    return folded(indent + masked(" ".join(one_line(text).split())), screen.columns).split("\n")


def folded(text: str, width: int) -> str:
    """Return a text of which no line is wider, unless it is one word or command: those work when they are copied.

    A line that goes on does so below its last column, if there are some, else a little to the right of its begin.
    """
    every = text.split("\n")
    return "\n".join(part for line in every for part in ((line,) if cells(line) <= width else _folded(line, width)))


def _folded(line: str, width: int) -> Iterator[str]:
    column = line.rfind("  ", 0, width // 2 + 2)
    text = line[column + 2 if column >= 0 else 0 :].lstrip(" ")
    begin = line[: len(line) - len(text)]
    below = cells(begin) if begin.strip() else len(begin) + _LEAST_INDENT
    return filled(begin, text, below, width)


def command(words: str, screen: Screen, indent: int) -> Iterator[str]:
    """Yield a command so that it works when it is copied: a long one goes on behind a backslash."""
    return filled(" " * indent, one_line(words), indent + 2, screen.columns, " \\")


def filled(begin: str, text: str, below: int, width: int, end: str = "") -> Iterator[str]:
    """Yield a text line by line, the first behind its `begin`, others so far to the right; all but the last `end` so.

    A text between backticks is one word; so is what is in quotes in a command, whose lines have an end.
    """
    line = begin
    for word in re.findall(_ARGUMENTS if end else _WORDS, text):
        if line.strip() and cells(line + word.rstrip()) > width - len(end):
            yield line.rstrip() + end
            # What is too long to stand below the column stands further to the left.
            line = " " * (below if below + cells(word.rstrip()) <= width - len(end) else min(below, _LEAST_INDENT))
        line += word
    yield line.rstrip()


def table(rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Return rows in columns below their heads; where they do not fit, each with a line for what is not empty in it."""
    widths = [max(map(cells, column)) for column in zip(*rows, strict=True)]
    padded = ([each + " " * (most - cells(each)) for each, most in zip(row, widths, strict=True)] for row in rows)
    lines = ["  ".join(row).rstrip() for row in padded]
    if max(map(cells, lines)) <= width:
        return lines
    heads = [each.lower() for each in rows[0]]
    parts = ([each for each in zip(heads, row, strict=True) if each[1] not in {"", EMPTY}] for row in rows[1:])
    return [f"  {head}: {cell}" if head != heads[0] else cell for row in parts for head, cell in row]


def more(what: str, words: str, screen: Screen) -> Iterator[str]:
    """Yield what is not shown whole, with the command of taskstate that shows it."""
    return filled("", f"\u2026 {what}: `taskstate {words}`", _LEAST_INDENT, screen.columns)


def lines_of(lines: Iterable[str]) -> str:
    """Return lines as a text, none of which ends with blanks."""
    return "\n".join(each.rstrip() for each in lines)

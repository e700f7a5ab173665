"""Shows a history as text: by day, the newest first, one line an entry.

What comes from files is made printable and masked here, before it is cut and coloured.
"""

from __future__ import annotations

import unicodedata
from itertools import groupby

from taskstate.lint.reporters.colors import STRONG, Painter
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING
from taskstate.views import history

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from taskstate.views.history import Entry

_NARROW = 70  # columns, below which the words of an entry have a line of their own
_MOST_TASK, _MOST_BY = 16, 20  # columns
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_LABELS = {"role-done": "handed on"}
_COLOURS = {
    history.DRIFT: "1;31",
    history.FINDING: "33",
    history.SESSION: "36",
    history.ROLE: "32",
    history.TASK: "1;32",
}


def text_of(entries: Sequence[Entry], columns: int, painter: Painter, allow: tuple[str, ...] = ()) -> str:
    """Return entries as text of at most so many columns; `allow` is what is no credential."""
    shown = [each._replace(by=_plain(each.by, allow), text=_plain(each.text, allow)) for each in entries]
    lines: list[str] = []
    tasks = {each.task for each in entries}
    widths = (
        max((len(_label(each)) for each in shown), default=0),
        min(max(map(len, tasks)), _MOST_TASK) if len(tasks) > 1 else 0,
        min(max((width_of(each.by) for each in shown), default=0), _MOST_BY),
    )
    for day, of_day in groupby(shown, key=lambda each: each.at[:10]):
        lines.append(painter(_day(day), STRONG))
        lines += [line for each in of_day for line in _lines(each, widths, columns, painter)]
    return "\n".join(lines)


def _plain(text: str, allow: tuple[str, ...]) -> str:
    return one_line(masked(" ".join(text.split()), allow))


def _label(entry: Entry) -> str:
    own = entry.event if entry.kind == history.TASK else entry.kind
    return one_line(_LABELS.get(entry.event, own))


def _day(day: str) -> str:
    year, _, rest = day.partition("-")
    month, _, number = rest.partition("-")
    is_day = number.isdecimal() and month.isdecimal() and 1 <= int(month) <= len(_MONTHS)
    return f"{int(number)} {_MONTHS[int(month) - 1]} {year}" if is_day else one_line(day) or "At no known time"


def _lines(entry: Entry, widths: tuple[int, int, int], columns: int, painter: Painter) -> Iterator[str]:
    kind, task, by = widths
    label = _label(entry)
    colour = _COLOURS.get(entry.kind, "")
    parts = [entry.at[11:16].ljust(5), *([cut(entry.task, task).ljust(task)] if task else [])]
    head = f"  {'  '.join(map(one_line, parts))}  "
    who = cut(entry.by, by)
    gap = " " * (kind - len(label))
    rest = f"{gap}  {who}{' ' * (by - width_of(who))}  " if by else f"{gap}  "
    painted = f"{head}{painter(label, colour) if colour else label}"
    used = width_of(head) + len(label) + width_of(rest)
    if columns >= _NARROW:
        yield f"{painted}{rest}{cut(entry.text, max(columns - used, 1))}".rstrip()
        return
    yield f"{painted}{cut(rest.rstrip(), max(columns - width_of(head) - len(label), 1))}"
    if entry.text:
        yield f"    {cut(entry.text, columns - 4)}"


def width_of(text: str) -> int:
    """Return how many columns a printable text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def cut(text: str, most: int) -> str:
    """Return a printable text of at most so many columns; an ellipsis stands for what is cut off."""
    if width_of(text) <= most:
        return text
    kept, used = 0, 1  # the ellipsis
    for char in text:
        used += _cells(char)
        if used > most:
            break
        kept += 1
    return f"{text[:kept].rstrip()}\u2026"

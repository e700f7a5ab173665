"""Shows a history as text: by day, the newest first, one line an entry, or two where the terminal is narrow.

What is said about a finding is an exchange, which is read to its end; of all else the beginning is told.
"""

from __future__ import annotations

from itertools import groupby

from taskstate.messages import quoted
from taskstate.secrets.mask import masked
from taskstate.syntax.spans import one_line
from taskstate.typed import TYPE_CHECKING
from taskstate.views.history import DRIFT, FINDING, ROLE, SESSION, TASK
from taskstate.views.layout import cells, filled, fit, lines_of, more

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from taskstate.views.history import Entry
    from taskstate.views.layout import Screen

_MOST_TASK, _MOST_BY = 16, 20  # columns
_GAP, _INDENT = 2, 4
_LABELS = {"role-done": "handed on"}
_KIND = r"(?m)(?<=^  \d\d:\d\d  )"
# What stands out on a terminal: a pattern, and the style of what it matches.
HIGHLIGHTS = (
    (r"(?m)^\d{1,2} [A-Z][a-z]+ \d{4}$", "1"),
    (rf"{_KIND}{DRIFT}\b", "1;31"),
    (rf"{_KIND}{FINDING}\b", "33"),
    (rf"{_KIND}{SESSION}\b", "36"),
    (rf"{_KIND}(?:{ROLE}|handed on|created|completed|reopened)\b", "32"),
)


def text_of(entries: Sequence[Entry], screen: Screen, allow: tuple[str, ...] = ()) -> str:
    """Return entries as text; `allow` is what is no credential: one that is cut would be none that can be told."""
    shown = [
        each._replace(text=masked(" ".join(f"{each.text}{f' [{each.branch}]' if each.branch else ''}".split()), allow))
        for each in entries
    ]
    tasks = {each.task for each in shown}
    columns = [
        _column((label_of(each.kind, each.event) for each in shown), screen.columns),
        _column(tasks, _MOST_TASK) if len(tasks) > 1 else 0,
        _column((each.by for each in shown), _MOST_BY),
    ]
    begin = sum(width + _GAP for width in columns if width) + len("  11:40  ")
    room = screen.columns - (_INDENT if screen.is_narrow else begin)
    lines: list[str] = []
    for day, of_day in groupby(shown, key=lambda each: each.at[:10]):
        lines += [day_of(day), *(line for each in of_day for line in _lines(each, columns, screen))]
    cut = next((each for each in shown if each.kind == SESSION and not each.branch and cells(each.text) > room), None)
    lines += more("a whole session", f"session show {quoted(cut.task)} {cut.number}", screen) if cut else ()
    return lines_of(lines)


def _column(texts: Iterable[str], most: int) -> int:
    return min(max((cells(one_line(each)) for each in texts), default=0), most)


def label_of(kind: str, event: str) -> str:
    """Return the word for what an entry tells."""
    return _LABELS.get(event, event if kind == TASK else kind)


def day_of(day: str) -> str:
    """Return a day as a heading."""
    from datetime import date

    try:
        moment = date.fromisoformat(day)
    except ValueError:  # written by hand
        return one_line(day) or "At no known time"
    return f"{moment.day} {moment:%B %Y}"


def _lines(entry: Entry, columns: Sequence[int], screen: Screen) -> Iterator[str]:
    texts = zip((label_of(entry.kind, entry.event), entry.task, entry.by), columns, strict=True)
    at, rest = f"  {fit(entry.at[11:16], 5)}  ", "".join(f"{fit(text, width)}  " for text, width in texts if width)
    begin = at + rest
    if screen.is_narrow:
        yield at + fit(rest, screen.columns - cells(at))
        begin = " " * _INDENT
    if entry.text or not screen.is_narrow:
        text = one_line(entry.text) if entry.kind == FINDING else fit(entry.text, screen.columns - cells(begin))
        yield from filled(begin, text, cells(begin), screen.columns)

"""Writes tasks as CSV, a row each: for spreadsheets, in which no cell becomes a formula."""

from __future__ import annotations

import csv
from types import SimpleNamespace

from taskstate.exporting.items import MARK
from taskstate.model.canonical_json import sha256
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from taskstate.exporting.items import Item
    from taskstate.exporting.run import Wanted

_PLAIN = ("id", "title", "status", "priority", "area", "epic", "parent", "created_at")
_LISTS = ("subtasks", "depends_on")
_COUNTS = ("criteria", "criteria_met", "features", "features_passing", "sessions")
HEADER = ("mark", *_PLAIN, *_LISTS, *_COUNTS, "description", "sha256")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # what a spreadsheet calculates, at the start or behind such a blank
_GUARD = "'"
_DIGITS = 16


def render(items: Sequence[Item], wanted: Wanted) -> Mapping[str, str]:
    """Return the one file; cells that a spreadsheet would calculate get a `'` in front, unless they are wanted raw."""
    rows = [list(HEADER), *(_row(each, is_raw=wanted.raw) for each in items)]
    return {"": as_csv(rows)}


def _row(item: Item, *, is_raw: bool) -> list[str]:
    values = item.values
    cells = [item.mark, *(values[key] for key in _PLAIN), *(" ".join(values[key]) for key in _LISTS)]
    criteria, features = values["criteria"], values["features"]
    counts = (
        len(criteria),
        sum(each["checked"] for each in criteria),
        len(features),
        sum(each["passes"] for each in features),
        item.counts.get("sessions", 0) + item.counts.get("archived sessions", 0),
    )
    cells += [*map(str, counts), values["description"]]
    cells = cells if is_raw else [*map(guarded, cells)]
    return [*cells, _sha(cells)]


def guarded(cell: str) -> str:
    """Return a cell with a `'` in front where a spreadsheet would calculate it."""
    return f"{_GUARD}{cell}" if cell.startswith(_FORMULA) else cell


def _sha(cells: Iterable[str]) -> str:
    return sha256("\0".join(cells))[:_DIGITS]


def as_csv(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as CSV."""
    parts: list[str] = []
    csv.writer(SimpleNamespace(write=parts.append), lineterminator="\r\n").writerows(rows)  # RFC 4180
    return "".join(parts)


def _lines(text: str) -> list[str]:
    """Return the lines of a text with their ends; only a line feed is one, for a cell may hold others unquoted."""
    return [f"{line}\n" for line in text.removesuffix("\n").split("\n")]


def is_ours(data: bytes) -> bool:
    """Return whether a file holds nothing but rows that were exported, as they were written."""
    try:
        rows = [*csv.reader(_lines(data.decode()), strict=True)]
    except (UnicodeDecodeError, csv.Error):
        return False
    is_marked = [each[:1] != [] and each[0].startswith(MARK) and each[-1] == _sha(each[:-1]) for each in rows[1:]]
    return rows[:1] == [list(HEADER)] and all(is_marked) and as_csv(rows).encode() == data

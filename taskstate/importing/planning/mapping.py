"""Reads and writes the file of `--map`: what words, labels, fields and ids of the source become here."""

from __future__ import annotations

import json
import re

from taskstate.errors import TaskstateError
from taskstate.importing import words
from taskstate.model import names
from taskstate.model.statuses import OF_TASKS
from taskstate.syntax.toml_input import read_toml
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

PRIORITIES = ("P0", "P1", "P2", "P3")
AREA, LEAVE = "area", "leave"
_FIELDS = ("area", "epic", "priority", "agent", "repository", "prd")


class Map(NamedTuple):
    """What the words of a source become: its tables by word, and how dates without an order or a zone are read."""

    status: Mapping[str, str] = {}
    priority: Mapping[str, str] = {}
    fields: Mapping[str, str] = {}
    labels: Mapping[str, str] = {}
    ids: Mapping[str, str] = {}
    date_format: str = ""
    timezone: str = ""

    def status_of(self, word: str) -> str:
        """Return what the map makes of a status word; empty where it says nothing."""
        return self.status.get(words.plain(word), "")

    def priority_of(self, word: str) -> str:
        """Return P0 to P3 for a word, by the map and then by the table; empty where neither has it."""
        return self.priority.get(words.plain(word)) or words.priority_of(word)

    def time_of(self, text: str) -> str:
        """Return a time as our files have it, or an empty text."""
        return words.time_of(text, self.date_format, self.timezone)


_TABLES: Mapping[str, tuple[str, ...]] = {
    "status": OF_TASKS,
    "priority": PRIORITIES,
    "fields": _FIELDS,
    "labels": (*OF_TASKS, AREA, LEAVE),
    "ids": (),
}


def read_map(text: str, name: str) -> Map:
    """Return the map in a TOML text.

    Raises:
        TaskstateError: code "invalid-input": it is not TOML, has an unknown key, or a value that nothing can become.
    """
    try:
        values = read_toml(text)
    except ValueError as error:
        raise TaskstateError(f"{name} is not valid TOML: {error}", help="correct it", code="invalid-input") from error
    known = {field.replace("_", "-"): field for field in Map._fields}
    unknown = [key for key in values if key not in known]
    if unknown:
        message = f"{name} has an unknown key {unknown[0]!r}"
        raise TaskstateError(message, help=f"choose from {', '.join(known)}", code="invalid-input")
    given = {known[key]: _value(name, key, value) for key, value in values.items()}
    for table in ("status", "priority"):
        given[table] = {words.plain(word): ours for word, ours in given.get(table, {}).items()}
    return Map(**given)


def _value(name: str, key: str, value: Any) -> Any:  # noqa: ANN401 - any TOML value
    if key not in _TABLES:
        is_order = key == "date-format"
        expected = "DMY or MDY" if is_order else "an offset such as +02:00"
        if not re.fullmatch(r"(?i)DMY|MDY" if is_order else r"[+-]\d{2}:\d{2}", str(value)):
            raise TaskstateError(f"{name}: {key} must be {expected}", help="correct it", code="invalid-input")
        return value
    if not isinstance(value, dict):
        raise TaskstateError(
            f"{name}: [{key}] must be a table", help="write `word = value` below it", code="invalid-input"
        )
    allowed = _TABLES[key]
    for word, ours in value.items():
        fits = isinstance(ours, str) and (ours in allowed if allowed else names.is_id(ours))
        if not fits:
            expected = f"one of {', '.join(allowed)}" if allowed else "an id"
            message = f"{name}: {word!r} in [{key}] becomes {ours!r}, which must be {expected}"
            raise TaskstateError(message, help="correct it", code="invalid-input")
    return value


def written(found: Iterable[tuple[str, str, str]]) -> str:
    """Return a map with every word that was found: the table, the word, and what it became, to be corrected."""
    tables: dict[str, dict[str, str]] = {}
    for table, word, ours in found:
        tables.setdefault(table, {})[word] = ours
    lines = list[str]()
    for table, rows in sorted(tables.items()):
        lines += [
            f"[{table}]",
            *(f"{json.dumps(word, ensure_ascii=False)} = {json.dumps(ours)}" for word, ours in sorted(rows.items())),
            "",
        ]
    return "\n".join(lines) or "# nothing was found that a map could say\n"

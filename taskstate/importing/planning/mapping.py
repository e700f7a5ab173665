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
        raise _wrong(f"{name} is not valid TOML: {error}") from error
    known = {field.replace("_", "-"): field for field in Map._fields}
    given: dict[str, Any] = {}
    for key, value in values.items():
        if key not in known:
            raise _wrong(f"{name} has an unknown key {key!r}", f"choose from {', '.join(known)}")
        if key in _TABLES:
            _require_table(name, key, value)
        elif not re.fullmatch(r"(?i)DMY|MDY" if key == "date-format" else r"[+-]\d{2}:\d{2}", str(value)):
            expected = "DMY or MDY" if key == "date-format" else "an offset such as +02:00"
            raise _wrong(f"{name}: {key} must be {expected}")
        given[known[key]] = value
    for table in ("status", "priority"):
        given[table] = {words.plain(word): ours for word, ours in given.get(table, {}).items()}
    return Map(**given)


def _require_table(name: str, key: str, value: object) -> None:
    if not isinstance(value, dict):
        raise _wrong(f"{name}: [{key}] must be a table", "write `word = value` below it")
    allowed = _TABLES[key]
    for word, ours in value.items():
        if not isinstance(ours, str) or not (ours in allowed if allowed else names.is_id(ours)):
            expected = f"one of {', '.join(allowed)}" if allowed else "an id"
            raise _wrong(f"{name}: {word!r} in [{key}] becomes {ours!r}, which must be {expected}")


def _wrong(message: str, help_: str = "correct it") -> TaskstateError:
    return TaskstateError(message, help=help_, code="invalid-input")


def written(found: Iterable[tuple[str, str, str]]) -> str:
    """Return a map with every word that was found: the table, the word, and what it became, to be corrected."""
    rows, lines, last = sorted({(table, word): ours for table, word, ours in found}.items()), list[str](), ""
    for (table, word), ours in rows:
        lines += [] if table == last else [f"[{table}]"] if not last else ["", f"[{table}]"]
        lines.append(f"{json.dumps(word, ensure_ascii=False)} = {json.dumps(ours)}")
        last = table
    return "\n".join((*lines, "")) if lines else "# nothing was found that a map could say\n"

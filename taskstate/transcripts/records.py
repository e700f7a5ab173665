"""Takes values out of the lines of a transcript: whatever stands there, each comes out in its type, or empty."""

from __future__ import annotations

import json
import re

from taskstate.transcripts.events import ToDo
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeAlias

    Record: TypeAlias = dict[str, Any]

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=[.\dZ]*\Z)", re.ASCII)
_MOST = 10**12  # above it a number counts nothing
_FAULT = 200
_IS_DONE = frozenset({"completed", "done"})
_IS_DROPPED = frozenset({"deleted", "cancelled"})


def parsed(line: bytes) -> Record | None:
    """Return the object in a line, or None."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text(value: object) -> str:
    """Return a text that can be written as UTF-8."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()  # JSON may hold half a pair


def record(value: object) -> Record:
    """Return an object of JSON."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> Sequence[object]:
    """Return a list of JSON."""
    return value if isinstance(value, list) else ()


def records(value: object) -> list[Record]:
    """Return the objects in a list."""
    return [each for each in listed(value) if isinstance(each, dict)]


def count(value: object) -> int:
    """Return a number of things."""
    return value if type(value) is int and 0 <= value < _MOST else 0


def status(value: object) -> int | None:
    """Return the exit status of a command, or None."""
    return value if type(value) is int and abs(value) < _MOST else None


def moment(value: object) -> str:
    """Return a moment in UTC without parts of seconds."""
    found = _MOMENT.match(text(value))
    return f"{found[0]}Z" if found else ""


def spoken(content: object) -> str:
    """Return the words in the content of a message: a text, or a list of blocks."""
    blocks = records(content) or [{"text": content}]
    return "\n".join(filter(None, (text(each.get("text")) for each in blocks)))


def fault(said: str) -> str:
    """Return the first line of why a tool did not do it."""
    lines = (line.strip() for line in re.sub(r"</?tool_use_error>", "", said).splitlines())
    return next(filter(None, lines), "it failed")[:_FAULT]


def to_do(at: str, items: object, key: str) -> ToDo:
    """Return a to-do list from its items, which have their words at `key`; what is in progress comes first."""
    found = [(text(each.get(key)), text(each.get("status"))) for each in records(items)]
    left = [each for each in found if each[1] not in _IS_DONE | _IS_DROPPED]
    left.sort(key=lambda each: each[1] != "in_progress")
    return ToDo(at, sum(state in _IS_DONE for _, state in found), tuple(words for words, _ in left))


def changed_lines(lines: Iterable[object]) -> tuple[int, int]:
    """Return how many lines of the body of a patch come, and how many go."""
    signs = [text(line)[:1] for line in lines]
    return signs.count("+"), signs.count("-")

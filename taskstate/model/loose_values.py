"""Reads values that a hand may have edited: one of the wrong type counts as absent. Pure."""

from __future__ import annotations

import json
import re

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST_COUNTED = 100_000
OBJECT_ID = "[0-9a-f]{40}([0-9a-f]{24})?"


class HashedFile(NamedTuple):
    """A file's path from the repository's root, and its SHA-256 when it was recorded."""

    path: str | None
    sha256: str | None


def json_of(data: bytes | str) -> object:
    """Return the value of a JSON text, or None where it is none."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


def object_id_of(value: object) -> str | None:
    """Return a value that is the full id of a git object; git would take another text for a name or an option."""
    return value if isinstance(value, str) and re.fullmatch(OBJECT_ID, value) else None


def texts_of(values: Mapping[str, object], keys: tuple[str, ...]) -> dict[str, str | None]:
    """Return the texts under some keys, None where there is none."""
    return {key: text_of(values.get(key)) for key in keys}


def text_of(value: object) -> str | None:
    """Return a text, or None."""
    return value if isinstance(value, str) else None


def number_of(value: object) -> int:
    """Return a whole number, or 0."""
    return value if isinstance(value, int) else 0


def map_of(value: object) -> Mapping[str, object]:
    """Return a map, or an empty one."""
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """Return a list, or an empty one."""
    return value if isinstance(value, list) else []


def listed(entry: Mapping[str, object], key: str) -> list[str]:
    """Return the names that an entry lists; those that it only counts, under `more`, are empty."""
    return [*map(str, list_of(entry.get(key))), *[""] * min(number_of(entry.get("more")), _MOST_COUNTED)]


def maps_of(value: object) -> tuple[Mapping[str, object], ...]:
    """Return the maps in a list."""
    return tuple(each for each in list_of(value) if isinstance(each, dict))

"""Writes tasks as JSON: their values for programs, and their files word for word, from which they come back whole."""

from __future__ import annotations

import json

from taskstate.exporting.items import MARK
from taskstate.model.canonical_json import canonical_json, sha256
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from taskstate.exporting.items import Item
    from taskstate.exporting.run import Wanted

FORMAT = 1
_SHA = "sha256"


def render(items: Sequence[Item], _wanted: Wanted) -> Mapping[str, str]:
    """Return the one file: an array with an object for each task."""
    return {"": canonical_json([object_of(each) for each in items])}


def object_of(item: Item) -> dict[str, Any]:
    """Return a task as an object; a text of a file is a list of its lines, which a person can compare."""
    texts = {path: text.split("\n") for path, text in item.files.items()}
    values = {"mark": item.mark, "format": FORMAT, **item.values, "files": texts}
    return values | {_SHA: sha256(canonical_json(values))}


def is_whole(value: object) -> bool:
    """Return whether a value is such an object, just as it was written."""
    if not isinstance(value, dict) or not str(value.get("mark", "")).startswith(MARK):
        return False
    rest = {key: each for key, each in value.items() if key != _SHA}
    try:
        return bool(value.get(_SHA) == sha256(canonical_json(rest)))
    except (ValueError, TypeError, UnicodeError):  # a lone surrogate, or a number that JSON does not know
        return False


def is_ours(data: bytes) -> bool:
    """Return whether a file holds nothing but what was exported, as it was written."""
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(values, list) and all(map(is_whole, values)) and canonical_json(values).encode() == data

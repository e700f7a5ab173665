"""JSON that somebody hands to a command: read as one object, and refused in words that say where it is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from taskstate.errors import TaskstateError
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable


def read_object(text: str, name: str, form: str) -> dict[str, Any]:
    """Return what a JSON object says; `name` is how an error calls it, `form` shows what it should look like.

    Raises:
        TaskstateError: code "invalid-input": it is no JSON, or no object.
    """
    node = read_json(text, 1 if text.startswith("\ufeff") else 0, len(text))
    if isinstance(node, Fault):
        line = text.count("\n", 0, node.span.start) + 1
        raise TaskstateError(f"{name}, line {line}: {node.message}", help=f"write {form}", code="invalid-input")
    values = node.value()
    if not isinstance(values, dict):
        raise TaskstateError(f"{name} holds no JSON object", help=f"write {form}", code="invalid-input")
    return values


def unknown_key(name: str, key: str, known: Iterable[str]) -> TaskstateError:
    """Return the error for a key that is none of those that are known."""
    what = f"{name} has an unknown key {key!r}"
    return TaskstateError(what, help=f"known are {', '.join(known)}", code="invalid-input")


def wrong_value(name: str, key: str, wanted: str) -> TaskstateError:
    """Return the error for a value that is not what is wanted, such as "a text"."""
    what = f"{name}: {key} must be {wanted}"
    return TaskstateError(what, help="correct it, then run this again", code="invalid-input")

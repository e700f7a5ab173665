"""Reads a JSON object that a user hands to a command, and words the errors for it."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.syntax.json_parser import read_json
from taskstate.syntax.nodes import Fault
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any


def read_object(text: str, name: str, form: str) -> dict[str, Any]:
    """Return the values of a JSON object; errors call the input `name`, and show `form` as an example.

    Raises:
        TaskstateError: code "invalid-input": the text is not JSON, or not an object.
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
    """Return the error for a key that is not among the known ones."""
    message = f"{name} has an unknown key {key!r}"
    return TaskstateError(message, help=f"choose from {', '.join(known)}", code="invalid-input")


def wrong_value(name: str, key: str, expected: str) -> TaskstateError:
    """Return the error for a wrong value; `expected` says what it must be, such as "a text"."""
    message = f"{name}: {key} must be {expected}"
    return TaskstateError(message, help="correct it, then run this again", code="invalid-input")

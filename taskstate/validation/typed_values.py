"""Turns a span tree into values by its schema: where that says string, an unquoted YAML scalar is its source text.

So no reader's idea of YAML decides what `task_id: 010` or `status: no` means. Nothing is judged here.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from taskstate.syntax.nodes import resolve_plain
from taskstate.validation.schema_compiler import TYPES
from taskstate.validation.schema_files import alternatives, load, types_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath, Schema


_OPEN: Mapping[str, Any] = {}  # what a schema that is just true says: nothing


class _Shapes:
    """The shapes of one schema's parts, each made when it is first asked for."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._shapes: dict[int, _Shape] = {}

    def of(self, schema: Schema) -> _Shape:
        """Return the shape of a part of the schema."""
        schema = _OPEN if isinstance(schema, bool) else schema
        found = self._shapes.get(id(schema))
        if found is None:
            found = self._shapes[id(schema)] = _Shape(list(alternatives(schema, self._root)), self)
        return found


class _Shape:
    """What a schema says of a place, of several branches what any of them says.

    `over` holds the types that win over string, None where string is not allowed; an `open` one says nothing at all, so
    that YAML's own reading holds.
    """

    def __init__(self, parts: list[Mapping[str, Any]], shapes: _Shapes) -> None:
        self._parts = parts
        self._shapes = shapes
        self._known: dict[str, _Shape] = {}
        self.over = _over_string([name for part in parts for name in types_of(part)])
        self.marks = {key for part in parts for key in part if key.startswith("x-")}
        self.open = all(part.keys() <= {"description"} for part in parts)

    def entry(self, key: str) -> _Shape:
        """Return the shape of a map's value."""
        shape = self._known.get(key)
        if shape is None:
            shape = self._shapes.of(next((schema for part in self._parts for schema in _of_key(part, key)), True))
            if any(key in part.get("properties", {}) for part in self._parts):
                self._known[key] = shape
        return shape

    @cached_property
    def items(self) -> _Shape:
        """The shape of a list's items."""
        return self._shapes.of(next((part["items"] for part in self._parts if "items" in part), True))


def _of_key(schema: Mapping[str, Any], key: str) -> Iterator[Schema]:
    """Yield what a schema says of a key's value: by its name, by a pattern, or as one of the rest."""
    if key in schema.get("properties", {}):
        yield schema["properties"][key]
    yield from (each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key))
    if "additionalProperties" in schema:
        yield schema["additionalProperties"]


def typed_value(node: Node, name: str) -> Any:  # noqa: ANN401 - any YAML or JSON value
    """Return the plain value of a span tree, read by the schema of that name.

    An unquoted YAML scalar where a string is allowed is its source text; only null, and types that the schema names
    before string, keep their meaning there. All else is as the YAML 1.2 core schema has it, and JSON as JSON.
    """
    return _value(node, _of_name(name))


def annotated(node: Node, name: str, keyword: str) -> Iterator[tuple[KeyPath, Node]]:
    """Yield each scalar, with its path, that the schema of that name marks by `keyword`, such as "x-timestamp"."""
    yield from _marked(node, _of_name(name), keyword, ())


def _value(node: Node, shape: _Shape) -> Any:  # noqa: ANN401 - any YAML or JSON value
    if shape.open:
        return node.value()
    if node.kind == "mapping":
        return {entry.key.text: _value(entry.value, shape.entry(entry.key.text)) for entry in node.entries}
    if node.kind == "sequence":
        return [_value(item, shape.items) for item in node.items]
    if node.style != "plain" or shape.over is None:
        return node.value()
    if not shape.over:
        return node.text
    value = resolve_plain(node.text)
    return value if any(TYPES[name](value) for name in shape.over) else node.text


def _marked(node: Node, shape: _Shape, keyword: str, path: KeyPath) -> Iterator[tuple[KeyPath, Node]]:
    if node.kind == "scalar" and keyword in shape.marks:
        yield path, node
    for entry in node.entries:
        yield from _marked(entry.value, shape.entry(entry.key.text), keyword, (*path, entry.key.text))
    for index, item in enumerate(node.items):
        yield from _marked(item, shape.items, keyword, (*path, index))


@cache
def _of_name(name: str) -> _Shape:
    root = load(name)
    return _Shapes(root).of(root)


def _over_string(types: list[str]) -> tuple[str, ...] | None:
    if "string" not in types:
        return None
    return tuple(name for name in types if name == "null" or name in types[: types.index("string")])

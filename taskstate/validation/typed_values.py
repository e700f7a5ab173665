"""Converts a span tree to values by its schema: where that says string, an unquoted YAML scalar is its source text.

So `task_id: 010` and `status: no` stay strings, whatever a version of YAML takes them for. Nothing is validated here.
"""

from __future__ import annotations

import re
from functools import cache, cached_property

from taskstate.syntax.nodes import resolve_plain
from taskstate.typed import TYPE_CHECKING
from taskstate.validation.schema_compiler import TYPES
from taskstate.validation.schema_files import alternatives, load, types_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from taskstate.syntax.nodes import Node
    from taskstate.validation.schema_files import KeyPath, Schema


_ANY_VALUE: Mapping[str, Any] = {}  # as the schema `true`, without any keyword


class _Shape:
    """What a schema says of a value, where any of several branches may apply.

    `preferred_types` are the types that win over string; None if string is not allowed. An `open` shape says nothing,
    so the value is resolved by YAML alone.
    """

    def __init__(self, schema: Mapping[str, Any], root: Mapping[str, Any], shapes: dict[int, _Shape]) -> None:
        self._parts = parts = list(alternatives(schema, root))
        self._root = root
        self._shapes = shapes  # of all parts of the root, each built on first use
        self._shapes_by_key: dict[str, _Shape] = {}
        self.preferred_types = _preferred_over_string([name for part in parts for name in types_of(part)])
        self.marks = {key for part in parts for key in part if key.startswith("x-")}
        self.open = all(part.keys() <= {"description"} for part in parts)

    def _of(self, schema: Schema) -> _Shape:
        """Return the shape of another part of the same root."""
        schema = _ANY_VALUE if isinstance(schema, bool) else schema
        shape = self._shapes.get(id(schema))
        if shape is None:
            shape = self._shapes[id(schema)] = _Shape(schema, self._root, self._shapes)
        return shape

    def entry(self, key: str) -> _Shape:
        """Return the shape of the value of a key."""
        shape = self._shapes_by_key.get(key)
        if shape is not None:
            return shape
        if key not in self._named:  # a file may have ten thousand keys that people added: none is kept
            for fits, each in self._unnamed:
                if fits(key):
                    return each
            return self._of(_ANY_VALUE)
        schemas = (schema for part in self._parts for schema in _schemas_of_key(part, key))
        shape = self._shapes_by_key[key] = self._of(next(schemas))
        return shape

    @cached_property
    def _named(self) -> frozenset[str]:
        """The keys that a schema declares by name."""
        return frozenset(key for part in self._parts for key in part.get("properties", {}))

    @cached_property
    def _unnamed(self) -> tuple[tuple[Callable[[str], object], _Shape], ...]:
        """What decides on all other keys, the first that fits: patterns, and `additionalProperties`."""
        return tuple((fits, self._of(schema)) for part in self._parts for fits, schema in _schemas_of_others(part))

    @cached_property
    def items(self) -> _Shape:
        """The shape of a list's items."""
        return self._of(next((part["items"] for part in self._parts if "items" in part), True))


def _schemas_of_key(schema: Mapping[str, Any], key: str) -> Iterator[Schema]:
    """Yield the schemas for a key's value: by its name, by a pattern, or by `additionalProperties`."""
    if key in schema.get("properties", {}):
        yield schema["properties"][key]
    yield from (each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key))
    if "additionalProperties" in schema:
        yield schema["additionalProperties"]


def _schemas_of_others(schema: Mapping[str, Any]) -> Iterator[tuple[Callable[[str], object], Schema]]:
    """Yield the schemas for the values of keys that are not declared by name, each with what tells whether it fits."""
    yield from ((re.compile(pattern).search, each) for pattern, each in schema.get("patternProperties", {}).items())
    if "additionalProperties" in schema:
        yield (lambda _: True), schema["additionalProperties"]


def typed_value(node: Node, name: str) -> Any:  # noqa: ANN401 - any YAML or JSON value
    """Return the plain value of a span tree, read by the named schema.

    Where a string is allowed, an unquoted YAML scalar is its source text, unless it is of a type that the schema lists
    before string, or null where that is allowed. All else is resolved by the YAML 1.2 core schema, and JSON as JSON.
    """
    return _value(node, _shape_by_name(name))


def annotated(
    node: Node, name: str, keyword: str, *, wanted: Callable[[object], bool] = lambda _: True
) -> list[tuple[KeyPath, Node]]:
    """Return each scalar, with its path, whose schema has the keyword `keyword`, such as "x-timestamp".

    Of the objects in a JSON list only those are looked through that hold a `wanted` value there: of ten thousand
    features, finding the places of all values takes long.
    """
    return _marked(node, _shape_by_name(name), keyword, wanted)


def holds(value: object, name: str, keyword: str, wanted: Callable[[object], bool]) -> bool:
    """Return whether a plain value holds a scalar that is wanted, and whose schema has the keyword `keyword`."""
    return _holds(value, _shape_by_name(name), keyword, wanted)


def _value(node: Node, shape: _Shape) -> Any:  # noqa: ANN401 - any YAML or JSON value
    if shape.open:
        return node.value()
    if node.kind == "mapping":
        return {entry.key.text: _value(entry.value, shape.entry(entry.key.text)) for entry in node.entries}
    if node.kind == "sequence":
        return [_value(item, shape.items) for item in node.items]
    if node.style != "plain" or shape.preferred_types is None:
        return node.value()
    if not shape.preferred_types:
        return node.text
    value = resolve_plain(node.text)
    return value if any(TYPES[name](value) for name in shape.preferred_types) else node.text


def _marked(
    node: Node, shape: _Shape, keyword: str, wanted: Callable[[object], bool], path: KeyPath = ()
) -> list[tuple[KeyPath, Node]]:
    if node.kind == "scalar":
        return [(path, node)] if keyword in shape.marks else []
    found = list[tuple["KeyPath", "Node"]]()
    for key, value in node.entries:
        inner = shape.entry(key.text)
        if value.kind != "scalar" or keyword in inner.marks:
            found += _marked(value, inner, keyword, wanted, (*path, key.text))
    for index, item in enumerate(node.items):
        if item.style != "json" or _holds(item.value(), shape.items, keyword, wanted):
            found += _marked(item, shape.items, keyword, wanted, (*path, index))
    return found


def _holds(value: object, shape: _Shape, keyword: str, wanted: Callable[[object], bool]) -> bool:
    """Return whether a JSON value is or holds a scalar with the keyword that is wanted."""
    if isinstance(value, dict):
        for key, each in value.items():
            inner = shape.entry(key)
            below = isinstance(each, (dict, list))
            if _holds(each, inner, keyword, wanted) if below else keyword in inner.marks and wanted(each):
                return True
        return False
    if isinstance(value, list):
        return any(_holds(each, shape.items, keyword, wanted) for each in value)
    return keyword in shape.marks and wanted(value)


@cache
def _shape_by_name(name: str) -> _Shape:
    root = load(name)
    return _Shape(root, root, {})


def _preferred_over_string(types: list[str]) -> tuple[str, ...] | None:
    if "string" not in types:
        return None
    return tuple(name for name in types if name == "null" or name in types[: types.index("string")])

"""Loads the published JSON Schemas, and resolves references and branches in them.

What a keyword demands of a value is decided by `schema_compiler` and `schema_errors`.
"""

from __future__ import annotations

import json
from functools import cache

from taskstate import resources
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, TypeAlias

    KeyPath: TypeAlias = tuple[str | int, ...]
    Schema: TypeAlias = Mapping[str, Any] | bool

_REF = "#/$defs/"


@cache
def load(name: str) -> Mapping[str, Any]:
    """Return the named schema, such as "task" or "checklist"; its `properties` stand in the canonical order of keys."""
    loaded: Mapping[str, Any] = json.loads(resources.text(f"schemas/{name}.schema.json"))
    return loaded


def resolved(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the target of a `$ref` in the schema `root`.

    Raises:
        KeyError: the target is not in the `$defs` of `root`.
    """
    if not ref.startswith(_REF):
        raise KeyError(ref)
    target: Mapping[str, Any] = root["$defs"][ref.removeprefix(_REF)]
    return target


def alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a schema, the target of its `$ref`, and the branches of its `anyOf` and `oneOf`, recursively."""
    yield schema
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for each in [resolved(schema["$ref"], root), *branches] if "$ref" in schema else branches:
        yield from alternatives(each, root)


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types in a schema's own `type`, in its order; empty without that keyword."""
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)

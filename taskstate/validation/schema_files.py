"""The published schemas, and what a part of one comes down to. What a keyword asks for must not be decided here."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from taskstate import resources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    KeyPath: TypeAlias = tuple[str | int, ...]
    Schema: TypeAlias = Mapping[str, Any] | bool

_REF = "#/$defs/"


@cache
def load(name: str) -> Mapping[str, Any]:
    """Return the schema of that name, such as "task" or "checklist"; its `properties` stand in the canonical order."""
    loaded: Mapping[str, Any] = json.loads(resources.text(f"schemas/{name}.schema.json"))
    return loaded


def resolved(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a `$ref` of the schema `root` means.

    Raises:
        KeyError: it leads out of the schema's own `$defs`.
    """
    if not ref.startswith(_REF):
        raise KeyError(ref)
    found: Mapping[str, Any] = root["$defs"][ref.removeprefix(_REF)]
    return found


def alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield what a schema comes down to: itself, what it refers to, and the branches that it leaves open."""
    yield schema
    branches = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for each in [resolved(schema["$ref"], root), *branches] if "$ref" in schema else branches:
        yield from alternatives(each, root)


def types_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the types that a schema itself allows, in its order; none where it does not say."""
    types = schema.get("type", ())
    return (types,) if isinstance(types, str) else tuple(types)

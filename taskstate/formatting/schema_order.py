"""The canonical order of keys: the order of `properties` in the published schemas. No key is named here."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property, lru_cache

from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.validation.schema_files import alternatives, load

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from taskstate.validation.schema_files import Schema

OWN = "x-"  # begins keys that people add; their values are never changed


class _SchemaNode(NamedTuple):
    parts: tuple[Mapping[str, Any], ...]
    root: Mapping[str, Any]


# A subclass, because a NamedTuple itself has no `__dict__` that could hold cached properties.
class SchemaNode(_SchemaNode):
    """A node of a schema: the order of its keys, and the nodes below it."""

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The keys that the schema declares, in their canonical order."""
        return tuple(dict.fromkeys(key for part in self.parts for key in part.get("properties", ())))

    def child(self, key: str) -> SchemaNode | None:
        """Return the node for a key's value; None for a key that people added, or an undeclared one."""
        return None if key.startswith(OWN) else self._named.get(key, self._rest)

    @cached_property
    def _named(self) -> dict[str, SchemaNode]:
        named = ((key, each) for part in self.parts for key, each in part.get("properties", {}).items())
        return {key: _node(each, self.root) for key, each in named}

    @cached_property
    def _rest(self) -> SchemaNode | None:
        rest = (part.get("additionalProperties") for part in self.parts)
        return next((_node(each, self.root) for each in rest if isinstance(each, Mapping)), None)

    @cached_property
    def item(self) -> SchemaNode | None:
        """The node for a list's items, or None where the schema does not describe them."""
        return next((_node(part["items"], self.root) for part in self.parts if "items" in part), None)


@cache
def schema_root(name: str) -> SchemaNode:
    """Return the root node of the schema of that name."""
    root = load(name)
    return _node(root, root)


def _node(schema: Schema, root: Mapping[str, Any]) -> SchemaNode:
    return SchemaNode(() if isinstance(schema, bool) else tuple(alternatives(schema, root)), root)


def ranks(keys: Sequence[str], order: Sequence[str]) -> list[int]:
    """Return the rank of each key; one that is not in `order` gets the rank of the key before it, and stays behind it.

    So keys that people added may stand anywhere, and move with their neighbour.
    """
    rank_of = {key: rank for rank, key in enumerate(order)}
    result: list[int] = []
    for key in keys:
        result.append(rank_of.get(key, result[-1] if result else -1))
    return result


@lru_cache(maxsize=1_000)  # the objects in a list have the same few keys, ten thousand times; so have most files
def in_order(keys: tuple[str, ...], order: tuple[str, ...]) -> tuple[int, ...]:
    """Return the indices of `keys` in their canonical order."""
    rank = ranks(keys, order)
    return tuple(sorted(range(len(keys)), key=rank.__getitem__))


@lru_cache(maxsize=1_000)
def _ordered(keys: tuple[str, ...], order: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(keys[index] for index in in_order(keys, order))


def with_ordered_keys(value: Any, node: SchemaNode | None) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with all its objects' keys in order; values of keys that people added stay as they are."""
    if node is None or isinstance(value, (str, int, float, type(None))):
        return value
    if isinstance(value, Mapping):
        return {key: with_ordered_keys(value[key], node.child(key)) for key in _ordered(tuple(value), node.order)}
    if isinstance(value, list):
        item = node.item
        return [with_ordered_keys(each, item) for each in value]
    return value

"""The canonical order of keys: that of `properties` in the published schemas. No key is known here by its name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate.validation.schema_files import alternatives, load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.validation.schema_files import Schema

OWN = "x-"  # how a key of somebody's own begins: its value is never touched


class _Place(NamedTuple):
    parts: tuple[Mapping[str, Any], ...]
    root: Mapping[str, Any]


class SchemaNode(_Place):
    """A place in a schema: the order of the keys there, and the places below it."""

    @cached_property
    def order(self) -> tuple[str, ...]:
        """The keys that the schema names, in their canonical order."""
        return tuple(dict.fromkeys(key for part in self.parts for key in part.get("properties", ())))

    def child(self, key: str) -> SchemaNode | None:
        """Return the place of a key's value; None for a key of somebody's own, or one that the schema does not know."""
        return None if key.startswith(OWN) else self._named.get(key, self._rest)

    @cached_property
    def _named(self) -> dict[str, SchemaNode]:
        named = ((key, each) for part in self.parts for key, each in part.get("properties", {}).items())
        return {key: _place(each, self.root) for key, each in named}

    @cached_property
    def _rest(self) -> SchemaNode | None:
        rest = (part.get("additionalProperties") for part in self.parts)
        return next((_place(each, self.root) for each in rest if isinstance(each, Mapping)), None)

    @cached_property
    def item(self) -> SchemaNode | None:
        """The place of a list's items, or None where the schema says nothing of them."""
        return next((_place(part["items"], self.root) for part in self.parts if "items" in part), None)


def schema_root(name: str) -> SchemaNode:
    """Return the topmost place of the schema of that name."""
    return _topmost(name)


@cache
def _topmost(name: str) -> SchemaNode:
    root = load(name)
    return _place(root, root)


def _place(schema: Schema, root: Mapping[str, Any]) -> SchemaNode:
    return SchemaNode(() if isinstance(schema, bool) else tuple(alternatives(schema, root)), root)


def ranks(keys: Sequence[str], order: Sequence[str]) -> list[int]:
    """Return the rank of each key; one that `order` does not know has that of the key before it, and stays behind it.

    So keys of somebody's own may stand wherever they like, and move with their neighbour.
    """
    known = {key: rank for rank, key in enumerate(order)}
    found: list[int] = []
    for key in keys:
        found.append(known.get(key, found[-1] if found else -1))
    return found


def in_order(keys: Sequence[str], order: Sequence[str]) -> list[int]:
    """Return the indices of `keys` in the order in which they should stand."""
    rank = ranks(keys, order)
    return sorted(range(len(keys)), key=rank.__getitem__)


def with_ordered_keys(value: Any, at: SchemaNode | None) -> Any:  # noqa: ANN401 - any JSON value
    """Return a JSON value with the keys of all its objects in order, what is somebody's own as it is."""
    if at is None:
        return value
    if isinstance(value, Mapping):
        keys = list(value)
        wanted = (keys[index] for index in in_order(keys, at.order))
        return {key: with_ordered_keys(value[key], at.child(key)) for key in wanted}
    if isinstance(value, list):
        item = at.item
        return [with_ordered_keys(each, item) for each in value]
    return value

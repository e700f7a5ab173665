"""One span tree for YAML and JSON: every key and value knows where it stands in the text.

Readers (`yaml_spans`, `yaml_scan`, `json_spans`) build the tree; this room reads values from it. Changes to it are in
`data_edits` and `json_edits`. Nothing here knows what a key means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_WORD = re.compile(r"[^-+.0-9~nNtTfF]")  # what begins so is text: most scalars are decided here
_NUMBER = re.compile(
    r"([-+]?[0-9]+)|(0o[0-7]+)|(0x[0-9a-fA-F]+)"
    r"|([-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)|([-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_DECIMAL, _OCTAL, _HEX, _FLOAT = 1, 2, 3, 4  # which group of it has matched; the fifth is a number that is none


class Fault(NamedTuple):
    """Why a piece of YAML or JSON could not be read, where, and the edits that would mend it, if that is known."""

    span: Span
    message: str
    kind: str = "syntax"
    fix: tuple[Edit, ...] = ()


class Node(NamedTuple):
    """A value with its place: a scalar, a mapping or a sequence.

    `kind` is "scalar", "mapping" or "sequence". `style` of a scalar: "plain", "single", "double", "literal", "folded"
    (YAML) or "json"; of a collection: "block", "flow" or "json". `text` is a scalar's content after unquoting and
    unfolding; for a JSON scalar that is no string, its source. `span` covers the value itself, quotes and brackets
    included, trailing comments and blank lines not; an absent value (`key:`) has an empty span behind the colon.
    `pinned` says why the value must not be changed by span (it is anchored, aliased, merged …), or is empty.
    """

    kind: str
    span: Span
    style: str
    text: str = ""
    entries: tuple[MapEntry, ...] = ()
    items: tuple[Node, ...] = ()
    pinned: str = ""

    def entry(self, key: str) -> MapEntry | None:
        """Return the entry of a mapping with that key, or None."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry
        return None

    def get(self, *path: str | int) -> Node | None:
        """Return the value at `path` (keys and indices from 0), or None where there is none."""
        node = self
        for step in path:
            found = node._step(step)
            if found is None:
                return None
            node = found
        return node

    def _step(self, step: str | int) -> Node | None:
        if isinstance(step, int):
            return self.items[step] if 0 <= step < len(self.items) else None
        entry = self.entry(step)
        return entry.value if entry else None

    def value(self) -> Any:  # noqa: ANN401 - any YAML or JSON value
        """Return the plain Python value, scalars resolved by the YAML 1.2 core schema (or JSON)."""
        if self.kind == "scalar":
            return self.text if self.is_string() else resolve_plain(self.text)
        if self.kind == "mapping":
            return {entry.key.text: entry.value.value() for entry in self.entries}
        return [item.value() for item in self.items]

    def is_string(self) -> bool:
        """Return whether a scalar is quoted, a block scalar, or a JSON string: a string in every schema."""
        return self.style not in {"plain", "json"}


class MapEntry(NamedTuple):
    """A key and its value in a mapping."""

    key: Node
    value: Node


def scalars(node: Node) -> Iterator[Node]:
    """Yield all scalars that a value holds, in their order; keys are not among them."""
    if node.kind == "scalar":
        yield node
    for entry in node.entries:
        yield from scalars(entry.value)
    for item in node.items:
        yield from scalars(item)


def equals(node: Node, value: object) -> bool:
    """Return whether a node means `value` already; a text also equals any plain scalar with that source but null."""
    if isinstance(value, Mapping):
        return (
            node.kind == "mapping"
            and len(node.entries) == len(value)
            and all(entry.key.text in value and equals(entry.value, value[entry.key.text]) for entry in node.entries)
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return (
            node.kind == "sequence"
            and len(node.items) == len(value)
            and all(equals(item, child) for item, child in zip(node.items, value, strict=True))
        )
    if node.kind != "scalar":
        return False
    found = node.value()
    if isinstance(value, str) and node.style != "json":
        return node.text == value and found is not None
    return type(found) is type(value) and (found == value or (found != found and value != value))  # noqa: PLR0124 - NaN


def is_encodable(text: str) -> bool:
    """Return whether a text has no half of a surrogate pair, which is no character: no UTF-8 file can hold one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def last_leaf(node: Node) -> Node:
    """Return the value with which a block ends: itself where it is none."""
    while node.style == "block" and (node.entries or node.items):
        node = node.entries[-1].value if node.entries else node.items[-1]
    return node


def resolve_plain(source: str) -> str | int | float | bool | None:
    """Return what an unquoted scalar means in the YAML 1.2 core schema: no dates, no Norway, octal only as `0o17`."""
    if _WORD.match(source):
        return source
    if source in _NULL:
        return None
    if source in _BOOL:
        return _BOOL[source]
    return _number(source)


def _number(source: str) -> str | int | float:
    found = _NUMBER.fullmatch(source)
    form = found.lastindex if found else None
    if form == _DECIMAL:
        try:
            return int(source)
        except ValueError:  # longer than Python converts; nobody means it as a number
            return source
    if form in {_OCTAL, _HEX}:
        return int(source, 0)
    if form == _FLOAT:
        return float(source)
    return float(source.replace(".", "")) if form else source

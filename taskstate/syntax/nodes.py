"""The span tree of YAML and JSON: every key and value with its position in the text.

The parsers (`yaml_parser`, `yaml_fast_parser`, `json_parser`) build the tree; here values are read from it. Edits are
in `yaml_edit` and `json_edit`. The meaning of keys belongs to `taskstate.validation` and `taskstate.model`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal, TypeGuard

    from taskstate.syntax.edits import Edit
    from taskstate.syntax.spans import Span

    NodeKind = Literal["scalar", "mapping", "sequence"]
    NodeStyle = Literal["plain", "single", "double", "literal", "folded", "block", "flow", "json"]

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_STRING_START = re.compile(r"[^-+.0-9~nNtTfF]")  # begins neither null, boolean nor number: decides most scalars
_NUMBER = re.compile(
    r"([-+]?[0-9]+)|(0o[0-7]+)|(0x[0-9a-fA-F]+)"
    r"|([-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)|([-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_MANY_KEYS = 64  # from here on a mapping is indexed
MANY_DIGITS = 1_000  # a number has fewer: of 4,300 and more Python fails to print it, or the one after it
_DECIMAL, _OCTAL, _HEX, _FLOAT = 1, 2, 3, 4  # groups of `_NUMBER`; the fifth is infinity or not-a-number


class Fault(NamedTuple):
    """An error in YAML or JSON: where, why, and the edits that repair it, if those are certain."""

    span: Span
    message: str
    kind: str = "syntax"
    fix: tuple[Edit, ...] = ()


class Stopped(Exception):
    """Ends parsing at a fault; never leaves the parser."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class Node(NamedTuple):
    """A value with its position: a scalar, a mapping or a sequence.

    `style` of a scalar is "plain", "single", "double", "literal", "folded" (YAML) or "json", that of a collection
    "block", "flow" or "json". `text` is a scalar's content after unquoting and
    unfolding; for a JSON scalar other than a string, its source. `span` covers the value itself, with quotes and
    brackets, without trailing comments and blank lines; an absent value (`key:`) has an empty span behind the colon.
    `pinned` is the reason why the value must not be edited (it is anchored, aliased, merged …), or empty.
    """

    kind: NodeKind
    span: Span
    style: NodeStyle
    text: str = ""
    entries: tuple[MapEntry, ...] = ()
    items: tuple[Node, ...] = ()
    pinned: str = ""

    def entry(self, key: str) -> MapEntry | None:
        """Return the entry with that key, the first if there are several, or None."""
        entries = self.entries
        if isinstance(entries, _ManyEntries):
            return entries.by_key.get(key)
        for entry in entries:
            if entry.key.text == key:
                return entry
        return None

    def get(self, *path: str | int) -> Node | None:
        """Return the value at `path` (keys and indices from 0), or None where there is none."""
        node = self
        for step in path:
            child = node._step(step)
            if child is None:
                return None
            node = child
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

    @property
    def plain(self) -> Any:  # noqa: ANN401 - any YAML or JSON value
        """The plain value for those who do not change it: where reading has made one, it is that."""
        return self.value()

    def is_string(self) -> bool:
        """Return whether a scalar is quoted, a block scalar, or a JSON string: a string in every schema."""
        return self.style not in {"plain", "json"}


class MapEntry(NamedTuple):
    """A key and its value in a mapping."""

    key: Node
    value: Node


class _ManyEntries(tuple[MapEntry, ...]):  # noqa: SLOT001 - it holds its index
    """The entries of a large mapping, indexed by key: a rule that asks for each of its keys takes linear time."""

    @cached_property
    def by_key(self) -> Mapping[str, MapEntry]:
        return {entry.key.text: entry for entry in reversed(self)}


def entries_of(entries: Sequence[MapEntry]) -> tuple[MapEntry, ...]:
    """Return the entries as a mapping holds them."""
    return _ManyEntries(entries) if len(entries) > _MANY_KEYS else tuple(entries)


def duplicates(entries: Iterable[MapEntry]) -> Iterator[Fault]:
    """Yield a fault for each key of a mapping in YAML that was given before."""
    seen: set[str] = set()
    for key, _ in entries:
        if key.text in seen:
            yield Fault(key.span, f"the key {key.text!r} is given twice", "duplicate-key")
        seen.add(key.text)


def scalars(node: Node) -> Iterator[Node]:
    """Yield all scalars in a value in the order of the text, without keys."""
    if node.kind == "scalar":
        yield node
    for entry in node.entries:
        yield from scalars(entry.value)
    for item in node.items:
        yield from scalars(item)


def is_pinned(node: Node) -> bool:
    """Return whether a value, or any key or value within it, must not be edited."""
    if node.kind == "scalar" or node.pinned:
        return bool(node.pinned)
    parts = chain(node.items, *node.entries)
    return any(each.pinned or (each.kind != "scalar" and is_pinned(each)) for each in parts)


def is_list(value: object) -> TypeGuard[Sequence[Any]]:
    """Return whether a value is written as a list: a sequence other than a string."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def equals(node: Node, value: object) -> bool:
    """Return whether a node already has `value`, so that it needs no edit.

    A string also equals the plain scalar with that source (`"101"` and `101`), except null.
    """
    if isinstance(value, Mapping):
        return (
            node.kind == "mapping"
            and len(node.entries) == len(value)
            and all(entry.key.text in value and equals(entry.value, value[entry.key.text]) for entry in node.entries)
        )
    if is_list(value):
        return (
            node.kind == "sequence"
            and len(node.items) == len(value)
            and all(equals(item, child) for item, child in zip(node.items, value, strict=True))
        )
    if node.kind != "scalar":
        return False
    current = node.value()
    if isinstance(value, str) and node.style != "json":
        return node.text == value and current is not None
    if type(current) is not type(value):  # Python takes 1, 1.0 and True for equal
        return False
    return current == value or (current != current and value != value)  # noqa: PLR0124 - NaN


def is_encodable(text: str) -> bool:
    """Return whether a text can be written as UTF-8, which half of a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def last_leaf(node: Node) -> Node:
    """Return the innermost last value of a block collection, with which its text ends; any other node itself."""
    while node.style == "block" and (node.entries or node.items):
        node = node.entries[-1].value if node.entries else node.items[-1]
    return node


def resolve_plain(source: str) -> str | int | float | bool | None:
    """Return the value of an unquoted scalar in the YAML 1.2 core schema.

    Unlike YAML 1.1 it has no dates, no `yes` and `no` (the country code of Norway), and octal only as `0o17`.
    """
    if len(source) < MANY_DIGITS and source.isascii() and source.isdecimal():  # as most numbers are
        return int(source)
    if _STRING_START.match(source):
        return source
    if source in _NULL:
        return None
    if source in _BOOL:
        return _BOOL[source]
    return _number(source)


def _number(source: str) -> str | int | float:
    match = _NUMBER.fullmatch(source)
    form = match.lastindex if match else None
    if form in {_DECIMAL, _OCTAL, _HEX}:
        if len(source) >= MANY_DIGITS:
            return source
        return int(source) if form == _DECIMAL else int(source, 0)
    if form == _FLOAT:
        return float(source)
    return float(source.replace(".", "")) if form else source

"""Writes single values as YAML text that YAML 1.1 and YAML 1.2 readers understand alike.

A string is left unquoted only if no version of YAML could read anything else in it; timestamps, hashes and whatever
begins with a digit are always quoted. Only new values are written here; existing text is edited by `yaml_edit`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from taskstate.errors import CannotEdit
from taskstate.syntax import invisible
from taskstate.syntax.nodes import is_encodable, is_list
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import is_plain
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

WIDTH = 100  # a flat collection is written on one line if it fits into this many columns

_PLAIN = r"(?:\.{0,2}/|\.(?=[A-Za-z]))?[^\W\d][\w./()+@'-]*(?: [\w./()+@'-]+)*"
_PLAIN_KEY = r"[A-Za-z_][A-Za-z0-9_.-]{0,199}"
_HASH = r"[0-9a-fA-F]{7,}"
_RESERVED = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"})
_SHORT_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\0": "\\0",
    "\x1b": "\\e",
    "\x85": "\\N",
}
_ESCAPED = '["\\\\\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffc\ufffe\uffff]'


class Verbatim(str):
    """A scalar that is written as it stands, such as a number as its source spells it."""

    __slots__ = ()


class OneLine(dict[str, object]):
    """A mapping that is written on one line in braces, however long it is."""


def yaml_scalar(value: object) -> str:
    """Return a string, number, boolean or null as YAML on one line."""
    if isinstance(value, str):
        return value if isinstance(value, Verbatim) or _is_plain(value) else double_quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value)
    raise CannotEdit(f"a value of type {type(value).__name__} cannot be written as YAML")


def yaml_key(key: str) -> str:
    """Return a mapping's key as YAML."""
    if compiled(_PLAIN_KEY).fullmatch(key) and key.lower() not in _RESERVED:
        return key
    return double_quoted(key)


def double_quoted(text: str) -> str:
    """Return a string in double quotes, with invisible characters escaped.

    Raises:
        CannotEdit: the string holds half of a surrogate pair, which no UTF-8 file can hold.
    """
    if not is_encodable(text):
        raise CannotEdit("half of a surrogate pair is not a character and cannot be written")
    if is_plain(text) and {'"', "\\", "\n", "\t", "\r"}.isdisjoint(text):
        return f'"{text}"'
    parts, at = list[str](), 0
    for start, end in invisible.find(text):
        parts += [_escaped(text[at:start]), *map(_escape, text[start:end])]
        at = end
    return f'"{"".join(parts)}{_escaped(text[at:])}"'


def yaml_flow(value: object) -> str:
    """Return a value as YAML on one line, collections in brackets."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{yaml_key(key)}: {yaml_flow(child)}" for key, child in value.items()) + "}"
    if is_list(value):
        return "[" + ", ".join(yaml_flow(child) for child in value) + "]"
    return yaml_scalar(value)


def yaml_entry(key: str, value: object, *, indent: int = 0) -> list[str]:
    """Return the lines of `key: value` in a block mapping, a large or nested value as a block below its key."""
    head = " " * indent + yaml_key(key) + ":"
    if fits_one_line(value, len(head) + 1):
        return [f"{head} {yaml_flow(value)}"]
    return [head, *yaml_block(value, indent + 2)]


def yaml_block(value: object, indent: int) -> list[str]:
    """Return the lines of a mapping or list as a block; it must not be empty."""
    if isinstance(value, Mapping):
        return [line for key, child in value.items() for line in yaml_entry(key, child, indent=indent)]
    if is_list(value):
        return [line for child in value for line in yaml_item(child, indent=indent)]
    raise CannotEdit(f"a value of type {type(value).__name__} is not a block")


def yaml_item(value: object, *, indent: int = 0) -> list[str]:
    """Return the lines of `- value` in a block list; a mapping of scalars is written on one line, however long."""
    if isinstance(value, Mapping) and value and not _is_simple(value):
        lines = yaml_block(value, indent + 2)
        return [" " * indent + "- " + lines[0][indent + 2 :], *lines[1:]]
    return [" " * indent + "- " + yaml_flow(value)]


def fits_one_line(value: object, column: int) -> bool:
    """Return whether a value that begins in `column` is written on one line: a scalar, or a short flat collection."""
    if isinstance(value, OneLine):
        return True
    if not isinstance(value, Mapping) and not is_list(value):
        return True
    return not value or (_is_simple(value) and column + len(yaml_flow(value)) <= WIDTH)


def _is_simple(value: Mapping[str, Any] | Sequence[Any]) -> bool:
    """Return whether a collection is flat: no child is a non-empty mapping or a list of collections."""
    return not any(_is_nested(child) for child in _children(value))


def _is_nested(child: object) -> bool:
    if isinstance(child, Mapping):
        return bool(child)
    return is_list(child) and any(isinstance(item, Mapping) or is_list(item) for item in child)


def _children(value: Mapping[str, Any] | Sequence[Any]) -> Iterable[Any]:
    return value.values() if isinstance(value, Mapping) else value


def _is_plain(text: str) -> bool:
    """Return whether every YAML version reads the unquoted text as this string, in a block and in brackets."""
    return (
        bool(compiled(_PLAIN).fullmatch(text))
        and text.lower() not in _RESERVED
        and not compiled(_HASH).fullmatch(text)
        and not any(invisible.find(text))
    )


def _escaped(text: str) -> str:
    return re.compile(_ESCAPED).sub(lambda match: _escape(match[0]), text)


def _escape(char: str) -> str:
    if char in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[char]
    if char > "\uffff":
        return f"\\U{ord(char):08x}"
    return f"\\x{ord(char):02x}" if char < "\u0100" else f"\\u{ord(char):04x}"


def _float(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    mantissa, exponent, power = repr(value).partition("e")
    if exponent and "." not in mantissa:
        mantissa += ".0"  # YAML 1.1 reads 1e+16 as a string
    return mantissa + exponent + power

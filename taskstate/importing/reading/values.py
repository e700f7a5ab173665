"""Reads JSON: one value, several one after the other, or a line each; objects come with their places.

Numbers stay as they are spelled where they are no whole ones, a key that is given twice and nesting beyond the limit
are faults, and what was taken out of an object leaves the rest, which is kept.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left

from taskstate.errors import TaskstateError
from taskstate.importing.records import Place, Refused
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source

MAX_DEPTH = 64
MAX_TEXT = 1024**2  # characters of one text in a record
_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"
_DIGITS = 300  # of a whole number
_TEXT = re.compile(r"[^ \t\r\n]")
_MARKER = re.compile(r"(?m)^(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
_LINES = (".jsonl", ".ndjson")


class Number(str):
    """A number as the source spells it: `1.50` stays that."""

    __slots__ = ()


class Located(NamedTuple):
    """A value and its place."""

    value: Any
    place: Place


class _Faulty(ValueError):
    """A value that JSON allows and we do not."""


def objects(source: Source, name: str) -> Iterator[Located | Refused]:
    """Yield the objects of a JSON file: of an array, of arrays one after the other or in one another, a line each.

    Raises:
        TaskstateError: code "invalid-input" or "conflict": the file is one value, and cannot be read.
    """
    text = source.text(name)
    if isinstance(text, Refused):
        raise TaskstateError(f"{text.place}: {text.why}", help="nothing was written", code="invalid-input")
    if name.endswith(_LINES) or _is_of_lines(text):
        yield from _of_lines(source, name, text)
        return
    require_no_conflict(source, name, text)
    at = _after_blanks(text, 1 if text.startswith("\ufeff") else 0)
    while at < len(text):
        at = yield from _of_value(source, name, text, at)
        at = _after_blanks(text, at)


def _after_blanks(text: str, at: int) -> int:
    """Return where the next character stands that is no blank; the end where there is none."""
    found = _TEXT.search(text, at)
    return found.start() if found else len(text)


def require_no_conflict(source: Source, name: str, text: str) -> None:
    """Refuse a file that is one value and holds an unfinished merge.

    Raises:
        TaskstateError: code "conflict".
    """
    marker = _MARKER.search(text)
    if marker:
        place = place_at(source, name, text, marker.start())
        raise TaskstateError(f"{place}: a merge conflict is left here", help="solve it first", code="conflict")


def value_of(source: Source, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the one value of a JSON file.

    Raises:
        TaskstateError: code "invalid-input" or "conflict".
    """
    text = source.text(name)
    if isinstance(text, Refused):
        raise TaskstateError(f"{text.place}: {text.why}", help="nothing was written", code="invalid-input")
    require_no_conflict(source, name, text)
    try:
        return _checked(_DECODER.decode(text))
    except (ValueError, RecursionError) as error:
        raise fault(source, name, text, error) from error


def record_of(source: Source, name: str) -> Located | Refused:
    """Return the one value of a JSON file that is a record among others, or why it cannot be taken."""
    text = source.text(name)
    if isinstance(text, Refused):
        return text
    marker = _MARKER.search(text)
    if marker:
        return Refused(place_at(source, name, text, marker.start()), "conflict", "a merge conflict is left here")
    try:
        return Located(_checked(_DECODER.decode(text)), source.place(name))
    except (ValueError, RecursionError) as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else 0
        return Refused(place_at(source, name, text, at), "bad-json", f"this is not JSON: {_why(error)}")


def places_in(source: Source, name: str) -> Callable[..., Place]:
    """Return a function that gives the place of the value that keys and indices lead to in a JSON file."""
    from taskstate.syntax.json_parser import read_json
    from taskstate.syntax.nodes import Node

    text = source.text(name)
    root = read_json(text, 0, len(text)) if isinstance(text, str) else None
    breaks = [match.start() for match in re.finditer("\n", text)] if isinstance(text, str) else []

    def place_of(*keys: str | int) -> Place:
        node = root.get(*keys) if isinstance(root, Node) else None
        row = bisect_left(breaks, node.span.start) if node else 0
        return source.place(name, row + 1, node.span.start - (breaks[row - 1] if row else -1) if node else 0)

    return place_of


def place_at(source: Source, name: str, text: str, at: int) -> Place:
    """Return the place of an offset in a file's text."""
    start = text.rfind("\n", 0, at) + 1
    return source.place(name, text.count("\n", 0, at) + 1, at - start + 1)


def fault(source: Source, name: str, text: str, error: Exception, base: int = 0) -> TaskstateError:
    """Return the error for JSON that cannot be read, at its line and column."""
    at = base + error.pos if isinstance(error, json.JSONDecodeError) else base
    help_ = "nothing was written; let the tool that made the file write it again"
    return TaskstateError(
        f"{place_at(source, name, text, at)}: this is not JSON: {_why(error)}", help=help_, code="invalid-input"
    )


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return str(error) if isinstance(error, _Faulty) else _TOO_DEEP


def _of_value(source: Source, name: str, text: str, at: int, depth: int = 0) -> Generator[Located | Refused, None, int]:
    """Yield the objects of the value at an offset, and return where it ends."""
    if text[at] != "[":
        value, end = _decoded(source, name, text, at)
        yield Located(value, place_at(source, name, text, at))
        return end
    if depth > MAX_DEPTH:
        raise fault(source, name, text, _Faulty(_TOO_DEEP), at)
    at = _after_blanks(text, at + 1)
    line, seen = text.count("\n", 0, at) + 1, at
    while text[at : at + 1] != "]":
        if text[at : at + 1] == "[":
            at = yield from _of_value(source, name, text, at, depth + 1)
        else:
            value, end = _decoded(source, name, text, at)
            line, seen = line + text.count("\n", seen, at), at
            yield Located(value, source.place(name, line, at - text.rfind("\n", 0, at)))
            at = end
        at = _after_blanks(text, at)
        if text[at : at + 1] == ",":
            at = _after_blanks(text, at + 1)
        elif text[at : at + 1] != "]":
            raise fault(source, name, text, json.JSONDecodeError("Expecting ',' or ']'", text, at))
    return at + 1


def _decoded(source: Source, name: str, text: str, at: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text, at)
        return _checked(value), end
    except json.JSONDecodeError as error:
        raise fault(source, name, text, error) from error
    except (ValueError, RecursionError) as error:
        raise fault(source, name, text, error, at) from error


def _of_lines(source: Source, name: str, text: str) -> Iterator[Located | Refused]:
    """Yield the objects of each line, and a refusal for each that is none; so is a merge conflict, line by line."""
    is_conflict = False
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        place = source.place(name, number)
        if not line.strip():
            continue
        is_marker = _MARKER.match(line) is not None
        if is_marker or is_conflict:
            is_conflict = not (is_marker and line.startswith(">"))
            yield Refused(place, "conflict", "it stands in a merge conflict")
            continue
        try:
            value = _checked(_DECODER.decode(line.strip()))
        except (ValueError, RecursionError) as error:
            yield Refused(place, "bad-json", f"this line is not JSON: {_why(error)}")
            continue
        yield from (Located(each, place) for each in _flat(value))


def _flat(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        for each in value:
            yield from _flat(each)
    else:
        yield value


def _is_of_lines(text: str) -> bool:
    """Return whether a text has a JSON value on its first line, and more below it."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip() or first.lstrip()[:1] != "{":
        return False
    try:
        _DECODER.decode(first)
    except (ValueError, RecursionError):
        return False
    return True


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise _Faulty("a key is given twice in one object")
    return values


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS:
        raise _Faulty("a number has too many digits")
    return int(digits)


def _no_constant(name: str) -> Any:  # noqa: ANN401 - raises
    raise _Faulty(f"{name} is not a JSON value")


def _checked(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return a value that is nested no deeper than the limit."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [each for value in level for each in _children(value)]
        if not level:
            return value
    raise _Faulty(_TOO_DEEP)


def _children(value: object) -> Any:  # noqa: ANN401 - the values within one
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_whole, parse_float=Number
)


class Taking:
    """An object of the source from which values are taken; what is left at the end has no place here, and is kept."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.rest = dict(values)

    def text(self, *keys: str) -> str:
        """Take the first of these keys that is there, if it is a text or a number; else it stays."""
        for key in keys:
            value = self.rest.get(key)
            if isinstance(value, str | int) and not isinstance(value, bool):
                self.rest.pop(key)
                return str(value)
            if value is None:
                self.rest.pop(key, None)
        return ""

    def list(self, key: str) -> list[Any]:
        """Take a list; a value of another kind stays."""
        value = self.rest.get(key)
        if isinstance(value, list) or value is None:
            self.rest.pop(key, None)
            return list(value or ())
        return []

    def fields(self) -> dict[str, Any]:
        """Return what was not taken, without what says nothing."""
        return {key: value for key, value in self.rest.items() if value not in (None, "", [], {})}

"""Reads JSON: one value, several one after the other, or a line each; objects come with their places.

Numbers stay as they are spelled where they are no whole ones, a key that is given twice and nesting beyond the limit
are faults, and what was taken out of an object leaves the rest, which is kept.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left

from taskstate.errors import TaskstateError
from taskstate.importing.records import COMMENTS, Count, Note, Place, Refused
from taskstate.syntax.yaml_emitter import Verbatim
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from typing import Any

    from taskstate.importing.reading.sources import Source
    from taskstate.importing.records import Found

MAX_DEPTH = 64
MAX_TEXT = 1024**2  # characters of one text in a record
_DIGITS = 300  # of a whole number
_TEXT = re.compile(r"[^ \t\r\n]|\Z")
_MARKER = re.compile(r"(?m)^(?:<{7}|={7}|>{7}|\|{7})(?: |$)")
_LINES = (".jsonl", ".ndjson")
_NAMES = ("login", "title", "name")  # of a person, a milestone, a label


class Number(Verbatim):
    """A number as the source spells it: `1.50` stays that."""

    __slots__ = ()


class Located(NamedTuple):
    """A value and its place."""

    value: Any
    place: Place


class _Faulty(ValueError):
    """A value that JSON allows and we do not."""


class _Json:
    """The text of a file with its lines, in which values are read."""

    def __init__(self, source: Source, name: str, text: str) -> None:
        self.source, self.name, self.text = source, name, text
        self.breaks = [match.start() for match in re.finditer("\n", text)]

    def place(self, at: int) -> Place:
        """Return the place of an offset."""
        row = bisect_left(self.breaks, at)
        return self.source.place(self.name, row + 1, at - (self.breaks[row - 1] if row else -1))

    def text_at(self, at: int) -> int:
        """Return where the next character stands that is no blank."""
        match = _TEXT.search(self.text, at)
        return match.start() if match else at

    def decoded(self, at: int) -> tuple[Any, int]:
        """Return the value at an offset and where it ends.

        Raises:
            TaskstateError: code "invalid-input".
        """
        try:
            value, end = _DECODER.raw_decode(self.text, at)
            return _checked(value), end
        except (ValueError, RecursionError) as error:
            raise self.fault(error, at) from error

    def fault(self, error: Exception, at: int) -> TaskstateError:
        """Return the error for what cannot be read, where it stands."""
        where = self.place(error.pos if isinstance(error, json.JSONDecodeError) else at)
        return error_of(Refused(where, "bad-json", f"this is not JSON: {_why(error)}"))

    def values(self, at: int, depth: int = 0) -> Generator[Located, None, int]:
        """Yield the value at an offset, or of an array each that is in it, and return where it ends."""
        if self.text[at : at + 1] != "[":
            value, end = self.decoded(at)
            yield Located(value, self.place(at))
            return end
        if depth > MAX_DEPTH:
            raise self.fault(RecursionError(), at)
        at = self.text_at(at + 1)
        while self.text[at : at + 1] != "]":
            at = self.text_at((yield from self.values(at, depth + 1)))
            if self.text[at : at + 1] == ",":
                at = self.text_at(at + 1)
            elif self.text[at : at + 1] != "]":
                raise self.fault(json.JSONDecodeError("Expecting ',' or ']'", self.text, at), at)
        return at + 1


def error_of(refused: Refused) -> TaskstateError:
    """Return the error for a file that is one value and cannot be taken."""
    message, is_conflict = f"{refused.place}: {refused.why}", refused.code == "conflict"
    help_ = "nothing was written; " + ("solve it" if is_conflict else "let the tool that made the file write it again")
    return TaskstateError(message, help=help_, code="conflict" if is_conflict else "invalid-input")


def objects(source: Source, name: str) -> Iterator[Located | Refused]:
    """Yield the objects of a JSON file: of an array, of arrays one after the other or in one another, a line each.

    Raises:
        TaskstateError: code "invalid-input" or "conflict": the file is one value, and cannot be read.
    """
    text = source.text(name)
    if isinstance(text, str) and (name.endswith(_LINES) or _is_of_lines(text)):
        yield from _of_lines(source, name, text)
        return
    whole = _json(source, name)
    if isinstance(whole, Refused):
        raise error_of(whole)
    at = whole.text_at(0)
    while at < len(whole.text):
        at = whole.text_at((yield from whole.values(at)))


def records(
    source: Source, names: Iterable[str], read: Callable[[Any, Place], Found], lists: Iterable[str] = ()
) -> Iterator[Found]:
    """Yield what each object of some files is, and the count; in one without an id they may stand in one of `lists`."""
    for name in names:
        for each in objects(source, name):
            value = Taking(each.value if isinstance(each, Located) else None)
            key = next((key for key in lists if isinstance(value.get(key), list) and "id" not in value), "")
            place_of = places_in(source, name) if key else None
            found = [Located(one, place_of(key, at)) for at, one in enumerate(value[key])] if place_of else [each]
            yield Count(len(found))
            yield from (one if isinstance(one, Refused) else read(*one) for one in found)


def value_of(source: Source, name: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the one value of a JSON file.

    Raises:
        TaskstateError: code "invalid-input" or "conflict".
    """
    found = record_of(source, name)
    if isinstance(found, Refused):
        raise error_of(found)
    return found.value


def record_of(source: Source, name: str) -> Located | Refused:
    """Return the one value of a JSON file that is a record among others, or why it cannot be taken."""
    whole = _json(source, name)
    if isinstance(whole, Refused):
        return whole
    try:
        return Located(_checked(_DECODER.decode(whole.text)), source.place(name))
    except (ValueError, RecursionError) as error:
        at = error.pos if isinstance(error, json.JSONDecodeError) else 0
        return Refused(whole.place(at), "bad-json", f"this is not JSON: {_why(error)}")


def places_in(source: Source, name: str) -> Callable[..., Place]:
    """Return a function that gives the place of the value that keys and indices lead to in a JSON file."""
    from taskstate.syntax.json_parser import read_json
    from taskstate.syntax.nodes import Node

    text = str(source.text(name))
    whole, root = _Json(source, name, text), read_json(text, 0, len(text))

    def place_of(*keys: str | int) -> Place:
        node = root.get(*keys) if isinstance(root, Node) else None
        return whole.place(node.span.start) if node else source.place(name)

    return place_of


def _json(source: Source, name: str) -> _Json | Refused:
    """Return the text of a file that is one value, or why it cannot be taken."""
    text = source.text(name)
    if isinstance(text, Refused):
        return text
    whole, marker = _Json(source, name, text), _MARKER.search(text)
    return Refused(whole.place(marker.start()), "conflict", "a merge conflict is left here") if marker else whole


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return error.msg
    return str(error) if isinstance(error, _Faulty) else f"it is nested more than {MAX_DEPTH} levels deep"


def _of_lines(source: Source, name: str, text: str) -> Iterator[Located | Refused]:
    """Yield the object of each line, and a refusal for each that is none; so is a merge conflict, line by line."""
    is_conflict = False
    for number, line in enumerate(text.split("\n"), 1):
        place, is_marker = source.place(name, number), _MARKER.match(line) is not None
        if is_marker or (is_conflict and line.strip()):
            is_conflict = not (is_marker and line.startswith(">"))
            yield Refused(place, "conflict", "it stands in a merge conflict")
        elif line.strip():
            try:
                yield from (Located(each, place) for each in _flat(_checked(_DECODER.decode(line.strip()))))
            except (ValueError, RecursionError) as error:
                yield Refused(place, "bad-json", f"this line is not JSON: {_why(error)}")


def _flat(value: Any) -> Iterator[Any]:  # noqa: ANN401 - any JSON value
    """Yield what is in an array, and in those within it; a page of issues may stand on a line."""
    for each in value if isinstance(value, list) else ():
        yield from _flat(each)
    if not isinstance(value, list):
        yield value


def _is_of_lines(text: str) -> bool:
    """Return whether a text has a JSON value on its first line, and more below it."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.strip() or not first.startswith("{"):
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
        inner = [each for each in level if isinstance(each, dict | list)]
        level = [each for one in inner for each in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return value
    raise RecursionError


_DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_whole, parse_float=Number
)


class Taking(dict[str, "Any"]):
    """An object of the source from which values are taken; what is left at the end has no place here, and is kept.

    One that is no object has nothing to take.
    """

    def __init__(self, value: object) -> None:
        super().__init__(value if isinstance(value, dict) else {})

    def text(self, *keys: str) -> str:
        """Take the first of these keys that says something, if it is a text or a number; else it stays."""
        for key in keys:
            value = self.get(key)
            if value in (None, ""):
                self.pop(key, None)
            elif isinstance(value, str | int) and not isinstance(value, bool):
                return str(self.pop(key))
        return ""

    def texts(self, *same: str, **keys: str) -> dict[str, Any]:
        """Take texts by keys that are also ours, and others by ours: `created_at="createdAt created_at"`."""
        return {key: self.text(*theirs.split()) for key, theirs in (dict(zip(same, same, strict=True)) | keys).items()}

    def list(self, key: str) -> list[Any]:
        """Take a list; a value of another kind stays."""
        value = self.get(key)
        return [*(self.pop(key, None) or ())] if isinstance(value, list) or value is None else []

    def fields(self) -> dict[str, Any]:
        """Return what was not taken, without what says nothing."""
        return {key: value for key, value in self.items() if value not in (None, "", [], {})}


def name_in(value: object) -> str:
    """Return the name of a label, a person or a milestone, which are objects or plain texts."""
    names = [value.get(key) for key in _NAMES] if isinstance(value, dict) else [value]
    return next((each for each in names if each and isinstance(each, str)), "")


def comments_in(entries: list[Any]) -> tuple[Note, ...]:
    """Return comments as a note, each below its author and time."""
    texts = list[str]()
    for each in entries:
        taking = Taking(each if isinstance(each, dict) else {"text": str(each)})
        author = name_in(taking.get("author") or taking.get("user"))
        by = ", ".join(filter(None, (author, taking.text("createdAt", "created_at")))) or "?"
        texts.append(f"**{by}:**\n\n{taking.text('body', 'text')}".replace("\r\n", "\n").strip())
    return (Note(COMMENTS, "\n\n".join(texts)),) if texts else ()

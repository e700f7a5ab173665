"""Parses JSON with the position of every key and value, which the standard library's `json` does not report.

Accepts what `json.loads` accepts, except what other readers refuse or silently change: NaN and Infinity, duplicate
keys, nesting over 100, half of a surrogate pair, an integer too long to print. `read_json` returns the span tree or a
worded fault. `loads` uses the C decoder for plain values of sound text, and declines anything else.

The C decoder also skips the objects and arrays that stand in a list: of ten thousand features few are looked at, so
each is read when somebody asks for its parts.
"""

from __future__ import annotations

import json
from functools import cached_property

from taskstate.syntax.nodes import MANY_DIGITS, Fault, MapEntry, Node, Stopped, entries_of, is_encodable
from taskstate.syntax.patterns import compiled
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Final, NoReturn

AFTER_THE_END = "comes after the end of the JSON value"
NEVER_CLOSED = "that begins here is never closed"
MAX_DEPTH = 100
_MAX_SHOWN = 40  # characters of the text that a message repeats
_BLANKS = " \t\n\r"
# Compiled on first use: sound JSON is read by the C decoder, and needs none of them.
_BLANK = r"[ \t\n\r]*"
_NEXT = r"[ \t\n\r]*,[ \t\n\r]*(?=[^ \t\n\r\]}])"  # to the next entry
_STRING_START = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+'
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?"
_WORD = r"""[^ \t\n\r,:\[\]{}"]+"""
_SURROGATE_ESCAPE = r"\\u[dD][89a-fA-F]"
_WORDS = frozenset({"true", "false", "null"})
_CONSTANTS = frozenset({"NaN", "Infinity", "-Infinity"})


class Declined:
    """The type of `DECLINED`, with which the quick reader says: ask `read_json`."""

    def __repr__(self) -> str:
        """Return the name of the constant."""
        return "DECLINED"


DECLINED: Final = Declined()


_LEVELS = 2  # a checklist, its list of features, a feature


def read_json(text: str, start: int, end: int) -> Node | Fault:
    """Return the span tree of the one JSON value in `text[start:end]`, with absolute spans, or the first fault.

    Of a sound object or array the value is read at once, and the places of its parts when somebody asks for one.
    """
    source = text[start:end]
    value = loads(source)
    if isinstance(value, (dict, list)):
        begin = start + len(source) - len(source.lstrip(_BLANKS))
        return _Unread.at(text, Span(begin, start + len(source.rstrip(_BLANKS))), value, levels=_LEVELS)
    has_surrogates = "\\u" in source and compiled(_SURROGATE_ESCAPE).search(source) is not None
    try:
        return _Parser(text, start, end, levels=0 if has_surrogates else 1).document()
    except Stopped as stopped:
        return stopped.fault


def loads(text: str) -> Any | Declined:  # noqa: ANN401 - any JSON value
    """Return the plain value of a JSON text, or `DECLINED` where anything is unusual or wrong."""
    try:
        value = _DECODER.decode(text)
    except (ValueError, RecursionError):  # the C decoder recurses with the nesting of the text
        return DECLINED
    if "\\u" in text and compiled(_SURROGATE_ESCAPE).search(text):
        return DECLINED
    return DECLINED if _too_deep(value) else value


def as_spelled(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value of sound JSON with each number as it is spelled, in a tuple: 1.0 and 1 are equal as values."""
    return _SPELLING.decode(text)


def _spelled(number: str) -> tuple[str]:
    return (number,)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) != len(pairs):
        raise ValueError("a key is given twice")
    return mapping


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _bounded(digits: str) -> int:
    if len(digits) >= MANY_DIGITS:
        raise ValueError("the number has too many digits")
    return int(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_int=_bounded)
_SPELLING = json.JSONDecoder(parse_int=_spelled, parse_float=_spelled)


def _too_deep(value: object, limit: int = MAX_DEPTH) -> bool:
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(limit):
        if not level:
            return False
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
    return bool(level)


class _Unread(Node):
    """A sound object or array; its parts are read when they are asked for."""

    @classmethod
    def at(cls, text: str, span: Span, known: Any = None, *, levels: int) -> _Unread:  # noqa: ANN401 - any JSON value
        """Return the object or array that a span of a text holds.

        Of the whole of a JSON text the value is known. So many `levels` of parts are left unread when this is read: of
        more, each would be decoded once for each level above it.
        """
        node = cls("mapping" if text[span.start] == "{" else "sequence", span, "json")
        node.source, node.known, node.levels = text, known, levels
        return node

    source: str
    known: Any
    levels: int

    @cached_property
    def _read(self) -> Node:
        parser = _Parser(self.source, *self.span, levels=self.levels)
        return (parser.mapping if self.kind == "mapping" else parser.sequence)(self.span.start)

    @property
    def entries(self) -> tuple[MapEntry, ...]:
        """The keys and values of an object."""
        return self._read.entries

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of an array."""
        return self._read.items

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """Return the plain value, a new one each time: it belongs to the caller."""
        return _DECODER.raw_decode(self.source, self.span.start)[0]

    @property
    def plain(self) -> Any:  # noqa: ANN401 - any JSON value
        """The plain value, the same one each time."""
        if self.known is None:
            self.known = self.value()
        return self.known


class _Parser:
    """One pass over one text; lives as long as one call of `read_json`."""

    def __init__(self, text: str, start: int, end: int, *, levels: int) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.depth = 0
        self.levels = levels  # of parts that may be left unread

    def document(self) -> Node:
        """Return the only value of the text."""
        at = self.skip(self.start)
        if at == self.end:
            raise self.stopped(self.start, self.end, "there is no JSON here, only blank space")
        node = self.value(at)
        rest = self.skip(node.span.end)
        if rest < self.end:
            raise self.stopped(rest, self.word_end(rest), f"{self.shown(rest)} {AFTER_THE_END}")
        return node

    def value(self, at: int) -> Node:
        """Return the value that begins at `at`."""
        char = self.char(at)
        if char == "{":
            return self.nested(at, self.mapping)
        if char == "[":
            return self.nested(at, self.sequence)
        if char == '"':
            return self.string(at)
        return self.word(at)

    def nested(self, at: int, read: Callable[[int], Node]) -> Node:
        """Parse a collection one level deeper; refuse it beyond the limit of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.stopped(at, at + 1, f"the JSON is nested more than {MAX_DEPTH} levels deep", "nesting")
        node = read(at)
        self.depth -= 1
        return node

    def unread(self, at: int) -> Node | None:
        """Return the object or array at `at` with its parts unread; None for a scalar, and where there is a fault."""
        levels = self.levels
        if not levels or self.char(at) not in {"{", "["}:
            return None
        self.levels = 0  # where there is a fault in it, it is found without trying this again at each level
        try:
            value, end = _DECODER.raw_decode(self.text, at)
        except (ValueError, RecursionError):
            return None
        if end > self.end or _too_deep(value, MAX_DEPTH - self.depth):
            return None
        self.levels = levels
        return _Unread.at(self.text, Span(at, end), levels=levels - 1)

    def mapping(self, start: int) -> Node:
        """Return the object whose `{` stands at `start`."""
        entries: list[MapEntry] = []
        seen: set[str] = set()
        at = self.skip(start + 1)
        more = self.char(at) != "}"
        while more:
            entry = self.entry(at, start)
            if entry.key.text in seen:
                raise self.stopped(*entry.key.span, f"a key is given twice: {entry.key.text!r}", "duplicate-key")
            seen.add(entry.key.text)
            entries.append(entry)
            at, more = self.next_one(entry.value.span.end, start)
        return Node("mapping", Span(start, at + 1), "json", entries=entries_of(entries))

    def entry(self, at: int, start: int) -> MapEntry:
        """Return the key at `at` with its value; `start` is where the object begins."""
        if self.char(at) != '"':
            self.no_key(at, start)
        key = self.string(at)
        at = self.skip(key.span.end)
        if self.char(at) != ":":
            if at == self.end:
                self.unclosed(start)
            raise self.stopped(
                at, self.word_end(at), f"a colon is missing between the key {key.text!r} and {self.shown(at)}"
            )
        at = self.skip(at + 1)
        if at < self.end and self.text[at] in ",}]":
            raise self.stopped(*key.span, f"the key {key.text!r} has no value")
        return MapEntry(key, self.unread(at) or self.value(at))

    def sequence(self, start: int) -> Node:
        """Return the array whose `[` stands at `start`."""
        items: list[Node] = []
        at = self.skip(start + 1)
        more = self.char(at) != "]"
        while more:
            items.append(self.unread(at) or self.value(at))
            at, more = self.next_one(items[-1].span.end, start)
        return Node("sequence", Span(start, at + 1), "json", items=tuple(items))

    def next_one(self, at: int, start: int) -> tuple[int, bool]:
        """Return the offset of the next entry or of the closing bracket, and whether there is a next entry."""
        usual = compiled(_NEXT).match(self.text, at, self.end)
        if usual:
            return usual.end(), True
        closing = "}" if self.text[start] == "{" else "]"
        at = self.skip(at)
        if self.char(at) == closing:
            return at, False
        if self.char(at) == ",":
            comma, at = at, self.skip(at + 1)
            if self.char(at) == closing:
                raise self.stopped(comma, comma + 1, f"there is a comma right before the closing {closing!r}")
            return at, True
        if at == self.end:
            self.unclosed(start)
        if self.text[at] in "]}":
            raise self.stopped(at, at + 1, f"{self.text[at]!r} closes what {self.text[start]!r} opened")
        raise self.stopped(at, self.word_end(at), f"a comma is missing before {self.shown(at)}")

    def string(self, at: int) -> Node:
        """Return the string that begins at `at`."""
        end = self.string_end(at)
        if self.char(end) != '"':
            self.bad_string(at, end)
        end += 1
        source = self.text[at:end]
        content = source[1:-1]
        if "\\" in content:
            content = json.loads(source)
            if compiled(_SURROGATE_ESCAPE).search(source) and not is_encodable(content):
                message = "half of a surrogate pair is escaped here, which is not a character"
                raise self.stopped(at, end, message, "surrogate")
        return Node("scalar", Span(at, end), "double", content)

    def string_end(self, at: int) -> int:
        """Return the offset of the closing quote of the string at `at`, or of the first character not allowed in it."""
        match = compiled(_STRING_START).match(self.text, at, self.end)
        return match.end() if match else at

    def word(self, at: int) -> Node:
        """Return the number, true, false or null that begins at `at`."""
        end = self.word_end(at)
        word = self.text[at:end]
        if word not in _WORDS:
            self.number(at, end)
        return Node("scalar", Span(at, end), "json", word)

    def number(self, at: int, end: int) -> None:
        """Refuse `text[at:end]` unless it is a number."""
        if at == self.end:
            raise self.stopped(self.start, self.end, "the JSON ends where a value is expected")
        word = self.text[at:end]
        if word in _CONSTANTS:
            raise self.stopped(at, end, f"{word} is not a JSON value; write null or a number", "constant")
        if not compiled(_NUMBER).fullmatch(word):
            raise self.stopped(at, end, _word_problem(word))
        if len(word) >= MANY_DIGITS and not any(sign in word for sign in ".eE"):
            raise self.stopped(at, end, "the number has too many digits", "number")

    def no_key(self, at: int, start: int) -> NoReturn:
        """Refuse what stands at `at`, where a key is expected."""
        if at == self.end:
            self.unclosed(start)
        raise self.stopped(at, self.word_end(at), f"a key in double quotes is expected, not {self.shown(at)}")

    def bad_string(self, at: int, stop: int) -> NoReturn:
        """Refuse the character at `stop` in the string that begins at `at`."""
        char = self.char(stop)
        if char == "\\":
            end = min(stop + 2, self.end)
            raise self.stopped(stop, end, f"{self.text[stop:end]!r} is not a JSON escape; a backslash is written \\\\")
        if char in {"", "\n", "\r"}:
            raise self.stopped(at, stop, "a quoted text is not closed on its line")
        raise self.stopped(
            stop,
            stop + 1,
            "there is a control character in a quoted text; write it as an escape such as \\t",
            "control",
        )

    def unclosed(self, start: int) -> NoReturn:
        """Refuse the collection that begins at `start`, because the text ends inside it."""
        collection = "object" if self.text[start] == "{" else "array"
        raise self.stopped(start, start + 1, f"the {collection} {NEVER_CLOSED}")

    def stopped(self, start: int, end: int, message: str, kind: str = "syntax") -> Stopped:
        """Return the exception that ends parsing with a fault."""
        return Stopped(Fault(Span(start, end), message, kind))

    def skip(self, at: int) -> int:
        """Return the offset of the first character at or after `at` that is not blank."""
        match = compiled(_BLANK).match(self.text, at, self.end)
        return match.end() if match else at

    def char(self, at: int) -> str:
        """Return the character at `at`, or an empty string at the end."""
        return self.text[at] if at < self.end else ""

    def word_end(self, at: int) -> int:
        """Return the end of the word, or of the single punctuation mark, that begins at `at`."""
        match = compiled(_WORD).match(self.text, at, self.end)
        return match.end() if match else min(at + 1, self.end)

    def shown(self, at: int) -> str:
        """Return the word at `at` for a message, shortened if it is long."""
        word = self.text[at : self.word_end(at)]
        if word == '"':
            word = self.text[at : self.string_end(at) + 1]
        return word if len(word) <= _MAX_SHOWN else word[:_MAX_SHOWN] + "…"


def _word_problem(word: str) -> str:
    if word.startswith("'"):
        return "JSON puts texts in double quotes, not single ones"
    if word.startswith(("//", "/*", "#")):
        return "JSON has no comments"
    if word in {",", ":", "]", "}"}:
        return f"a value is expected before {word!r}"
    if word.lower() in _WORDS or word == "None":
        meant = "null" if word == "None" else word.lower()
        return f"{word} is not a JSON value; write {meant}"
    if word[0] in "-+.0123456789":
        return f"{word[:_MAX_SHOWN]} is not a JSON number"
    return f"{word[:_MAX_SHOWN]} is not a JSON value; put a text in double quotes"

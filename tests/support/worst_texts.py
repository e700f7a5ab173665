"""Texts on which a regular expression would take longest: pieces of what it matches, repeated behind its beginnings."""

# ruff: noqa: ANN401 - the nodes of a parsed pattern have no public types

from __future__ import annotations

import re
from importlib import import_module
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_parser = import_module("re._parser")  # as `re` itself reads patterns; there is no public name
_CHARACTERS = "a0 \n-_*.:/`\"'#A\t\r,;([<"  # what the classes of our patterns have in common
_OF_A_CLASS = 4
_BEGINNINGS, _PIECES, _PAIRS = 40, 60, 100
_TAILS = ("\0", "", "\n\0")  # what no pattern expects, so that each goes back; and an end, as most expect it
_REPEATS = {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
_MOST = 100


class WorstText(NamedTuple):
    """A text in which one piece is repeated, of any size."""

    beginning: str
    piece: str
    tail: str

    def of_size(self, size: int) -> str:
        """Return the text of about a number of characters."""
        return self.beginning + self.piece * max(size // len(self.piece), 1) + self.tail


def worst_texts(pattern: str, flags: int) -> Iterator[WorstText]:
    """Yield texts that repeat a piece of a pattern, alone and behind the beginnings of what it matches."""
    found = _Pieces(pattern, flags)
    beginnings = list(found.beginnings)[:_BEGINNINGS]
    pieces = list(dict.fromkeys((*found.pieces, *found.beginnings)))[:_PIECES]
    if len(beginnings) * len(pieces) > _PAIRS:
        beginnings = [""]
    for piece, beginning, tail in product(filter(None, pieces), beginnings, _TAILS):
        yield WorstText(beginning, piece, tail)


class _Pieces:
    """What parts of a pattern match at least: each alone (`pieces`), and all up to a place in it (`beginnings`)."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pieces: dict[str, None] = {}
        self.beginnings: dict[str, None] = {"": None}
        self.groups: dict[int | None, str] = {}
        tree = _parser.parse(pattern, flags)
        self.dot_is_all = bool(tree.state.flags & re.DOTALL)
        self._walk(tree, "")

    def _walk(self, sequence: Any, before: str) -> str:
        """Return a text that a sequence of nodes matches."""
        text = ""
        for code, value in sequence:
            text += self._text(str(code), value, before + text)
            self.beginnings[before + text] = None
        self.pieces[text] = None
        return text

    def _text(self, code: str, value: Any, before: str) -> str:
        if code == "LITERAL":
            return self._alone([chr(value)])
        if code in {"NOT_LITERAL", "IN", "ANY"}:
            return self._alone(self._characters(code, value))
        if code in _REPEATS:
            least, _, part = value
            return self._walk(part, before) * (max(least, 1) if least < _MOST else 1)
        if code in {"SUBPATTERN", "ATOMIC_GROUP"}:
            part = value[-1] if code == "SUBPATTERN" else value
            text = self._walk(part, before)
            self.groups[value[0] if code == "SUBPATTERN" else None] = text
            return text
        if code == "BRANCH":
            return next(filter(None, [self._walk(each, before) for each in value[1]]), "")
        if code in {"ASSERT", "ASSERT_NOT"}:
            text = self._walk(value[1], before)
            return text if code == "ASSERT" and value[0] < 0 and not before.endswith(text) else ""
        if code == "GROUPREF_EXISTS":
            return self._walk(value[1], before)
        return self.groups.get(value, "") if code == "GROUPREF" else ""

    def _alone(self, characters: list[str]) -> str:
        self.pieces.update(dict.fromkeys(characters[:_OF_A_CLASS]))
        return characters[0] if characters else ""

    def _characters(self, code: str, value: Any) -> list[str]:
        """Return characters that a class matches, the usual ones first."""
        if code == "ANY":
            return [each for each in _CHARACTERS if self.dot_is_all or each != "\n"]
        parts = [("NEGATE", None), ("LITERAL", value)] if code == "NOT_LITERAL" else [(str(c), v) for c, v in value]
        own = [chr(v if c == "LITERAL" else v[0]) for c, v in parts if c in {"LITERAL", "RANGE"}]
        negated = parts[0][0] == "NEGATE"
        candidates = _CHARACTERS if negated else [*_CHARACTERS, *own]
        return [each for each in candidates if any(_is_in(each, *part) for part in parts) != negated]


def _is_in(character: str, code: str, value: Any) -> bool:
    if code == "CATEGORY":
        name = str(value)
        sign = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}[name.rpartition("_")[2]]
        return bool(re.match(sign, character)) != ("NOT" in name)
    if code == "RANGE":
        return bool(value[0] <= ord(character) <= value[1])
    return code == "LITERAL" and ord(character) == value

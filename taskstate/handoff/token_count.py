"""Counts tokens: with a real tokenizer where the extra `tokens` is installed, else by an estimate.

The tokenizer carries its vocabulary in its wheel, so it works without a network. The estimate is for two readers: who
has no tokenizer, and the brief, which must be quick to start and the same on every machine. It leans upwards, so what
fits a budget by it fits in truth: docs/briefs.md says by how much. Limits of files (`limits`) are in bytes and need no
look at the text; they do with a quarter of the size.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
_WORD = "[A-Z]?[a-z]+|[A-Z]+"
_USUAL = 6  # letters that a common word has at most and still is one token
# What a text consists of, and what each piece of it costs in hundredths of a token; fitted to this project's own
# documents, code, schemas and state files, and then raised by a twentieth.
_WORD_COST, _LETTER_COST = 112, 14
_COSTS = (
    (r"\d{1,3}", 150),
    (r"\n+", 105),
    (r"(?<=\S)[ \t]{2,}|(?<=\n)[ \t]+", 15),
    (r"([!-/:-@\[-`{-~])\1*", 62),  # punctuation, a run of one mark at once
    (r"[^\W\x00-\x7f]", 75),  # letters of other alphabets
    (r"[^\w\s\x00-\x7f]", 200),  # symbols
)
_WHOLE = 100


class Counter(NamedTuple):
    """What counts: the name of the vocabulary, or of the estimate, and whether it is the real thing."""

    name: str
    is_exact: bool


def count(text: str) -> int:
    """Return how many tokens a text has, as exactly as can be told here."""
    encode = _tokenizer()
    return estimate(text) if encode is None else len(encode(text))


def counter() -> Counter:
    """Return what `count` counts with."""
    return Counter(ESTIMATE, is_exact=False) if _tokenizer() is None else Counter(VOCABULARY, is_exact=True)


def estimate(text: str) -> int:
    """Return about how many tokens a text has, rather too many than too few; the same on every machine."""
    return -(-weight(text) // _WHOLE)


def weight(text: str) -> int:
    """Return the estimate in hundredths of a token; weights of whole paragraphs add up to that of their text."""
    words = re.findall(_WORD, text)
    longer = sum(len(word) - _USUAL for word in words if len(word) > _USUAL)
    rest = sum(cost * len(re.findall(pattern, text)) for pattern, cost in _COSTS)
    return len(words) * _WORD_COST + longer * _LETTER_COST + rest


@cache
def _tokenizer() -> Callable[[str], list[int]] | None:
    """Return what cuts a text into tokens, or None where it is not installed."""
    try:
        from splintr import Tokenizer
    except ImportError:
        return None
    ordinary: Callable[[str], list[int]] = Tokenizer.from_pretrained(VOCABULARY).encode_ordinary
    return ordinary

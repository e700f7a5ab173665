"""Counts the tokens of a text: with a real tokenizer where the extra `tokens` is installed, else by an estimate.

The tokenizer has its vocabulary in its wheel, so it works offline. The brief always uses the estimate, which is quick
and the same on every machine. The estimate is rather too high, so that a text which fits a budget by it really fits;
docs/briefs.md has the figures. Limits of file sizes are in bytes and do not need this module.
"""

from __future__ import annotations

import re
from functools import cache

from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

VOCABULARY = "o200k_base"
ESTIMATE = "estimate"
_WORD = "[A-Z]?[a-z]+|[A-Z]+"
_ONE_TOKEN_LETTERS = 6  # a common word of up to so many letters is one token
# The cost of each piece of a text in hundredths of a token: fitted to this project's own documents, code, schemas and
# state files, then raised by a twentieth.
_WORD_COST, _LETTER_COST = 112, 14
_COSTS = (
    (r"\d{1,3}", 150),
    (r"\n+", 105),
    (r"(?<=\S)[ \t]{2,}|(?<=\n)[ \t]+", 15),
    (r"([!-/:-@\[-`{-~])\1*", 62),  # punctuation; a run of the same mark counts once
    (r"[^\W\x00-\x7f]", 75),  # letters of other alphabets
    (r"[^\w\s\x00-\x7f]", 200),  # symbols
)
_HUNDREDTHS = 100


class Counter(NamedTuple):
    """A way of counting: the name of the vocabulary, or "estimate", and whether it is exact."""

    name: str
    is_exact: bool


def count(text: str) -> int:
    """Count the tokens of a text, exactly if the tokenizer is installed."""
    encode = _tokenizer()
    return estimate(text) if encode is None else len(encode(text))


def counter() -> Counter:
    """Return the way in which `count` counts here."""
    return Counter(ESTIMATE, is_exact=False) if _tokenizer() is None else Counter(VOCABULARY, is_exact=True)


def estimate(text: str) -> int:
    """Estimate the tokens of a text, rather too high than too low; the same on every machine."""
    return -(-weight(text) // _HUNDREDTHS)


def weight(text: str) -> int:
    """Return the estimate in hundredths of a token; the weights of paragraphs add up to that of their text."""
    words = re.findall(_WORD, text)
    extra_letters = sum(len(word) - _ONE_TOKEN_LETTERS for word in words if len(word) > _ONE_TOKEN_LETTERS)
    rest = sum(cost * len(re.findall(pattern, text)) for pattern, cost in _COSTS)
    return len(words) * _WORD_COST + extra_letters * _LETTER_COST + rest


@cache
def _tokenizer() -> Callable[[str], list[int]] | None:
    """Return the function that splits a text into tokens, or None if it is not installed."""
    try:
        from splintr import Tokenizer
    except ImportError:
        return None
    ordinary: Callable[[str], list[int]] = Tokenizer.from_pretrained(VOCABULARY).encode_ordinary
    return ordinary

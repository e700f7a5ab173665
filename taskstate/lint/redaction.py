"""Hides known credentials in the messages of findings, also where a message quotes only the beginning of one."""

from __future__ import annotations

from bisect import bisect_right

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MIN_PREFIX = 6  # characters; fewer reveal nothing, and a word such as `token` must not become stars


def redactor(values: Iterable[str]) -> Callable[[str], str]:
    """Return a function that replaces the secret `values` in a message by stars, also where it quotes a beginning."""
    ordered = sorted({value for value in values if len(value) >= _MIN_PREFIX})
    beginnings = {value[:_MIN_PREFIX] for value in ordered}

    def redact(message: str) -> str:
        parts, done, at = list[str](), 0, 0
        while at + _MIN_PREFIX <= len(message):
            if message[at : at + _MIN_PREFIX] in beginnings:
                parts += [message[done:at], "****"]
                at = done = at + _quoted_length(message[at:], ordered)
            else:
                at += 1
        return "".join([*parts, message[done:]])

    return redact if ordered else lambda message: message


def _quoted_length(text: str, ordered: Sequence[str]) -> int:
    """Return how much of the beginning of `text` is the beginning of one of the sorted values."""
    index = bisect_right(ordered, text)
    return max(_common_length(text, value) for value in ordered[max(index - 1, 0) : index + 1])


def _common_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (char, against) in pairs if char != against), min(len(one), len(other)))

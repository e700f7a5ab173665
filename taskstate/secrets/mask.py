"""Hides credentials: in a text each character of what is found, in a message also the beginning of a value.

What a door shows comes through here, so the search is loaded only for a text that may hold something to be hidden.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

from taskstate.secrets.look import may_hold_credential
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from taskstate.secrets.scan import Secret

_MIN_PREFIX = 6  # characters; fewer reveal nothing, and a word such as `token` must not become stars


# The keys of data under which no words stand, but what names a thing, or is computed from it: that stays as it is.
_NAMES = frozenset(
    {
        *("id", "ids", "task", "tasks", "session", "depends_on", "blocks", "chains", "circles", "citation"),
        *("path", "paths", "file", "files", "root", "folder"),
        *("revision", "state_revision", "token", "commit", "commits", "head", "tree", "seal", "sha256"),
    }
)
_ENDS_OF_NAMES = ("_at", "_id", "_path", "_paths", "_commit", "_hash", "_sha", "_sha256", "_tree")


def masked(text: str, allow: tuple[str, ...] = ()) -> str:
    """Return `text` with each character of what looks like a credential replaced by `*`, except line ends."""
    if may_hold_credential(text):
        from taskstate.secrets.scan import find

        while secrets := find(text, allow):  # again: a token right behind another one only now stands by itself
            text = _replaced_by_stars(text, secrets)
    return text


def masked_data(data: object, allow: tuple[str, ...] = ()) -> object:
    """Return JSON data with its texts as `masked` returns them; keys, and what names something, stay as they are."""
    texts = [*_texts(data)]
    text = "\n".join(texts)
    shown = masked(
        text, allow
    )  # at once: one look at ten thousand tasks takes a tenth of a look at each of their texts
    if shown == text:
        return data
    ends = accumulate(len(each) + 1 for each in texts)
    return _with_texts(data, (shown[end - len(each) - 1 : end - 1] for each, end in zip(texts, ends, strict=True)))


def _texts(data: object) -> Iterator[str]:
    """Yield the texts in JSON data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, each in data.items():
            if not _is_name(key, each):
                yield from _texts(each)
    elif isinstance(data, list | tuple):
        for each in data:
            yield from _texts(each)


def _with_texts(data: object, texts: Iterator[str]) -> object:
    """Return JSON data with other texts, in the order in which `_texts` yields them."""
    if isinstance(data, str):
        return next(texts)
    if isinstance(data, dict):
        return {key: each if _is_name(key, each) else _with_texts(each, texts) for key, each in data.items()}
    return [_with_texts(each, texts) for each in data] if isinstance(data, list | tuple) else data


def _is_name(key: object, value: object) -> bool:
    """Return whether a key says that its value is a name, or that all of a list are."""
    if key not in _NAMES and not (isinstance(key, str) and key.endswith(_ENDS_OF_NAMES)):
        return False
    listed = value if isinstance(value, list | tuple) else [value]
    return not any(isinstance(each, dict) for each in listed)


def _replaced_by_stars(text: str, secrets: Iterable[Secret]) -> str:
    """Return `text` with each character of `secrets` replaced by `*`, except line ends."""
    parts, end = [], 0
    for secret in secrets:
        value = secret.span.of(text)
        has_lines = "\n" in value or "\r" in value
        parts += [text[end : secret.span.start], re.sub(r"[^\r\n]", "*", value) if has_lines else "*" * len(value)]
        end = secret.span.end
    return "".join([*parts, text[end:]])


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

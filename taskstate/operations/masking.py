"""Hides credentials in the data of a result; what names something stays as it is."""

from __future__ import annotations

from itertools import accumulate

from taskstate.secrets.mask import masked
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# The keys of data under which no words stand, but what names a thing, or is computed from it: that stays as it is.
_NAMES = frozenset(
    {
        *("id", "ids", "task", "tasks", "session", "depends_on", "blocks", "chains", "circles", "citation"),
        *("path", "paths", "file", "files", "root", "folder"),
        *("revision", "state_revision", "token", "commit", "commits", "head", "tree", "seal", "sha256"),
    }
)
_NO_TEXTS = (int, float, type(None))
_ENDS_OF_NAMES = ("_at", "_id", "_path", "_paths", "_commit", "_hash", "_sha", "_sha256", "_tree")


def masked_data(data: object, allow: tuple[str, ...] = ()) -> object:
    """Return JSON data with its texts as `masked` returns them; keys, and what names something, stay as they are."""
    texts = list[str]()
    _take_texts(data, texts)
    text = "\n".join(texts)
    shown = masked(
        text, allow
    )  # at once: one look at ten thousand tasks takes a tenth of a look at each of their texts
    if shown == text:
        return data
    ends = accumulate(len(each) + 1 for each in texts)
    return _with_texts(data, (shown[end - len(each) - 1 : end - 1] for each, end in zip(texts, ends, strict=True)))


def _take_texts(data: object, texts: list[str]) -> None:
    """Add the texts in JSON data to a list; of ten thousand tasks there are hundreds of thousands."""
    if isinstance(data, str):
        texts.append(data)
    elif isinstance(data, dict):
        for key, each in data.items():
            if isinstance(each, _NO_TEXTS) or _is_name(key, each):
                continue
            if isinstance(each, str):  # as most: a call of its own would take longer than all else
                texts.append(each)
            else:
                _take_texts(each, texts)
    elif isinstance(data, list | tuple):
        for each in data:
            _take_texts(each, texts)


def _with_texts(data: object, texts: Iterator[str]) -> object:
    """Return JSON data with other texts, in the order in which they were taken."""
    if isinstance(data, str):
        return next(texts)
    if isinstance(data, dict):
        return {key: each if _is_name(key, each) else _with_texts(each, texts) for key, each in data.items()}
    return [_with_texts(each, texts) for each in data] if isinstance(data, list | tuple) else data


def _is_name(key: object, value: object) -> bool:
    """Return whether a key says that its value is a name, or that all of a list are."""
    if key not in _NAMES and not (isinstance(key, str) and key.endswith(_ENDS_OF_NAMES)):
        return False
    if isinstance(value, str):
        return True
    listed = value if isinstance(value, list | tuple) else [value]
    return not any(isinstance(each, dict) for each in listed)

"""Wording that messages in all packages share: a list cut short, a name that was meant, a file that is no text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError

if TYPE_CHECKING:
    from collections.abc import Sequence


def first_of(names: Sequence[str], most: int, *, separator: str = ", ", last: str = " and ") -> str:
    """Return the first `most` names in one line, and how many more there are."""
    more = f"{last}{len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def closest(word: str, known: Sequence[str], *, cutoff: float = 0.6) -> str:
    """Return the known word that looks most like `word`, or nothing where none is as alike as `cutoff` (0 to 1)."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, known, n=1, cutoff=cutoff)), "")


def decoded(data: bytes, name: str, *, advice: str = "convert it to UTF-8", code: str = "not-utf8") -> str:
    """Return the text of a file that an error calls `name`.

    Raises:
        TaskstateError: code "not-utf8", or the one given: it is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        what = f"{name} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise TaskstateError(what, help=advice, code=code) from error

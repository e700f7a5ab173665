"""Shared wording of messages: counts, a list or text cut short, the closest known name, a file that is not UTF-8."""

from __future__ import annotations

from itertools import islice

from taskstate.errors import TaskstateError
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from taskstate.error_codes import ErrorCode


def first_of(names: Sequence[str], most: int, *, separator: str = ", ", last: str = " and ") -> str:
    """Return the first `most` names on one line, with the number of those left out."""
    more = f"{last}{len(names) - most} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def counted(number: int, noun: str, ending: str = "s") -> str:
    """Return a number with its noun, which takes `ending` in the plural."""
    return f"{number} {noun}{'' if number == 1 else ending}"


def one_line(text: str, most: int) -> str:
    """Return a text as one line of at most `most` characters; an ellipsis stands for what is cut off."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "\u2026"


def quoted(word: str) -> str:
    """Return a word as it stands in a command: in quotes where it has a blank, as people's names have."""
    import shlex

    return shlex.quote(word)


def typed_path(path: str) -> str:
    """Return the path of a file as it stands in a command, where none is taken for a flag."""
    return quoted(f"./{path}" if path.startswith("-") else path)


MOST_GUESSED = 100  # faults of one kind for which a similar word is looked for: thousands are no slips
_MOST_KNOWN = 1_000  # words that one is compared with


def closest(word: str, known: Iterable[str], *, cutoff: float = 0.6) -> str:
    """Return the known word most similar to `word`, or an empty string below the similarity `cutoff` (0 to 1)."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, [*islice(known, _MOST_KNOWN)], n=1, cutoff=cutoff)), "")


def decoded(data: bytes, name: str, *, advice: str = "convert it to UTF-8", code: ErrorCode = "not-utf8") -> str:
    """Decode the UTF-8 text of a file; errors call it `name`.

    Raises:
        TaskstateError: code "not-utf8", or the one given: it is not UTF-8.
    """
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"{name} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise TaskstateError(message, help=advice, code=code) from error

"""Regular expressions from a configuration, which may be a stranger's: they take time in proportion to the text.

RE2 runs them: it never backtracks, and for that has no look-around and no back-references; a pattern with one is
refused where the configuration is read. Patterns in our own code are Python's, written with care and tested.
"""

from __future__ import annotations

from functools import cache

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence


def problem(pattern: str) -> str:
    """Return why a pattern cannot be used, in words, or an empty string."""
    import re2

    try:
        compiled(pattern)
    except UnicodeEncodeError:
        return "is not a text"
    except re2.error as error:
        reason = error.args[0]
        said = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        shown = said.encode("unicode_escape").decode()  # it may quote what a terminal would act on
        return f"is no regular expression of RE2 (it has no look-around): {shown}"
    return ""


# Bytes that a compiled pattern may take, an eighth of RE2's own limit: a cloned configuration may have many, and what
# takes that much (`\pL{200}`) takes 70 ms to compile.
_MOST_MEMORY = 1024**2


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern, compiled for a search in linear time; it has the methods of Python's own.

    Raises:
        re2.error: it is no pattern, or one that cannot be searched for in linear time; `problem` says so in words.
    """
    import re2

    options = re2.Options()
    options.log_errors = False  # it would write on standard error
    options.max_mem = _MOST_MEMORY
    pattern_in_re2: re.Pattern[str] = re2.compile(pattern, options)
    return pattern_in_re2


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches anywhere in a text, in which lone surrogates count as question marks."""
    return compiled(pattern).search(text.encode("utf-8", "replace").decode()) is not None


_SAMPLES = 4
_LENGTHS = (20, 40)  # of an AWS id and key, between which most tokens are


def match_everything(patterns: Sequence[str]) -> bool:
    """Return whether all values of one length match one of the patterns: it is tried on random letters and digits."""
    return any(
        all(any(matches(pattern, _sample(number, length)) for pattern in patterns) for number in range(_SAMPLES))
        for length in _LENGTHS
    )


def _sample(number: int, length: int) -> str:
    """Return a random value, the same one for the same number."""
    import base64
    import hashlib

    random = base64.b64encode(hashlib.sha512(bytes([number])).digest()).decode()
    return random.replace("+", "").replace("/", "")[:length]

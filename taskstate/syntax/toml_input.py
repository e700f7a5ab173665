"""Reads TOML that may be a stranger's: every fault is one `ValueError`, and no key or number is without end."""

from __future__ import annotations

import re

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_LEAST, _MOST = -(2**63), 2**63 - 1  # of whole numbers, as the TOML specification says
_TOO_LARGE = "it has a whole number with more than 64 bits"
_MOST_PARTS = 100  # of a key, joined by dots: for each part `tomllib` builds the key up to there
_LONG_KEY = rf"(?m)^(?:[^=.\r\n#]*+\.){{{_MOST_PARTS}}}[^=\r\n#]*(?:=|\][ \t]*(?:#.*)?\r?$)"


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML text, which may begin with a byte order mark.

    Raises:
        ValueError: it is not valid, or nested too deeply.
    """
    import tomllib

    if text.count(".") >= _MOST_PARTS and re.compile(_LONG_KEY).search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        values = tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        if isinstance(error, tomllib.TOMLDecodeError):
            raise
        raise ValueError(_TOO_LARGE) from error  # Python reads no number of thousands of decimal digits
    _require_numbers_in_bounds(values)
    return values


def _require_numbers_in_bounds(values: dict[str, Any]) -> None:
    """Refuse whole numbers that TOML itself does not know: Python cannot even print one of thousands of digits."""
    waiting: list[object] = [values]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, int) and not _LEAST <= value <= _MOST:
            raise ValueError(_TOO_LARGE)

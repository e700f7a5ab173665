"""Reads TOML that may be a stranger's: every fault is one `ValueError`, and no key is nested without end."""

from __future__ import annotations

import re

from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

_MOST_PARTS = 100  # of a key, joined by dots: for each part `tomllib` builds the key up to there
_LONG_KEY = rf"(?m)^[ \t]*\[{{0,2}}(?:[^=.\r\n#]*\.){{{_MOST_PARTS}}}[^=\r\n#]*(?:=|\][ \t]*(?:#.*)?\r?$)"


def read_toml(text: str) -> dict[str, Any]:
    """Return the values of a TOML text, which may begin with a byte order mark.

    Raises:
        ValueError: it is not valid, or nested too deeply.
    """
    import tomllib

    if text.count(".") >= _MOST_PARTS and re.compile(_LONG_KEY).search(text):
        raise ValueError(f"a key has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error

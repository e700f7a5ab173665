"""Files of JSON that may be lost: what was found out once, kept from run to run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

# What reading a memory may meet, also in values that are not of the expected form: then it is none.
DAMAGED = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)
_END = "end"


def load(path: Path) -> Any:  # noqa: ANN401 - whatever the file holds
    """Return what a file holds.

    Raises:
        OSError, ValueError, RecursionError: it is not there, or cannot be read; all are among `DAMAGED`.
    """
    return json.loads(path.read_bytes())


def save(path: Path, value: object) -> None:
    """Put a value in the place of what a file holds; where that cannot be done, the next run is slower."""
    _put(path, json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode())


def save_lines(path: Path, lines: tuple[str, ...]) -> None:
    """Put lines in the place of what a file holds, with a line of their own that says that they are all there."""
    _put(path, "\n".join((*lines, _END)).encode(errors="backslashreplace"))


def load_lines(path: Path) -> list[str]:
    """Return the lines that a file holds.

    Raises:
        OSError, ValueError: it is not there, cannot be read, or is torn; all are among `DAMAGED`.
    """
    *lines, end = path.read_bytes().decode().split("\n")
    if end != _END:
        raise ValueError(path)
    return lines


def _put(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        os.makedirs(path.parent, exist_ok=True)
        temporary.write_bytes(data)  # not synced: what a crash leaves of it is no JSON, and is not read
        os.replace(temporary, path)
    except OSError:
        return

"""Answers what rules ask about paths: whether they exist or lead outside, and what the artifacts there hold.

Each function takes the file that is checked, and a path; those that end in `_mark` take the mark of an answer.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from taskstate.errors import TaskstateError
from taskstate.storage import files

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.queries.repository import File

_GZIP = ".gz"
NO_ARTIFACT = "?"  # the mark of a path that is none of an artifact


def exists_mark(file: File, path: str) -> str:
    """Tell whether the repository has something at a path from its root."""
    try:
        return "yes" if file.repository.source.exists(file.repository.workspace.root / path) else "no"
    except ValueError:  # no path that the system knows
        return "no"


def leads_outside_mark(file: File, path: str) -> str:
    """Tell whether a path from the root goes through a link that leads outside."""
    root = file.repository.real_root
    try:
        real = os.path.realpath(os.path.join(root, path))
    except (OSError, ValueError):
        return "no"
    return "no" if real == root or real.startswith(root + os.sep) else "yes"


def content_hash(file: File, path: str, *, text: bool) -> str | None:
    """Return the SHA-256 of what an artifact holds, unpacked, as text with LF for every line end.

    Empty where there is no such file here, None where it is none or cannot be read.
    """
    place = _place(file, path)
    if place is None:
        return None
    try:
        return _digest(files.read(place), text=text, name=path) if files.size(place) is not None else ""
    except TaskstateError:
        return None


def content_mark(file: File, path: str, _form: str) -> str:
    """Take the mark of an artifact; in whatever form its content is hashed, it is the same."""
    place = _place(file, path)
    return file.repository.source.mark(place) if place else NO_ARTIFACT


def presence_mark(file: File, path: str) -> str:
    """Tell whether there is an artifact of that name."""
    place = _place(file, path)
    if place is None:
        return NO_ARTIFACT
    return "yes" if file.repository.source.exists(place) else "no"


def _place(file: File, path: str) -> Path | None:
    """Return where an artifact lies; None where the path leads elsewhere, which another rule tells."""
    from taskstate.workspace import artifacts

    try:
        return artifacts.absolute_path(file.repository.workspace, path)
    except TaskstateError:
        return None


def _digest(data: bytes, *, text: bool, name: str) -> str:
    """Return the hash of what an artifact holds; of a torn one that of its own bytes, which is never the right one."""
    from taskstate.workspace import artifacts

    if name.endswith(_GZIP):
        try:
            data = artifacts.gunzipped(data, name)
        except TaskstateError:
            return files.digest(data)
    return files.digest(_normalised(data) if text else data)


def _normalised(data: bytes) -> bytes:
    """Return a diff as its hash sees it: LF for every line end, and one at the end."""
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data if not data or data.endswith(b"\n") else data + b"\n"

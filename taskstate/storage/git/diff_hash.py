"""Hashes diffs, so that the same change of the same lines gives the same hash."""

from __future__ import annotations

import re

from taskstate.storage import files

# Between the header of a file and its hunks git names the objects. Their ids depend on the line ends of the whole file.
# No line of a hunk begins like this, since it has a sign before it.
_OBJECT_IDS = re.compile(rb"(?m)^index [0-9a-f]+\.\.[0-9a-f]+(?: [0-7]+)?\n")


def diff_sha256(diff: bytes) -> str:
    """Return the SHA-256 of a diff with LF line ends, the last line included, without the lines that name objects."""
    return files.digest(_OBJECT_IDS.sub(b"", _with_lf(diff)))


def _with_lf(diff: bytes) -> bytes:
    text = diff.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return text if not text or text.endswith(b"\n") else text + b"\n"

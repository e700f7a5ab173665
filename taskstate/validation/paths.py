"""Checks whether a path in a user's file stays inside the repository, from its text alone.

Paths have `/` between their parts and begin at the repository's root or at the state folder. The check is the same on
every system, and counts what Windows would make of a path, since the same file is read there.
"""

from __future__ import annotations

import re

# Patterns, compiled where they are used.
_DRIVE = r"[A-Za-z]:"
_HOME = r"~[A-Za-z0-9._-]*(?:/|\Z)"
_ESCAPE = r"\\(?:[0-7]{3}|.)"  # of a path that git has quoted
_WILDCARD = r"[*?\[{]"


def escape_reason(path: str, root: str = "the repository") -> str:
    """Return the reason why a path does not stay inside `root`, in words, or an empty string if it does."""
    quoted = path.startswith('"') and path.endswith('"') and len(path) > 1
    plain = (re.sub(_ESCAPE, "x", path[1:-1]) if quoted else path).replace("\\", "/")
    if re.match(_DRIVE, plain):
        return "begins with a drive letter"
    if plain.startswith("/"):
        return "is absolute"
    if re.match(_HOME, plain):
        return "begins in a home folder"
    depth = 0
    for part in plain.split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part.strip(" \t"), 1)  # Windows ignores blanks at the end of a part
        if depth < 0:
            return f"leads out of {root}"
    return ""


def literal_prefix(path: str) -> str:
    """Return the folders of a pattern before its first wildcard; the whole path if there is none."""
    wildcard = re.search(_WILDCARD, path)
    return path[: wildcard.start()].rpartition("/")[0] if wildcard else path

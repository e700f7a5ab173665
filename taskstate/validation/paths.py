"""Why a path in somebody's file must not be followed: it is judged as a text, on every system alike.

A path has `/` between its parts and begins at the repository's root, or at the state folder. What Windows would make of
it counts too, since the same file is read there.
"""

from __future__ import annotations

import re

# Patterns, compiled where they are used.
_DRIVE = r"[A-Za-z]:"
_HOME = r"~[A-Za-z0-9._-]*(?:/|\Z)"
_ESCAPE = r"\\(?:[0-7]{3}|.)"  # in the form in which git quotes a path
_WILDCARD = r"[*?\[{]"


def escape_reason(path: str, root: str = "the repository") -> str:
    """Return in words how a path leads out of its root, or nothing where it stays inside."""
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
        depth += {"": 0, ".": 0, "..": -1}.get(part.strip(" \t"), 1)
        if depth < 0:
            return f"leads out of {root}"
    return ""


def literal_prefix(path: str) -> str:
    """Return the beginning of a path that holds no wildcard, up to a `/`: the whole of one that has none."""
    found = re.search(_WILDCARD, path)
    return path[: found.start()].rpartition("/")[0] if found else path

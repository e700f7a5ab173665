"""Conversion of paths typed by the user, and for display."""

from __future__ import annotations

import os
from pathlib import Path


def real(path: str) -> Path:
    """Return an absolute path with links in its folders resolved; a link at the end is kept, and refused when read."""
    folder, name = os.path.split(os.path.abspath(path))
    return Path(os.path.realpath(folder), name)


def shown(path: Path) -> str:
    """Return a path for display: relative to the working folder where it lies inside."""
    here = os.getcwd()
    return os.path.relpath(path, here).replace(os.sep, "/") if path.is_relative_to(here) else str(path)

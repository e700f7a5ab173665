"""Paths as people type them, and as they are shown to them."""

from __future__ import annotations

import os
from pathlib import Path


def real(path: str) -> Path:
    """Return where a path leads, links on the way followed; a file that is one itself is told when it is read."""
    folder, name = os.path.split(os.path.abspath(path))
    return Path(os.path.realpath(folder), name)


def shown(path: Path) -> str:
    """Return a path relative to the working folder where it lies in it."""
    here = os.getcwd()
    return os.path.relpath(path, here).replace(os.sep, "/") if path.is_relative_to(here) else str(path)

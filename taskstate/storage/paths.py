"""Conversion of paths typed by the user, and for display."""

from __future__ import annotations

import os
from pathlib import Path


def real(path: str) -> Path:
    """Return an absolute path with links to folders resolved; one to a file is kept, and refused when read."""
    from taskstate.storage import folders

    folder, name = os.path.split(os.path.abspath(path))
    found, behind = Path(os.path.realpath(folder), name), Path(os.path.realpath(path))
    return behind if folders.is_folder(behind) else found


def followed(path: str) -> Path:
    """Return the path of a file that a user named, which may well be a link; as it was typed if none is in it."""
    real_path = os.path.realpath(path)
    return Path(path) if real_path == os.path.abspath(path) else Path(real_path)


def shown(path: Path) -> str:
    """Return a path for display: relative to the working folder where it lies inside."""
    here = os.getcwd()
    return os.path.relpath(path, here).replace(os.sep, "/") if path.is_relative_to(here) else str(path)

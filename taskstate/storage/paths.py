"""Conversion of paths typed by the user, and for display; and what is in the way of one."""

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


def hindrance(path: Path | str) -> str:
    """Return what to do about a folder that keeps `path` from being reached or listed; empty where none does."""
    import shlex

    from taskstate.storage import folders

    way = (*reversed(Path(path).parents), Path(path))
    place = next((each for each in way if not folders.is_folder(each) or not folders.may(each, os.X_OK)), way[-1])
    named = shlex.quote(str(place))
    if folders.is_link(place):
        return f"links are not followed; put the real file or folder where {named} is"
    if folders.is_folder(place):
        return "" if folders.may(place, os.R_OK | os.X_OK) else f"`chmod u+rwx {named}`, as its owner, opens it"
    is_above = place != way[-1] and folders.exists(place)
    return f"move {named} away, and put the folder in its place" if is_above else ""

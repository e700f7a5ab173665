"""Which of taskstate's own files stand where: all under the state folder, and elsewhere what git does not ignore."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from taskstate.model import names
from taskstate.storage.git import client as git

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".venv"})  # folders, where git does not say what is ignored
DERIVED_FOLDERS = frozenset({"artifacts", "cache", "journal"})  # folders of the state folder


def is_own(name: str) -> bool:
    """Return whether a file name or path is one of taskstate's own."""
    return names.own_file(name) is not None


def own_files(
    folder: Path,
    state_root: Path,
    is_wanted: Callable[[str], bool] = is_own,
    patterns: Sequence[str] = git.OWN_PATTERNS,
) -> list[str]:
    """Return the paths of the wanted files in a folder, in no order; without git of all that are there.

    `is_wanted` is asked with at least a file's name and that of its folder; `patterns` say the same to git.
    """
    derived = {f"{state_root}{os.sep}{name}" for name in DERIVED_FOLDERS}
    if folder.is_relative_to(state_root):
        return _walk(folder, is_wanted, derived)
    holds_state = state_root.is_relative_to(folder)
    without = state_root.relative_to(folder).as_posix() if holds_state else ""
    listed = git.start_listing(folder, patterns, without)  # works while we do
    found = _walk(state_root, is_wanted, derived) if holds_state else []
    known = listed()
    if known is None:
        return found + _walk(folder, is_wanted, {str(state_root)})
    elsewhere = (os.path.join(folder, name) for name in known if is_wanted(name))
    return found + [path for path in elsewhere if os.path.lexists(path)]


def _walk(top: Path, is_wanted: Callable[[str], bool], passed_over: Collection[str]) -> list[str]:
    """Return the wanted files under `top`, links to folders not followed, without the folders that are passed over."""
    found: list[str] = []
    pending = [str(top)]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:  # no such folder, or none that may be read
            continue
        last = os.path.basename(folder)
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                found += [entry.path] if is_wanted(f"{last}/{entry.name}") else []
            elif entry.name not in IGNORED_FOLDERS and entry.path not in passed_over:
                pending.append(entry.path)
    return found

"""Lets git read the objects of a stranger's repository, and nothing else of it.

Git works in an empty folder of ours; the foreign folder of objects is named by the environment. So it reads none of the
repository's settings, hooks, attributes, references and replacements, of which some name programs.
"""

from __future__ import annotations

import os
from pathlib import Path

from taskstate.errors import TaskstateError
from taskstate.fleet.heads import require_below
from taskstate.storage import files, folders, temporary
from taskstate.storage.git import client as git

_BY_LENGTH = {40: "sha1", 64: "sha256"}  # of an object id
_MOST_NESTED = 5  # as for git
_MOST_BYTES = 64 * 1024
# Packs are looked at through windows: a child may not take more memory than it is allowed.
_CORE = "\tbare = true\n\tpackedGitWindowSize = 16m\n\tpackedGitLimit = 128m\n\tdeltaBaseCacheLimit = 32m\n"


def empty_folders(folder: Path) -> None:
    """Make the empty git folders, one for each kind of object ids."""
    for kind in _BY_LENGTH.values():
        for name in ("refs", "objects"):
            files.make_folder(folder / kind / name)
        version, extension = (0, "") if kind == "sha1" else (1, f"[extensions]\n\tobjectFormat = {kind}\n")
        config = f"[core]\n\trepositoryformatversion = {version}\n{_CORE}{extension}"
        temporary.scratch_file(folder / kind / "HEAD", b"ref: refs/heads/main\n")
        temporary.scratch_file(folder / kind / "config", config.encode("ascii"))


def home(empty: Path, commit: str) -> Path:
    """Return the empty git folder in which git reads a commit."""
    return empty / _BY_LENGTH[len(commit)]


def opened(empty: Path, objects: str, commit: str, roots: frozenset[str]) -> git.Objects:
    """Return what reads a folder of objects.

    Raises:
        TaskstateError: it may not be read, or leads to objects outside of the sources.
    """
    _require_fitting(objects, roots, 0, set())
    work = str(home(empty, commit))
    around = {
        **dict.fromkeys(("GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "HOME", "XDG_CONFIG_HOME"), work),
        "GIT_OBJECT_DIRECTORY": objects,
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": "",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_COUNT": "0",
        "GIT_CONFIG_PARAMETERS": "",
        "GIT_NO_REPLACE_OBJECTS": "1",
    }
    return git.Objects(Path(work), around)


def _require_fitting(objects: str, roots: frozenset[str], depth: int, seen: set[str]) -> None:
    """Look at a folder of objects, and at those that it borrows from; git passes over what it has met."""
    objects = require_below(objects, roots, "a folder of objects")
    if objects in seen:
        return
    seen.add(objects)
    if not folders.may(objects, os.R_OK | os.X_OK):
        raise TaskstateError(f"the objects in {files.shown(objects)} may not be read", code="no-permission")
    for folder in folders.walk(objects):  # git follows a link, also that of a single object
        if folder.error or folder.links:
            why = f"cannot be listed: {folder.error.strerror}" if folder.error else "holds a link"
            raise TaskstateError(f"the folder of objects {files.shown(folder.path)} {why}", code="no-permission")
    for each in _borrowed(objects):
        if depth == _MOST_NESTED:
            raise TaskstateError("its objects are borrowed from too many folders in a row", code="git")
        _require_fitting(each, roots, depth + 1, seen)


def _borrowed(objects: str) -> list[str]:
    listed = Path(objects, "info", "alternates")
    if not folders.exists(listed):
        return []
    lines = [line for line in files.read(listed, _MOST_BYTES).split(b"\n") if line and not line.startswith(b"#")]
    if any(line.startswith(b'"') or b"\0" in line for line in lines):  # git reads another path than stands there
        raise TaskstateError("its objects are borrowed from a folder whose name is quoted", code="git")
    paths = [os.path.join(objects, os.fsdecode(line)) for line in lines]
    return [*paths, *map(os.path.normpath, paths)]  # versions of git differ in whether `..` counts before links

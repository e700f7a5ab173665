"""Answers queries about paths: whether they exist or lead outside, and the content hashes of artifacts.

Each function takes the file that is checked, and a path. Those named `..._mark` return the mark of an answer.
"""

from __future__ import annotations

import os

from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.queries.repository import File

_GZIP = ".gz"
_WILDCARDS = frozenset("*?[{")
NO_ARTIFACT = "?"  # the mark of a path that no artifact can have


def exists_mark(file: File, path: str) -> str:
    """Return "yes" if a path from the repository's root exists, otherwise "no"."""
    try:
        return "yes" if file.repository.source.exists(file.repository.workspace.root / path) else "no"
    except ValueError:  # a path that no system call accepts, such as one with a NUL
        return "no"


def leads_outside_mark(file: File, path: str) -> str:
    """Return "yes" if a path from the root goes through a link that leads outside, otherwise "no"."""
    root = file.repository.real_root
    try:
        real = file.repository.workspace.source.real(os.path.join(root, path))
    except (OSError, ValueError):
        return "no"
    return "no" if real == root or real.startswith(root + os.sep) else "yes"


def matches_mark(file: File, glob: str) -> str:
    """Return "yes" if a glob covers a file of the repository, else "no"."""
    from taskstate.context.sources import unmatched_globs

    if _WILDCARDS.isdisjoint(glob):
        return exists_mark(file, glob)
    return "no" if unmatched_globs(file.repository.workspace, (glob,)) else "yes"


def content_hash(file: File, path: str, *, diff: bool) -> str | None:
    """Return the SHA-256 of an artifact's content, unpacked; of a diff that by which it is recorded.

    Empty where the file is missing, None where no artifact can have this path or the file cannot be read.
    """
    artifact = _location(file, path)
    try:
        if artifact and file.repository.workspace.source.size(artifact) is None:
            return ""
    except TaskstateError:
        return None
    data = content(file, path)
    return None if data is None else _digest(data, diff=diff, name=path)


def content(file: File, path: str) -> bytes | None:
    """Return the bytes of an artifact; None where it is missing or cannot be read, or where none can have this path."""
    artifact = _location(file, path)
    try:
        return file.repository.workspace.source.read(artifact, files.MAX_BYTES) if artifact else None
    except TaskstateError:
        return None


def content_mark(file: File, path: str, _form: str) -> str:
    """Return the mark of an artifact's file; it is the same for both forms of hashing."""
    artifact = _location(file, path)
    return file.repository.source.mark(artifact) if artifact else NO_ARTIFACT


def presence_mark(file: File, path: str) -> str:
    """Return "yes" if an artifact exists, "no" if not, and `NO_ARTIFACT` where no artifact can have this path."""
    artifact = _location(file, path)
    if artifact is None:
        return NO_ARTIFACT
    return "yes" if file.repository.source.exists(artifact) else "no"


def log_mark(file: File, sha256: str) -> str:
    """Return "yes" if an artifact of the task has this hash in its name, else "no"; `NO_ARTIFACT` without artifacts."""
    from taskstate.workspace import artifacts

    folder = _location(file, artifacts.relative_path(file.id)) if file.id else None
    try:
        names = file.repository.workspace.source.names(folder) if folder else ()
    except TaskstateError:
        return NO_ARTIFACT
    return ("yes" if any(artifacts.has_hash(name, sha256) for name in names) else "no") if names else NO_ARTIFACT


def _location(file: File, path: str) -> Path | None:
    """Return the location of an artifact; None where the path leads out of the folder (reported by TS952)."""
    from taskstate.workspace import artifacts

    try:
        return artifacts.absolute_path(file.repository.workspace, path)
    except TaskstateError:
        return None


def _digest(data: bytes, *, diff: bool, name: str) -> str:
    """Return the hash of an artifact's content.

    A gzip file that cannot be unpacked gets the hash of its own bytes: it matches no recorded hash, and so is reported.
    """
    from taskstate.storage.git.diff_hash import diff_sha256
    from taskstate.workspace import artifacts

    if name.endswith(_GZIP):
        try:
            data = artifacts.gunzipped(data, name)
        except TaskstateError:
            return files.digest(data)
    return diff_sha256(data) if diff else files.digest(data)

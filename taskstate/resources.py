"""Finds the files that ship with the package: schemas, templates, hook stubs.

In a checkout their folders lie beside the package, in a wheel inside it under `_data`; only this module knows which.
Files with which a project overrides a template are not looked for here.
"""

from __future__ import annotations

import os
from pathlib import Path

from taskstate.errors import TaskstateError

_FOLDERS = ("hooks", "schemas", "templates")
_NOT_OURS = {"__pycache__", "_data"}  # in the package: compiled code, and in a wheel those folders
# A plain path: importing `importlib.resources` costs more time than reading all of these files.
_PACKAGE = Path(__file__).absolute().parent


def text(name: str) -> str:
    """Return the text of the resource `name`, such as "schemas/task.schema.json", with LF as line end."""
    try:
        return _path_of(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _missing(name) from error


def path(name: str) -> Path:
    """Return the path of the resource `name` on the disk."""
    file = _path_of(name)
    if not file.is_file():
        raise _missing(name)
    return file


def names(folder: str) -> tuple[str, ...]:
    """Return the names of the resources directly in `folder`, sorted, each in the form that `text` takes."""
    try:
        files = sorted(entry.name for entry in _path_of(folder).iterdir() if entry.is_file())
    except OSError as error:
        raise _missing(folder) from error
    return tuple(f"{folder}/{name}" for name in files if not name.startswith("."))


def fingerprint() -> str:
    """Return a text that changes with the tool's own code and data, by sizes and times.

    An installation is replaced as a whole, which its first file shows; in a checkout any file may change.

    Raises:
        TaskstateError: code "resource": they cannot be read.
    """
    if _is_installed():
        status = os.stat(__file__)
        return f"{__file__}:{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_ino}"
    return " ".join(map(_folder_fingerprint, (str(_PACKAGE), str(path("schemas/task.schema.json").parent))))


def digest() -> str:
    """Return the digest of all code and data: the same wherever the same is installed, and whenever.

    Raises:
        TaskstateError: code "resource": they cannot be read.
    """
    import hashlib

    found = hashlib.sha256()
    for folder in (_PACKAGE, *map(_path_of, _FOLDERS)):
        files = (path for path in folder.rglob("*") if not _NOT_OURS.intersection(path.relative_to(folder).parts))
        for path in sorted(each for each in files if each.is_file()):
            try:
                data = path.read_bytes()
            except OSError as error:
                raise _missing(str(path)) from error
            found.update(f"{folder.name}/{path.relative_to(folder).as_posix()} {len(data)}\n".encode() + data)
    return found.hexdigest()


def _folder_fingerprint(folder: str) -> str:
    newest, total, count = 0, 0, 0
    pending = [folder]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError as error:
            raise _missing(folder) from error
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                pending += [] if entry.name == "__pycache__" else [entry.path]
            elif entry.name.endswith((".py", ".json")):
                status = entry.stat()
                newest, total, count = max(newest, status.st_mtime_ns), total + status.st_size, count + 1
    return f"{folder}:{newest}:{total}:{count}"


def _path_of(name: str) -> Path:
    parts = name.split("/")
    if parts[0] not in _FOLDERS or not {"", ".", ".."}.isdisjoint(parts):
        raise TaskstateError(f"{name!r} is not the name of a resource", code="resource")
    return (_PACKAGE / "_data" if _is_installed() else _PACKAGE.parent).joinpath(*parts)


def _is_installed() -> bool:
    return (_PACKAGE / "_data").is_dir()


def _missing(name: str) -> TaskstateError:
    message = f"this installation of taskstate lacks {name}, or it cannot be read"
    return TaskstateError(message, code="resource", help="install taskstate again")

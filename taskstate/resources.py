"""Finds what ships with the package: schemas, templates, hook stubs.

In a checkout these folders lie beside the package, in a wheel inside it under `_data`; nobody else knows. Plain paths,
because importing `importlib.resources` costs more than reading all of them. What a project overrides is not looked for.
"""

from __future__ import annotations

from pathlib import Path

from taskstate.errors import TaskstateError

_FOLDERS = ("hooks", "schemas", "templates")
_PACKAGE = Path(__file__).absolute().parent


def text(name: str) -> str:
    """Return the text of the resource `name`, such as "schemas/task.schema.json", with LF as line end."""
    try:
        return _place(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _missing(name) from error


def path(name: str) -> Path:
    """Return where the resource `name` lies on the disk."""
    place = _place(name)
    if not place.is_file():
        raise _missing(name)
    return place


def names(folder: str) -> tuple[str, ...]:
    """Return the names of the resources directly in `folder`, sorted, each as `text` takes it."""
    try:
        found = sorted(entry.name for entry in _place(folder).iterdir() if entry.is_file())
    except OSError as error:
        raise _missing(folder) from error
    return tuple(f"{folder}/{name}" for name in found if not name.startswith("."))


def _place(name: str) -> Path:
    parts = name.split("/")
    if parts[0] not in _FOLDERS or not {"", ".", ".."}.isdisjoint(parts):
        raise TaskstateError(f"{name!r} is not the name of a resource", code="resource")
    shipped = _PACKAGE / "_data"
    return (shipped if shipped.is_dir() else _PACKAGE.parent).joinpath(*parts)


def _missing(name: str) -> TaskstateError:
    message = f"this installation of taskstate lacks {name}, or it cannot be read"
    return TaskstateError(message, code="resource", help="install taskstate again")

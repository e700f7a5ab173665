"""Reads the kinds of state files that a repository declares, from the folder `kinds` of its state folder."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.messages import decoded
from taskstate.model.declared_kinds import kind_error, read_kind
from taskstate.storage import files
from taskstate.storage.file_sources import DISK
from taskstate.syntax.json_input import read_object
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.document_kinds import Kind, Kinds
    from taskstate.storage.file_sources import Files

_ENDING = ".json"
_MAX_FILES = 50
_MAX_BYTES = 100_000


def read_kinds(root: Path, folder: str, source: Files = DISK) -> Kinds:
    """Return the kinds of the files `<kind>.json` in a folder of the repository, in the order of their names.

    Other files are not read.

    Raises:
        TaskstateError: code "kind": a declaration is wrong; "path-escapes": it, or its folder, lies outside of the
            repository; or it cannot be read.
    """
    names = [name for name in source.names(files.inside(root, folder, source.real)) if name.endswith(_ENDING)]
    if len(names) > _MAX_FILES:
        raise TaskstateError(f"{folder} holds more than {_MAX_FILES} kinds", help="take some away", code="kind")
    return tuple(_read(root, f"{folder}/{name}", source) for name in sorted(names))


def _read(root: Path, relative: str, source: Files) -> Kind:
    where = files.shown(relative)
    data = source.read(files.inside(root, relative, source.real))
    if len(data) > _MAX_BYTES:
        raise kind_error(where, f"it is larger than {_MAX_BYTES // 1000} KB")
    text = decoded(data, where, code="kind")
    value = read_object(text, where, "what schemas/kind.schema.json describes")
    return read_kind(value, relative.rpartition("/")[2].removesuffix(_ENDING), where)

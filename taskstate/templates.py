"""Fills templates in: a project's own, from the state folder, or else the one that is shipped.

A project's template comes with its repository, so it may use nothing but the parts that it is given, and has bounds of
time, memory and length (`rendering`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate import rendering, resources
from taskstate.errors import TaskstateError
from taskstate.storage import files
from taskstate.syntax.spans import with_newlines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.workspace import Workspace

FOLDER = "templates"  # in the state folder: a project's own ones


def source_of(workspace: Workspace, name: str) -> tuple[str, str]:
    """Return where the template `name` lies, and its text: the project's own, or the one that is shipped.

    Raises:
        TaskstateError: the project's own is no text file.
    """
    own = workspace.state_root / FOLDER / name
    if files.size(own) is None:
        return name, resources.text(f"templates/{name}")
    where = workspace.relative(own)
    try:
        return where, with_newlines(files.read(own).decode("utf-8"), "\n")
    except UnicodeDecodeError as error:
        what = f"the template {where} is not UTF-8 (byte {error.start})"
        raise TaskstateError(what, help="convert it to UTF-8", code="not-utf8") from error


def filled(workspace: Workspace, name: str, parts: Mapping[str, object]) -> str:
    """Return the template `name` filled in.

    Raises:
        TaskstateError: code "template": it is wrong.
    """
    where, source = source_of(workspace, name)
    # Its own process costs a tenth of a second, which only a template that comes with the repository is worth.
    fill = rendering.rendered if where == name else rendering.rendered_apart
    try:
        return fill(source, parts)
    except ValueError as error:
        raise TaskstateError(f"the template {where} is wrong: {error}", help="correct it", code="template") from error

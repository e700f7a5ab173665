"""Puts state files into their canonical form, the way of every write: under the lock, read anew, stamped, proved.

A file that has the form already is not written, whatever a stamp would change in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_document, unreadable
from taskstate.messages import decoded
from taskstate.model import names
from taskstate.storage import files
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.version import FORMAT
from taskstate.workspace.change import Change, Outcome
from taskstate.workspace.writer import change_at

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.syntax.document import Document
    from taskstate.workspace.change import Request
    from taskstate.workspace.workspace import Loaded, Workspace


class Formatted(NamedTuple):
    """A file's text, and the same in its form."""

    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether the text had not its form yet."""
        return self.before != self.after


def format_bytes(data: bytes, name: str) -> Formatted:
    """Return the text of a state file in its form; any other file stays as it is.

    Raises:
        TaskstateError: code "not-utf8" or "unreadable": a part cannot be read, so that nothing is changed.
    """
    text = decoded(data, name)
    return Formatted(text, _form(parse(text), name))


def format_file(workspace: Workspace, path: Path, request: Request) -> Outcome:
    """Put a file into its form on disk; one that has it is not written.

    Raises:
        TaskstateError: as `format_bytes`, or the file cannot be written.
    """

    def job(loaded: Loaded) -> Change:
        return Change(text=_form(loaded.document, loaded.relative))

    if not format_bytes(files.read(path), workspace.relative(path)).changed:  # seen without the lock, which costs time
        return Outcome(path=workspace.relative(path), revision="", changed=False)
    return change_at(workspace, path, job, request)


def is_formattable(path: Path) -> bool:
    """Return whether a file is of a type that has a canonical form: a state file."""
    own = names.own_file(path.as_posix())
    return own is not None and own.type == "state"


def _form(document: Document, name: str) -> str:
    own = names.own_file(name)
    if own is None or own.type != "state":
        return document.text
    _require_readable(document, name)
    return format_document(document)


def _require_readable(document: Document, name: str) -> None:
    """Refuse a file of which a part cannot be read: what it means cannot be kept for certain."""
    problem = unreadable(document)
    conflicts = find_conflicts(document.text)
    if conflicts:
        message, at = "a merge conflict is left here", conflicts[0].span.start
    elif problem:
        message, at = problem.message, problem.span.start
    elif (version := document.front_matter.get("taskstate")) and isinstance(version, int) and version > FORMAT:
        message, at = f"the format version {version} is newer than {FORMAT}, the newest one known here", 0
    else:
        return
    line = document.position(at).line + 1
    what = f"{name}, line {line}: {message}; nothing was changed"
    raise TaskstateError(what, help="mend it first; `taskstate lint` says how", code="unreadable")

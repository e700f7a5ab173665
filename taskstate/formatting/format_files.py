"""Formats state files on disk: under the lock, read again, with write metadata, like any other write.

A file that is formatted already is not written, or its revision would rise although nothing changed.
"""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_document, unreadable
from taskstate.messages import decoded
from taskstate.model import names
from taskstate.storage import files
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import FORMAT
from taskstate.writing import damage
from taskstate.writing.change import Change, Outcome
from taskstate.writing.writer import change_at

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.document_kinds import Kinds
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Request


class Formatted(NamedTuple):
    """The text of a file, and the same text formatted."""

    before: str
    after: str

    @property
    def changed(self) -> bool:
        """Whether formatting changes the text."""
        return self.before != self.after


def format_bytes(data: bytes, name: str, kinds: Kinds = ()) -> Formatted:
    """Return the text of a state file and its formatted text; any other file is left as it is.

    `kinds` are those that its repository declares.

    Raises:
        TaskstateError: code "not-utf8" or "unreadable": a part cannot be read, so that nothing is changed.
    """
    text = decoded(data, name)
    return Formatted(text, _formatted_text(parse(text, kinds), name))


def format_file(workspace: Workspace, path: Path, request: Request) -> Outcome:
    """Format a file on disk; one that is formatted already is not written.

    Raises:
        TaskstateError: as `format_bytes`, or the file cannot be written.
    """
    # First without the lock, which costs time.
    first = format_bytes(files.read(path), workspace.relative(path), workspace.kinds)

    def job(loaded: Loaded) -> Change:
        if is_formattable(path):
            damage.require_undamaged(workspace, loaded)
        is_same = loaded.document.text == first.before
        return Change(text=first.after if is_same else _formatted_text(loaded.document, loaded.relative))

    if not first.changed:
        return Outcome(path=workspace.relative(path), revision="", changed=False)
    return change_at(workspace, path, job, request)


def is_formattable(path: Path) -> bool:
    """Return whether a file is of a type with a canonical form: a state file."""
    own = names.own_file(path.as_posix())
    return own is not None and own.type == "state"


def _formatted_text(document: Document, name: str) -> str:
    own = names.own_file(name)
    if own is None or own.type != "state":
        return document.text
    _require_readable(document, name)
    return format_document(document)


def _require_readable(document: Document, name: str) -> None:
    """Refuse a file with a part that cannot be read, since formatting could change its meaning unnoticed."""
    problem = unreadable(document)
    conflicts = find_conflicts(document.text)
    if conflicts:
        message, at = "a merge conflict is left here", conflicts[0].span.start
    elif problem:
        message, at = problem.message, problem.span.start
    elif (version := document.front_matter.get("taskstate")) and isinstance(version, int) and version > FORMAT:
        message, at = f"the format version {version} is newer than {FORMAT}, the newest that this taskstate knows", 0
    else:
        return
    line = document.position(at).line + 1
    what = f"{name}, line {line}: {message}; nothing was changed"
    raise TaskstateError(what, help="fix it first; `taskstate lint` says how", code="unreadable")

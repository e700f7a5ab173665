"""Brings `specs/<N>_<slug>/handoffs` and `progress` in: documents and phases of task N; the source files stay.

A document keeps its text and gets a front matter. The newest one is open if work is left, the others count as accepted.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.handoff.create import with_handoffs
from taskstate.handoff.document import ACCEPTED, OPEN, front_matter_text
from taskstate.handoff.document_files import archive_path, document_name
from taskstate.handoff.paths import folder as handoff_folder
from taskstate.handoff.phases import with_phase
from taskstate.messages import counted, decoded
from taskstate.migration.progress_file import read_phase
from taskstate.model.phases import phase_id, phases_in
from taskstate.model.statuses import COMPLETE, DONE
from taskstate.model.task_state import read_state
from taskstate.model.write_metadata import blocks_of, timestamp
from taskstate.storage import files, folders, journal
from taskstate.syntax.conservation import content_lines, require_conserved
from taskstate.syntax.document import parse
from taskstate.syntax.spans import newline_of, with_newlines
from taskstate.tasks.create import NewTask, render
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import FORMAT
from taskstate.writing.change import Change
from taskstate.writing.writer import change, create_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import Any

    from taskstate.workspace.workspace import Loaded, Workspace
    from taskstate.writing.change import Outcome, Request

_FOLDER = re.compile(r"(?P<id>[0-9]+[A-Za-z]?)[_-](?P<slug>.+)")
_DOCUMENT = re.compile(r"phase-(?P<phase>.+?)-handoff-(?P<time>.+)\.md")
_PROGRESS = re.compile(r"phase-(?P<phase>.+)-progress\.json")
_DIGITS = {8: "%Y%m%d", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S"}


class _Found(NamedTuple):
    """A handoff document of another tool: its phase, when it was written, and its text."""

    source: str
    phase: str
    created_at: str
    text: str


def spec_folders(path: Path) -> Iterator[Path]:
    """Yield the folders of tasks with handoffs or progress that a path stands for."""
    if folders.is_folder(path):
        for folder in (path, *files.children(path), *files.children(path / "specs")):
            if _FOLDER.fullmatch(folder.name) and (_documents_in(folder) or _progress_in(folder)):
                yield folder


def _documents_in(folder: Path) -> list[tuple[Path, re.Match[str]]]:
    paths = [*files.children(folder / "handoffs"), *files.children(folder / "handoffs" / "archive")]
    return [(path, match) for path in sorted(paths) if (match := _DOCUMENT.fullmatch(path.name))]


def _progress_in(folder: Path) -> list[tuple[Path, re.Match[str]]]:
    return [(path, match) for path in files.children(folder / "progress") if (match := _PROGRESS.fullmatch(path.name))]


def import_spec(workspace: Workspace, folder: Path, request: Request) -> Outcome | None:
    """Bring the handoffs and the progress in a folder to their task, which is created if it is not there.

    Raises:
        TaskstateError: a file cannot be read or taken over, or the task cannot be written.
    """
    match = _FOLDER.fullmatch(folder.name)
    task_id = match["id"] if match else ""
    values = [
        read_phase(workspace.read(path), workspace.relative(path), found["phase"])
        for path, found in _progress_in(folder)
    ]
    documents = [_document(workspace, path, found) for path, found in _documents_in(folder)]
    try:
        workspace.locate(task_id)
    except TaskstateError as error:
        if error.code != "not-found":
            raise
        title = " ".join(re.split(r"[_-]+", match["slug"] if match else "")).capitalize()
        created = _create(workspace, NewTask(id=task_id, title=title), values, request)
        if request.dry_run:
            note = f"{counted(len(documents), 'handoff document')} would be written"
            return created._replace(notes=(*created.notes, note)) if documents else created
        return _change(workspace, task_id, values, documents, request) if documents else created
    return _change(workspace, task_id, values, documents, request)


def _create(workspace: Workspace, task: NewTask, values: list[dict[str, Any]], request: Request) -> Outcome:
    relative = workspace.relative(workspace.tasks / f"task-{task.id}-state.md")
    text = render(workspace, task, request)
    for value in values:
        text = with_phase(read_state(parse(text, workspace.kinds)), value)
    return create_file(workspace, relative, format_text(text, relative, workspace.kinds), request)


def _document(workspace: Workspace, path: Path, match: re.Match[str]) -> _Found:
    """Return a document of another tool, taken apart.

    Raises:
        TaskstateError: code "invalid-input": its name has no time, or it has a front matter of another kind.
    """
    source = workspace.relative(path)
    text = decoded(workspace.read(path), source).removeprefix("\ufeff")
    digits = re.sub(r"\D", "", match["time"])[:14]
    try:
        created_at = timestamp(datetime.strptime(digits, _DIGITS.get(len(digits), "%Y")).replace(tzinfo=UTC))
    except ValueError:
        created_at = ""
    if not created_at or len(digits) not in _DIGITS:
        message = f"{source}: {match['time']!r} in its name is not a time"
        raise TaskstateError(message, help="name it phase-<P>-handoff-<YYYYMMDDTHHMMSSZ>.md", code="invalid-input")
    if parse(text).front_matter.span:
        message = f"{source} has a front matter of another tool"
        raise TaskstateError(message, help="put what it says into the text, and remove it", code="invalid-input")
    return _Found(source, match["phase"], created_at, text)


def _change(
    workspace: Workspace, task_id: str, values: list[dict[str, Any]], documents: list[_Found], request: Request
) -> Outcome:
    def job(loaded: Loaded) -> Change:
        text = loaded.document.text
        there = {part.name.casefold() for part in phases_in(loaded.state)}
        for value in values:
            if str(value["phase"]).casefold() not in there:
                text = with_phase(read_state(loaded.document.with_text(text), task_id), value)
        new = sorted(_new_documents(workspace, loaded.state.id, documents), key=lambda each: each.created_at)
        if not new:
            return Change(text)
        handoffs = blocks_of(loaded.document).handoffs
        may_open = not handoffs.open and loaded.state.status != COMPLETE and _is_work_left(values)
        open_one = new[-1] if may_open and len(new) == len(documents) else None
        operations = tuple(_operation(workspace, loaded.state.id, each, is_open=each is open_one) for each in new)
        path = _path(loaded.state.id, open_one, is_open=True) if open_one else handoffs.open or None
        text = with_handoffs(text, {"count": handoffs.number + len(new), "open": path})
        notes = (f"{counted(len(new), 'handoff document')} brought in{', the newest one open' if open_one else ''}",)
        return Change(text, before=operations, notes=notes)

    return change(workspace, task_id, job, request)


def _is_work_left(values: list[dict[str, Any]]) -> bool:
    statuses = [each["status"] for value in values for each in value["objectives"]]
    return not statuses or any(status != DONE for status in statuses)


def _new_documents(workspace: Workspace, task_id: str, documents: list[_Found]) -> Iterator[_Found]:
    """Yield the documents that the task has not yet, neither open nor accepted."""
    for each in documents:
        path = _path(task_id, each, is_open=True)
        if all(files.size(workspace.state_root / place) is None for place in (path, archive_path(path))):
            yield each


def _path(task_id: str, found: _Found, *, is_open: bool) -> str:
    path = f"{handoff_folder(task_id)}/{document_name(found.phase, found.created_at)}"
    return path if is_open else archive_path(path)


def _operation(workspace: Workspace, task_id: str, found: _Found, *, is_open: bool) -> journal.Operation:
    values = {
        "taskstate": FORMAT,
        "kind": "handoff",
        "task_id": task_id,
        "phase": phase_id(found.phase),
        "created_at": found.created_at,
        "status": OPEN if is_open else ACCEPTED,
        "accepted_by": None,
        "accepted_at": None,
    }
    text = with_newlines(front_matter_text(values), newline_of(found.text)) + found.text
    require_conserved(found.source, content_lines(parse(found.text)), content_lines(parse(text)))
    return journal.Create(f"{workspace.config.root}/{_path(task_id, found, is_open=is_open)}", text.encode())

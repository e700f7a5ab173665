"""The handoff documents of a task on disk: which there are, and which of them is open."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from taskstate.errors import TaskstateError
from taskstate.handoff.document import ACCEPTED, OPEN, HandoffReader, front_matter_of
from taskstate.handoff.paths import folder, is_handoff_path
from taskstate.messages import decoded
from taskstate.model import document_kinds
from taskstate.model.names import ARCHIVE
from taskstate.model.tool_blocks import read_seen
from taskstate.storage import files
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.model.tool_blocks import SeenState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace


NO_HANDOFF = "no-handoff"


class HandoffDocuments(NamedTuple):
    """The documents of a task, the oldest first, and the path and fault of each that cannot be read."""

    read: tuple[HandoffFile, ...]
    unread: tuple[tuple[str, str], ...]


class _HandoffFile(NamedTuple):
    path: str
    data: bytes
    document: Document


class HandoffFile(_HandoffFile):
    """A handoff document: `path` is from the state folder."""

    @cached_property
    def values(self) -> Mapping[str, object]:
        """The front matter."""
        return front_matter_of(self.document)

    @cached_property
    def reading(self) -> HandoffReader:
        """What the body says."""
        return HandoffReader(self.document)

    @property
    def status(self) -> str:
        """`open` or `accepted`; nothing where it does not say."""
        told = self.values.get("status")
        return told if isinstance(told, str) and told in {OPEN, ACCEPTED} else ""

    @property
    def is_foreign(self) -> bool:
        """Whether another tool wrote it: it has no front matter, or one that is not ours."""
        if self.document.front_matter.node is not None:
            return "taskstate" not in self.values
        missing = any(problem.kind == "front-matter-missing" for problem in self.document.problems)
        return missing and not find_conflicts(self.document.text)

    @property
    def verified(self) -> SeenState:
        """What the tool saw when it was written."""
        return read_seen(self.values.get("verified"))

    def text(self, key: str) -> str:
        """Return a value of the front matter as a text, empty where there is none."""
        told = self.values.get(key)
        return "" if told is None else str(told)


def archive_path(path: str) -> str:
    """Return where a document goes when it is accepted."""
    above, _, name = path.rpartition("/")
    return path if above.endswith(f"/{ARCHIVE}") else f"{above}/{ARCHIVE}/{name}"


def document_name(phase: str, created_at: str) -> str:
    """Return the name of a document of that time (`YYYY-MM-DDTHH:MM:SSZ`)."""
    return f"phase-{phase}-handoff-{created_at.replace('-', '').replace(':', '')}.md"


def handoff_files(workspace: Workspace, task_id: str) -> tuple[HandoffFile, ...]:
    """Return the documents of a task that are of our kind, the oldest first; what cannot be read is left out."""
    return list_documents(workspace, task_id).read


def list_documents(workspace: Workspace, task_id: str) -> HandoffDocuments:
    """Return the documents of a task, and those that cannot be read; what another tool wrote is left out."""
    read: list[HandoffFile] = []
    unread: list[tuple[str, str]] = []
    for place in (folder(task_id), f"{folder(task_id)}/{ARCHIVE}"):
        for name in files.names(workspace.state_root / place):
            path = f"{place}/{name}"
            if is_handoff_path(path, task_id):
                try:
                    file = _file(workspace, path)
                    if file.is_foreign:
                        continue
                    read.append(_required(file, task_id))
                except TaskstateError as error:
                    unread.append((path, error.message))
    return HandoffDocuments(tuple(sorted(read, key=lambda each: (each.text("created_at"), each.path))), tuple(unread))


def read_handoff(workspace: Workspace, path: str, task_id: str) -> HandoffFile:
    """Return the document of a task at a path from the state folder.

    Raises:
        TaskstateError: code "not-found": it is not there; code "unreadable" or "not-utf8"; code "no-handoff": there
            cannot be a handoff document of this task, or is another.
    """
    if not is_handoff_path(path, task_id):
        raise _no_handoff(path, f"is no place of a handoff document of task {task_id}")
    return _required(_file(workspace, path), task_id)


def open_document(workspace: Workspace, named: str, task_id: str) -> HandoffFile:
    """Return the document that a task's state file names as open: where it says, or in the archive.

    Raises:
        TaskstateError: as `read_handoff`; what to do about it is said.
    """
    there = is_handoff_path(named, task_id) and files.size(workspace.state_root / named) is None
    other = archive_path(named)
    if there and files.size(workspace.state_root / other) is not None:
        named = other  # the other side of a merge has accepted it
    try:
        return read_handoff(workspace, named, task_id)
    except TaskstateError as error:
        if error.code == "path-escapes":
            raise
        back = f"`git restore {files.shown(f'{workspace.config.root}/{named}')}` puts it back; "
        raise TaskstateError(
            f"task {task_id} is handed over, but its open handoff cannot be read: {error.message}",
            help=f"{'' if error.code == NO_HANDOFF else back}"
            f"`taskstate handoff new {task_id} --force …` hands over anew in its place",
            code=error.code,
        ) from error


def _file(workspace: Workspace, path: str) -> HandoffFile:
    place = files.inside(workspace.state_root, path)
    if files.size(place) is None:
        what = f"the handoff document {files.shown(path)} is not there"
        raise TaskstateError(what, help="put it back, for example with git", code="not-found")
    data = files.read(place)
    return HandoffFile(path, data, parse(decoded(data, files.shown(path))))


def _required(file: HandoffFile, task_id: str) -> HandoffFile:
    """Return a document that is one of a task.

    Raises:
        TaskstateError: code "unreadable": its front matter cannot be read; code "no-handoff".
    """
    if file.document.front_matter.node is None and not file.is_foreign:
        what = f"the front matter of {files.shown(file.path)} cannot be read"
        raise TaskstateError(what, help="run `taskstate lint` to see why", code="unreadable")
    if file.text("kind") != document_kinds.HANDOFF:
        raise _no_handoff(file.path, "is no handoff document: its front matter does not say so")
    if file.text("task_id") != task_id:
        raise _no_handoff(file.path, f"is the handoff document of task {files.shown(file.text('task_id'))}")
    return file


def _no_handoff(path: str, why: str) -> TaskstateError:
    help_ = "put right by hand what `handoffs.open` names, then run `taskstate lint`"
    return TaskstateError(f"{files.shown(path)} {why}", help=help_, code=NO_HANDOFF)

"""Finds and reads the handoff documents of a task on disk."""

from __future__ import annotations

from contextlib import closing, suppress
from functools import cached_property

from taskstate.errors import GitFailed, TaskstateError
from taskstate.handoff.document import ACCEPTED, OPEN, HandoffReader, front_matter_of, front_matter_text
from taskstate.handoff.paths import folder, is_handoff_path
from taskstate.messages import decoded
from taskstate.model import document_kinds
from taskstate.model.names import ACCEPTED_FOLDER, phase_in, time_of_handoff
from taskstate.model.tool_blocks import read_seen_state
from taskstate.storage import files
from taskstate.syntax.conflict_markers import find_conflicts
from taskstate.syntax.document import parse
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.version import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from taskstate.error_codes import ErrorCode
    from taskstate.model.tool_blocks import SeenState
    from taskstate.syntax.document import Document
    from taskstate.workspace.workspace import Workspace


NO_HANDOFF: ErrorCode = "no-handoff"


class HandoffDocuments(NamedTuple):
    """The documents of a task, oldest first, and path and error message of each one that cannot be read.

    `strays` are Markdown files in the folder of open handoffs that are none: of another name, with the front matter
    of another tool, or by hand and not complete.
    """

    read: tuple[HandoffFile, ...]
    unreadable: tuple[tuple[str, str], ...]
    strays: tuple[HandoffFile, ...] = ()


class _HandoffFile(NamedTuple):
    path: str
    data: bytes
    document: Document


class HandoffFile(_HandoffFile):
    """A handoff document on disk; `path` is relative to the state folder."""

    @cached_property
    def values(self) -> Mapping[str, object]:
        """The front matter."""
        return front_matter_of(self.document)

    @cached_property
    def reading(self) -> HandoffReader:
        """The reader of its body."""
        return HandoffReader(self.document)

    @property
    def status(self) -> str:
        """`open` or `accepted`; empty where the front matter has neither."""
        status = self.values.get("status")
        return status if isinstance(status, str) and status in {OPEN, ACCEPTED} else ""

    @property
    def is_foreign(self) -> bool:
        """Whether another tool wrote it: it has no front matter, or one without our `taskstate` key.

        A document with conflict markers is ours: a merge can make its front matter unreadable.
        """
        if self.document.front_matter.node is not None:
            return "taskstate" not in self.values
        missing = any(problem.kind == "front-matter-missing" for problem in self.document.problems)
        return missing and not find_conflicts(self.document.text)

    @property
    def is_by_hand(self) -> bool:
        """Whether its front matter is not on disk yet: no command wrote it, and none has counted it."""
        return self.data != self.document.text.encode()

    @property
    def verified(self) -> SeenState:
        """The facts that were recorded when it was written."""
        return read_seen_state(self.values.get("verified"))

    def text(self, key: str) -> str:
        """Return a value of the front matter as text, empty where there is none."""
        value = self.values.get(key)
        return "" if value is None else str(value)


def archive_path(path: str) -> str:
    """Return the path of a document in the archive folder, where it goes when it is accepted."""
    parent, _, name = path.rpartition("/")
    return path if parent.endswith(f"/{ACCEPTED_FOLDER}") else f"{parent}/{ACCEPTED_FOLDER}/{name}"


def document_name(phase: str, created_at: str) -> str:
    """Return the file name of a document created at a time (`YYYY-MM-DDTHH:MM:SSZ`)."""
    return f"phase-{phase}-handoff-{created_at.replace('-', '').replace(':', '')}.md"


def handoff_files(workspace: Workspace, task_id: str) -> tuple[HandoffFile, ...]:
    """Return the readable handoff documents of a task, oldest first."""
    return list_documents(workspace, task_id).read


def list_documents(workspace: Workspace, task_id: str) -> HandoffDocuments:
    """Return all handoff documents of a task, also unreadable ones; accepted ones of other tools are left out."""
    read: list[HandoffFile] = []
    unreadable: list[tuple[str, str]] = []
    strays: list[HandoffFile] = []
    for path in _markdown_files(workspace, task_id):
        try:
            file = _with_front_matter(_read_file(workspace, path), task_id)
            if not is_handoff_path(path, task_id) or file.is_foreign:
                strays.append(file)
            else:
                read.append(_require_of_task(file, task_id))
        except TaskstateError as error:
            unreadable.append((path, error.message))
    return HandoffDocuments(
        tuple(sorted(read, key=lambda each: (each.text("created_at"), each.path))),
        tuple(unreadable),
        tuple(each for each in strays if each.path != archive_path(each.path)),
    )


def _with_front_matter(file: HandoffFile, task_id: str) -> HandoffFile:
    """Return a complete document by hand among the open ones with a front matter of what its name says.

    Its bytes stay those on disk. Any other document stays as it is.
    """
    document = file.document
    missing = any(problem.kind == "front-matter-missing" for problem in document.problems)
    phase = phase_in(file.path)
    is_open = is_handoff_path(file.path, task_id) and file.path != archive_path(file.path)
    if not (missing and is_open and phase and file.reading.is_complete) or find_conflicts(document.text):
        return file
    head = front_matter_text(
        {
            "taskstate": FORMAT,
            "kind": document_kinds.HANDOFF,
            "task_id": task_id,
            "phase": phase,
            "created_at": _moment(time_of_handoff(file.path)),
            "status": OPEN,
        }
    )
    text = with_newlines(head, document.newline) + document.text.removeprefix("\ufeff").lstrip("\r\n")
    return HandoffFile(file.path, file.data, parse(text))


def _moment(time: str) -> str:
    """Return the time in a document's name as a timestamp."""
    return f"{time[:4]}-{time[4:6]}-{time[6:8]}T{time[9:11]}:{time[11:13]}:{time[13:15]}Z"


def _markdown_files(workspace: Workspace, task_id: str) -> Iterator[str]:
    """Yield the paths of the Markdown files among a task's open handoffs, and of its accepted documents."""
    own, accepted = folder(task_id), f"{folder(task_id)}/{ACCEPTED_FOLDER}"
    for name in workspace.source.names(workspace.state_root / own):
        if name.lower().endswith(".md"):
            yield f"{own}/{name}"
    yield from (
        f"{accepted}/{name}"
        for name in workspace.source.names(workspace.state_root / accepted)
        if is_handoff_path(f"{accepted}/{name}", task_id)
    )


def read_handoff(workspace: Workspace, path: str, task_id: str) -> HandoffFile:
    """Read the document of a task at a path relative to the state folder.

    Raises:
        TaskstateError: code "not-found": it is not there; code "unreadable" or "not-utf8"; code "no-handoff": the
            path is not one for handoff documents of this task, or another document is there.
    """
    if not is_handoff_path(path, task_id):
        raise _no_handoff_error(path, f"is not where a handoff document of task {task_id}")
    return _require_of_task(_read_file(workspace, path), task_id)


def open_document(workspace: Workspace, path: str, task_id: str) -> HandoffFile:
    """Read the document that a task's state file names as open: at that path, or in the archive.

    Raises:
        TaskstateError: as `read_handoff`, with help on how to go on.
    """
    is_missing_there = is_handoff_path(path, task_id) and files.size(workspace.state_root / path) is None
    in_archive = archive_path(path)
    if is_missing_there and files.size(workspace.state_root / in_archive) is not None:
        path = in_archive  # accepted on the other branch of a merge
    try:
        return read_handoff(workspace, path, task_id)
    except TaskstateError as error:
        if error.code == "path-escapes":
            raise
        restore = "" if error.code == NO_HANDOFF else _put_back(workspace, path, task_id)
        raise TaskstateError(
            f"task {task_id} is handed over, but its open handoff cannot be read: {error.message}",
            help=f"{restore}`taskstate handoff new {task_id} --force --draft` hands over again, in its place",
            code=error.code,
        ) from error


def _put_back(workspace: Workspace, path: str, task_id: str) -> str:
    """Return the command that brings a document back, before another one; empty where neither we nor git have it."""
    import shlex

    from taskstate.storage.git import client as git
    from taskstate.writing.losses import find_loss

    loss = find_loss(workspace, task_id)
    if loss and any(item.place == path.rpartition("/")[2] for item in loss.items):
        return "`taskstate doctor --fix` brings it back; "
    name = f"{workspace.config.root}/{path}"
    with suppress(GitFailed), closing(git.Objects(workspace.root)) as objects:
        if objects.read(f"HEAD:./{name}") is not None:
            return f"`git restore --source HEAD -- {shlex.quote(name)}` puts it back; "
    return ""


def _read_file(workspace: Workspace, path: str) -> HandoffFile:
    full_path = files.inside(workspace.state_root, path, workspace.source.real)
    if workspace.source.size(full_path) is None:
        message = f"the handoff document {files.shown(path)} is not there"
        raise TaskstateError(message, help="put it back, for example with git", code="not-found")
    data = workspace.source.read(full_path)
    return HandoffFile(path, data, parse(decoded(data, files.shown(path))))


def _require_of_task(file: HandoffFile, task_id: str) -> HandoffFile:
    """Return the document if it is a handoff of the task.

    Raises:
        TaskstateError: code "unreadable": its front matter cannot be read; code "no-handoff".
    """
    if file.document.front_matter.node is None and not file.is_foreign:
        message = f"the front matter of {files.shown(file.path)} cannot be read"
        raise TaskstateError(message, help="run `taskstate lint` to see why", code="unreadable")
    if file.text("kind") != document_kinds.HANDOFF:
        raise _no_handoff_error(file.path, "is not a handoff document: its front matter does not say so")
    if file.text("task_id") != task_id:
        raise _no_handoff_error(file.path, f"is the handoff document of task {files.shown(file.text('task_id'))}")
    return file


def _no_handoff_error(path: str, reason: str) -> TaskstateError:
    help_ = "put right by hand what `handoffs.open` names, then run `taskstate lint`"
    return TaskstateError(f"{files.shown(path)} {reason}", help=help_, code=NO_HANDOFF)

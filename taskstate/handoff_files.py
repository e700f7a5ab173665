"""The handoff documents of a task on disk: which there are, and which of them is open."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from taskstate import files, kinds
from taskstate.document import parse
from taskstate.errors import TaskstateError
from taskstate.handoff_document import ACCEPTED, OPEN, Reading, front_matter_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from taskstate.document import Document
    from taskstate.workspace import Workspace

ARCHIVE = "archive"


class _HandoffFile(NamedTuple):
    path: str
    data: bytes
    document: Document


class HandoffFile(_HandoffFile):
    """A handoff document: `path` is from the state folder."""

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The front matter."""
        return front_matter_of(self.document)

    @cached_property
    def reading(self) -> Reading:
        """What the body says."""
        return Reading(self.document)

    @property
    def status(self) -> str:
        """`open` or `accepted`; nothing where it does not say."""
        told = self.values.get("status")
        return told if told in {OPEN, ACCEPTED} else ""

    @property
    def verified(self) -> Mapping[str, Any]:
        """What the tool saw when it was written."""
        told = self.values.get("verified")
        return told if isinstance(told, dict) else {}

    def text(self, key: str) -> str:
        """Return a value of the front matter as a text, empty where there is none."""
        told = self.values.get(key)
        return "" if told is None else str(told)


def folder(task_id: str) -> str:
    """Return the folder of a task's open handoffs, from the state folder."""
    return f"handoffs/task-{task_id}"


def archived(path: str) -> str:
    """Return where a document goes when it is accepted."""
    above, _, name = path.rpartition("/")
    return path if above.endswith(f"/{ARCHIVE}") else f"{above}/{ARCHIVE}/{name}"


def name_of(phase: str, created_at: str) -> str:
    """Return the name of a document of that time (`YYYY-MM-DDTHH:MM:SSZ`)."""
    return f"phase-{phase}-handoff-{created_at.replace('-', '').replace(':', '')}.md"


def handoff_files(workspace: Workspace, task_id: str) -> tuple[HandoffFile, ...]:
    """Return the documents of a task that are of our kind, the oldest first; what cannot be read is left out."""
    found = []
    for place in (folder(task_id), f"{folder(task_id)}/{ARCHIVE}"):
        for name in files.names(workspace.state_root / place):
            own = kinds.own_file(name)
            read = _read(workspace, f"{place}/{name}") if own and own.type == "handoff" else None
            if read and read.text("kind") == kinds.HANDOFF:
                found.append(read)
    return tuple(sorted(found, key=lambda each: (each.text("created_at"), each.path)))


def _read(workspace: Workspace, path: str) -> HandoffFile | None:
    try:
        return read_handoff(workspace, path)
    except TaskstateError:
        return None


def read_handoff(workspace: Workspace, path: str) -> HandoffFile:
    """Return the document at a path from the state folder.

    Raises:
        TaskstateError: code "not-found": it is not there; or it cannot be read.
    """
    place = files.inside(workspace.state_root, path)
    if files.size(place) is None:
        what = f"the handoff document {files.shown(path)} is not there"
        raise TaskstateError(what, help="put it back, for example with git", code="not-found")
    data = files.read(place)
    try:
        return HandoffFile(path, data, parse(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        what = f"{files.shown(path)} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}"
        raise TaskstateError(what, help="convert the file to UTF-8", code="not-utf8") from error


def named_open(values: Mapping[str, Any]) -> str:
    """Return the path of the open handoff that a state file's front matter names, or nothing."""
    told = values.get("handoffs")
    path = told.get("open") if isinstance(told, dict) else None
    return path if isinstance(path, str) else ""


def count_of(values: Mapping[str, Any]) -> int:
    """Return how many handoffs a state file's front matter counts."""
    told = values.get("handoffs")
    count = told.get("count") if isinstance(told, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else 0

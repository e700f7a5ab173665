"""Searches the state files, archives and handoffs of all tasks for a text."""

from __future__ import annotations

from taskstate.errors import TaskstateError
from taskstate.model.names import id_key, own_file
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.workspace.workspace import Workspace

SEARCHED = ("state", "archive", "handoff")


class Found(NamedTuple):
    """A line that contains the text: its file from the repository's root, the task, the line's number and text."""

    path: str
    task: str
    number: int
    line: str


class Search(NamedTuple):
    """The lines found, and a message for each file that cannot be read."""

    found: tuple[Found, ...]
    unreadable: tuple[str, ...]


def search(workspace: Workspace, text: str, *, task: str = "") -> Search:
    """Return each line that contains `text`, ignoring case and the number of spaces; only those of `task`, if given.

    Raises:
        TaskstateError: code "usage": the text is empty.
    """
    needle = _key(text)
    if not needle:
        raise TaskstateError("search: the text is empty", help="say what to look for", code="usage")
    found: list[Found] = []
    unreadable: list[str] = []
    for path, task_id in _files(workspace):
        if task and task_id.casefold() != task.casefold():
            continue
        try:
            lines = _lines(workspace.read(path), needle)
        except TaskstateError as error:
            unreadable.append(str(error))
            continue
        found += [Found(workspace.relative(path), task_id, number, line) for number, line in lines]
    return Search(tuple(found), tuple(unreadable))


def _files(workspace: Workspace) -> list[tuple[Path, str]]:
    """Return the files with their tasks' ids: task by task in natural order, the state file first."""
    pairs = ((path, own_file(workspace.relative(path))) for path in workspace.own_files())
    files = [(path, own.id or "", own.type) for path, own in pairs if own and own.type in SEARCHED]
    files.sort(key=lambda each: (id_key(each[1]), SEARCHED.index(each[2]), each[0]))
    return [(path, task_id) for path, task_id, _ in files]


def _lines(data: bytes, needle: str) -> Iterator[tuple[int, str]]:
    text = with_newlines(data.decode("utf-8", "replace"), "\n")
    for number, line in enumerate(text.split("\n"), start=1):
        if needle in _key(line):
            yield number, line.strip()


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()

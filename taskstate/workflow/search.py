"""Searches the state files, archives and handoffs of all tasks for a text."""

from __future__ import annotations

import os
from contextlib import closing

from taskstate.errors import TaskstateError
from taskstate.model.names import id_key, own_file
from taskstate.storage import files, folders
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
    with closing(folders.Lookout()) as lookout:
        for path, relative, task_id in _files(workspace):
            if task and task_id.casefold() != task.casefold():
                continue
            try:
                lines = _lines(files.read(path, lookout=lookout), needle)
            except TaskstateError as error:
                unreadable.append(str(error))
                continue
            found += [Found(relative, task_id, number, line) for number, line in lines]
    return Search(tuple(found), tuple(unreadable))


def _files(workspace: Workspace) -> list[tuple[Path, str, str]]:
    """Return the files with their paths and their tasks' ids: task by task in natural order, the state file first."""
    start = len(os.path.join(workspace.root, ""))
    named = ((path, str(path)[start:]) for path in workspace.own_files())
    pairs = ((path, relative, own_file(relative)) for path, relative in named)
    found = [(path, relative, own.id or "", own.type) for path, relative, own in pairs if own and own.type in SEARCHED]
    found.sort(key=lambda each: (id_key(each[2]), SEARCHED.index(each[3]), each[0]))
    return [(path, relative, task_id) for path, relative, task_id, _ in found]


def _lines(data: bytes, needle: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that contains the needle.

    Only lines with its longest word are looked at: most files have none, which one pass in C says.
    """
    text, word = data.decode("utf-8", "replace"), max(needle.split(" "), key=len)
    if word not in text.casefold():
        return
    text = with_newlines(text, "\n")
    folded = text.casefold()
    lines: list[str] = []
    number, seen, at = 0, 0, folded.find(word)
    while at >= 0:
        lines = lines or text.split("\n")
        number += folded.count("\n", seen, at)
        if needle in _key(lines[number]):
            yield number + 1, lines[number].strip()
        seen = folded.find("\n", at)
        at = folded.find(word, seen) if seen >= 0 else -1


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()

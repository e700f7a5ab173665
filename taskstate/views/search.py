"""Searches the state files, archives and handoffs of all tasks for a text."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial

from taskstate.errors import TaskstateError
from taskstate.model.names import id_key, own_file, own_id, own_type
from taskstate.storage import files, folders, programs
from taskstate.syntax.spans import with_newlines
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.repository import trees_of
from taskstate.workspace import listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from taskstate.workspace.workspace import Workspace

_WORTH = 500  # files for which another process is worth its start
SEARCHED = ("state", "archive", "handoff")


class Found(NamedTuple):
    """A line that contains the text: its file from the worktree's root, the task, the line's number and text.

    Of what another worktree has alone, `worktree` is its path, and `branch` the one there.
    """

    path: str
    task: str
    number: int
    line: str
    branch: str = ""
    worktree: str = ""

    @property
    def shape(self) -> dict[str, object]:
        """The line as JSON values."""
        return {key: value for key, value in self._asdict().items() if value or key not in {"branch", "worktree"}}


class Search(NamedTuple):
    """The lines found, and a message for each file that cannot be read."""

    found: tuple[Found, ...]
    unreadable: tuple[str, ...]


def search(workspace: Workspace, text: str, *, task: str = "") -> Search:
    """Return each line that contains `text`, ignoring case and the number of spaces; only those of `task`, if given.

    Those of all state files come first, where the work stands and its sessions are, then those of the archives, and
    those of handoffs last; in each, task by task in natural order.

    Raises:
        TaskstateError: code "usage": the text is empty.
    """
    needle = _key(text)
    if not needle:
        raise TaskstateError("search: the text is empty", help="say what to look for", code="usage")
    start = len(os.path.join(workspace.root, ""))
    paths = _files(workspace, start, task.casefold())
    with workspace.bar("searching") as show:
        parts = programs.in_parts(partial(_search, needle), paths, _WORTH, show)
    found = {_place(path[start:]): lines for lines_of, _ in parts for path, lines in lines_of.items()}
    unreadable = {_place(path[start:]): message for _, messages in parts for path, message in messages.items()}
    return Search(
        tuple(Found(each.path, each.task, *line) for each in sorted(found) for line in found[each]),
        tuple(unreadable[each] for each in sorted(unreadable)),
    )


def search_all(workspace: Workspace, text: str, *, task: str = "") -> tuple[Search, tuple[str, ...]]:
    """Search all worktrees as `search` does one; what several say stands once. Which cannot be read comes with it."""
    (_, *others), unread = trees_of(workspace)
    own = search(workspace, text, task=task)
    if not others:
        return own, tuple(unread)
    found, known, unreadable = [*own.found], {(each.path, each.line) for each in own.found}, [*own.unreadable]
    for tree in others:
        more = search(tree.workspace, text, task=task)
        new = (each for each in more.found if (each.path, each.line) not in known)
        found += [each._replace(branch=tree.branch, worktree=tree.name) for each in new]
        known |= {(each.path, each.line) for each in more.found}
        unreadable += [f"{tree.name}: {each}" for each in more.unreadable]
    found.sort(key=lambda each: _place(each.path))
    return Search(tuple(found), tuple(unreadable)), tuple(unread)


class _Place(NamedTuple):
    """Where a file stands in the result: the state files first, then the archives, each task by task."""

    type: int
    id_key: tuple[object, str]
    parts: tuple[str, ...]
    path: str
    task: str


def _place(relative: str) -> _Place:
    own = own_file(relative)
    task, type_ = (own.id or "", SEARCHED.index(own.type)) if own else ("", 0)
    return _Place(type_, id_key(task), tuple(relative.split(os.sep)), relative, task)


def _search(needle: str, paths: Iterable[str]) -> tuple[dict[str, list[tuple[int, str]]], dict[str, str]]:
    """Return the lines that contain the needle, by file, and the message of each file that cannot be read."""
    found: dict[str, list[tuple[int, str]]] = {}
    unreadable: dict[str, str] = {}
    with closing(folders.Lookout()) as lookout:
        for path in paths:
            try:
                lines = [*_lines(files.read(path, lookout=lookout), needle)]
            except TaskstateError as error:
                unreadable[path] = str(error)
                continue
            if lines:
                found[path] = lines
    return found, unreadable


def _files(workspace: Workspace, start: int, task: str) -> list[str]:
    """Return the paths of all files in no particular order, or of those of the task with this case-folded id.

    From `start` on they are paths from the root.
    """
    paths = listing.own_files(workspace.root, workspace.state_root, lambda name: own_type(name) in SEARCHED)
    if workspace.config.exclude:
        paths = [path for path in paths if not workspace.excludes(workspace.root / path)]
    return [path for path in paths if own_id(path[start:]) == task] if task else paths


def _lines(data: bytes, needle: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that contains the needle.

    Only lines with its longest word are looked at: most files have none, which one pass in C says.
    """
    text, word = data.decode("utf-8", "replace"), max(needle.split(" "), key=len)
    folded = text.casefold()
    at = folded.find(word)
    if at >= 0 and "\r" in text:
        text = with_newlines(text, "\n")
        folded = text.casefold()
        at = folded.find(word)
    # Folding may change the length of a line that is not ASCII.
    lines = text.split("\n") if at >= 0 and not text.isascii() else []
    number, seen = 1, 0
    while at >= 0:
        start, end = folded.rfind("\n", 0, at) + 1, folded.find("\n", at)
        stop = end if end >= 0 else len(folded)
        if needle in " ".join(folded[start:stop].split()):
            number, seen = number + folded.count("\n", seen, at), at
            yield number, (lines[number - 1] if lines else text[start:stop]).strip()
        at = folded.find(word, stop)


def _key(text: str) -> str:
    return " ".join(text.split()).casefold()

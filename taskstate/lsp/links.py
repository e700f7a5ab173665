"""Where the things that a file names are defined, and where a task is referred to.

Only places inside the repository are given: a path that leads out of it is data like any other, and no link.
"""

from __future__ import annotations

import re

from lsprotocol import types

from taskstate.context.citations import Standard
from taskstate.errors import TaskstateError
from taskstate.lsp import tokens
from taskstate.lsp.diagnostics import positions_of
from taskstate.lsp.open_texts import uri_of
from taskstate.model import names
from taskstate.storage import files, folders
from taskstate.syntax.document import parse
from taskstate.syntax.nodes import scalars
from taskstate.syntax.spans import Span
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lsp.open_texts import OpenTexts
    from taskstate.lsp.tasks import TaskIndex
    from taskstate.workspace.workspace import Workspace

_LINES = re.compile(r"L?(\d{1,9})")
_MOST_BYTES = 4 * 1024**2  # of a file that is searched for references


class Links:
    """The links of one repository, in the units of columns that the editor counts in."""

    def __init__(self, tasks: TaskIndex, texts: OpenTexts, encoding: str) -> None:
        self._tasks = tasks
        self._texts = texts
        self._encoding = encoding

    @property
    def _workspace(self) -> Workspace:
        return self._tasks.workspace

    def definition(self, facts: Facts, at: int) -> types.Location | None:
        """Return what is named at an offset: the state file of a task, or a file and the place in it."""
        task_id = tokens.task_at(facts, at)
        task = self._tasks.find(task_id) if task_id else None
        if task:
            return self._location(self._workspace.root / task.path, Span(0, 0))
        name, section = tokens.path_at(facts, at)
        path = self._existing(name) if name else None
        if path is None:
            return None
        return self._location(path, self._place(path, section, _line_named(facts, at)))

    def _existing(self, name: str) -> Path | None:
        """Return the file of the repository that has this path, from its root or from the state folder."""
        for folder in (self._workspace.root, self._workspace.state_root):
            try:
                path = files.inside(folder, name)
            except (TaskstateError, ValueError):
                continue
            if folders.is_file(path):
                return path
        return None

    def _place(self, path: Path, section: str, line: int) -> Span:
        """Return the place of a section, or of a line counted from 1, in a file."""
        if not section and not line:
            return Span(0, 0)
        try:
            text = self._texts.read(path).decode("utf-8")
        except (TaskstateError, UnicodeDecodeError):
            return Span(0, 0)
        found = Standard(text).sections.get(section) if section else None
        if found:
            return found.heading
        starts = parse(text).starts if line else [0]
        start = starts[min(line, len(starts)) - 1] if line else 0
        return Span(start, start)

    def references(self, facts: Facts, at: int, *, declaration: bool) -> list[types.Location]:
        """Return the places that refer to the task named at an offset, else to the task of the file itself."""
        task_id = tokens.task_at(facts, at) or facts.task_id or ""
        name, _ = tokens.path_at(facts, at)
        if name and not tokens.task_at(facts, at) and self._existing(name):
            return [place for path in self._workspace.own_files() for place in self._mentions_of_path(path, name)]
        if not task_id:
            return []
        found = [place for path in self._workspace.own_files() for place in self._mentions(path, task_id)]
        task = self._tasks.find(task_id)
        if declaration and task and (own := self._location(self._workspace.root / task.path, Span(0, 0))):
            found.insert(0, own)
        return found

    def _mentions(self, path: Path, task_id: str) -> Iterator[types.Location]:
        """Yield the places in a file that name another task: keys of the front matter, and "task 101" in the body."""
        text, own = self._text(path), names.own_id(path.as_posix())
        if task_id.casefold() not in text.casefold():
            return
        document, wanted = parse(text), task_id.casefold()
        spans = []
        root = document.front_matter.node
        for entry in root.entries if root else ():
            if entry.key.text in tokens.TASK_KEYS - {"task_id"}:
                spans += [node.span for node in scalars(entry.value) if node.text.casefold() == wanted]
        if own != wanted:
            body = document.front_matter.span.end if document.front_matter.span else 0
            spans += [
                Span(*match.span("id")) for match in tokens.tasks_named(text, body) if match["id"].casefold() == wanted
            ]
        yield from self._locations(path, spans)

    def _mentions_of_path(self, path: Path, name: str) -> Iterator[types.Location]:
        pattern = rf"(?<![\w./-]){re.escape(name)}(?![\w/-])"
        yield from self._locations(path, [Span(*match.span()) for match in re.finditer(pattern, self._text(path))])

    def _text(self, path: Path) -> str:
        try:
            if (files.size(path) or 0) > _MOST_BYTES:
                return ""
            return self._texts.read(path).decode("utf-8", errors="replace")
        except TaskstateError:
            return ""

    def _locations(self, path: Path, spans: list[Span]) -> Iterator[types.Location]:
        if spans:
            positions = positions_of(path, self._texts, self._encoding)
            yield from (types.Location(self._uri(path), positions.range(span)) for span in spans)

    def _location(self, path: Path, span: Span) -> types.Location | None:
        try:
            positions = positions_of(path, self._texts, self._encoding)
        except TaskstateError:
            return None
        return types.Location(self._uri(path), positions.range(span))

    def _uri(self, path: Path) -> str:
        opened = self._texts.get(path)
        return opened.uri if opened else uri_of(path)


def _line_named(facts: Facts, at: int) -> int:
    """Return the first line that a citation or an excerpt names beside its path; 0 where it names none."""
    value = tokens.value_at(facts, at)
    for key in ("lines", "line_span"):
        node = value.root.get(*value.path[:-1], key) if value else None
        match = _LINES.match(node.text) if node else None
        if match:
            return int(match[1])
    return 0

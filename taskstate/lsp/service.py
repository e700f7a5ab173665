"""Answers the requests of an editor about one file: each turns positions into offsets and asks the packages below.

A file that is none of ours, or that cannot be checked, gets a neutral answer, and the reason is told once.
"""

from __future__ import annotations

from lsprotocol import types

from taskstate.errors import TaskstateError
from taskstate.lint import engine
from taskstate.lsp import actions, completion, cures, formatting, hover, outline
from taskstate.lsp.checking import Checker, Surroundings
from taskstate.lsp.diagnostics import positions_of
from taskstate.lsp.links import Links
from taskstate.lsp.open_texts import OpenTexts, path_of
from taskstate.lsp.tasks import TaskIndex
from taskstate.model import names
from taskstate.syntax.document import parse
from taskstate.typed import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.lint.facts.file_facts import Facts
    from taskstate.lsp.positions import Positions

_T = TypeVar("_T")


class _Place(NamedTuple):
    """A place in a file: the facts about its text, the offset, and the tasks of its repository."""

    facts: Facts
    at: int
    positions: Positions
    tasks: TaskIndex


class Service:
    """The answers to an editor; `tell` shows it a message, `encoding` returns the units in which it counts columns."""

    def __init__(self, surroundings: Surroundings, tell: Callable[[str], None], encoding: Callable[[], str]) -> None:
        self.texts = OpenTexts()
        self.checker = Checker(self.texts, surroundings)
        self.versioned = False
        self._tell = tell
        self._encoding = encoding
        self._told: dict[Path, str] = {}

    @property
    def encoding(self) -> str:
        """The units in which the editor counts columns."""
        return self._encoding()

    def answer(self, uri: str, compute: Callable[[Path], _T], default: _T) -> _T:
        """Return the answer about one of our own files; `default` for any other, and where it cannot be given."""
        path = path_of(uri)
        if path is None or names.own_file(path.as_posix()) is None:
            return default
        return self.neutral(path, compute, default, path)

    def neutral(self, path: Path, compute: Callable[..., _T], default: _T, *arguments: object) -> _T:
        """Return an answer about a file or folder, or `default` where it cannot be given; why not is told once."""
        try:
            result = compute(*arguments)
        except TaskstateError as error:
            message = str(error)
            is_known = message in self._told.values()
            self._told[path] = message
            if not is_known:
                self._tell(message)
            return default
        self._told.pop(path, None)
        return result

    # Findings and their cures

    def code_actions(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        """Return the actions for the findings at a range."""
        only = tuple(
            map(
                str,
                (kind.value if isinstance(kind, types.CodeActionKind) else kind for kind in params.context.only or ()),
            )
        )
        return self.answer(params.text_document.uri, lambda path: self._actions(path, params.range, only), [])

    def _actions(self, path: Path, place: types.Range, only: tuple[str, ...]) -> list[types.CodeAction]:
        opened = self.texts.get(path)
        if opened is None:
            return []
        with self.checker.run(path) as run:
            findings = self.checker.findings_in(run, path)
            queries = self.checker.queries(run, path)
            subject = actions.Subject(run, opened, queries, self._positions(path), self.versioned)
            return actions.actions(subject, findings, place, only)

    def run_command(self, command: str, arguments: tuple[object, ...], folders: tuple[Path, ...]) -> str:
        """Run the job of a command on the file that its first argument names, and return what it has to say.

        `folders` are those that the editor works in: nothing is written in other repositories.

        Raises:
            TaskstateError: the arguments name no file of ours, or the job refuses; nothing is changed then.
        """
        uri, *rest = (*arguments, "")
        path = path_of(str(uri))
        if path is None or names.own_file(path.as_posix()) is None:
            raise TaskstateError(f"{command} needs the address of a task's file", help="give a file: URI", code="usage")
        cures.require_in_reach(self.checker, path, folders)
        notes = cures.run_cure(self.checker, command, path, tuple(str(each) for each in rest if each != ""))
        return "\n".join(notes) or "nothing to change"

    def formatting(self, uri: str, place: types.Range | None = None) -> list[types.TextEdit]:
        """Return the edits that format a file, or the lines of a range."""
        return self.answer(uri, lambda path: self._formatting(path, place), [])

    def _formatting(self, path: Path, place: types.Range | None) -> list[types.TextEdit]:
        self.checker.require_small(path)
        positions = self._positions(path)
        span = positions.span(place) if place else None
        document = parse(positions.text, self.checker.workspace(path).kinds)
        return positions.edits(formatting.formatting_edits(document, path.as_posix(), span))

    # What is at a place

    def hover(self, uri: str, place: types.Position) -> types.Hover | None:
        """Return what is known about a place."""
        return self.answer(uri, lambda path: self._hover(path, place), None)

    def _hover(self, path: Path, position: types.Position) -> types.Hover | None:
        place = self._place(path, position)
        return hover.hover(place.facts, self.checker.findings(path), place.at, place.tasks, place.positions)

    def completion(self, uri: str, place: types.Position) -> types.CompletionList:
        """Return what can stand at a place."""
        nothing = types.CompletionList(is_incomplete=False, items=[])
        return self.answer(uri, lambda path: self._completion(path, place), nothing)

    def _completion(self, path: Path, position: types.Position) -> types.CompletionList:
        place = self._place(path, position)
        return completion.completion(place.facts, place.at, place.tasks, place.positions)

    def definition(self, uri: str, place: types.Position) -> types.Location | None:
        """Return where what is named at a place is defined."""
        return self.answer(uri, lambda path: self._definition(path, place), None)

    def _definition(self, path: Path, position: types.Position) -> types.Location | None:
        place = self._place(path, position)
        return self._links(place).definition(place.facts, place.at)

    def references(self, uri: str, place: types.Position, *, declaration: bool) -> list[types.Location]:
        """Return the places that refer to what is named at a place."""
        return self.answer(uri, lambda path: self._references(path, place, declaration=declaration), [])

    def _references(self, path: Path, position: types.Position, *, declaration: bool) -> list[types.Location]:
        place = self._place(path, position)
        return self._links(place).references(place.facts, place.at, declaration=declaration)

    def symbols(self, uri: str) -> list[types.DocumentSymbol]:
        """Return the outline of a file."""
        return self.answer(uri, lambda path: outline.symbols(self._small(path)), [])

    def folds(self, uri: str) -> list[types.FoldingRange]:
        """Return what can be folded in a file."""
        return self.answer(uri, lambda path: outline.folds(self._small(path)), [])

    def _small(self, path: Path) -> Positions:
        self.checker.require_small(path)
        return self._positions(path)

    def _positions(self, path: Path) -> Positions:
        return positions_of(path, self.texts, self.encoding)

    def _place(self, path: Path, position: types.Position) -> _Place:
        self.checker.require_small(path)
        workspace, positions = self.checker.workspace(path), self._positions(path)
        name = workspace.relative(path) if path.is_relative_to(workspace.root) else path.as_posix()
        facts = engine.facts_of(parse(positions.text, workspace.kinds), name, workspace.config)
        return _Place(facts, positions.offset(position), positions, TaskIndex(workspace))

    def _links(self, place: _Place) -> Links:
        return Links(place.tasks, self.texts, self.encoding)

"""Keeps what the linter found, of all worktrees, from answer to answer: to look at thousands of files takes a while."""

from __future__ import annotations

import time
from threading import Lock, Thread

from taskstate.errors import TaskstateError
from taskstate.operations import arguments, lint
from taskstate.operations.index import operation
from taskstate.typed import TYPE_CHECKING, NamedTuple
from taskstate.views.repository import trees_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from taskstate.lint.diagnostics import Finding
    from taskstate.operations.call import Call

_PATIENCE = 0.5  # seconds that an answer waits for a look
_FRESH = 10  # seconds in which no other look begins while the state files stay as they are
_MOST = 20_000  # findings that are kept


class Row(NamedTuple):
    """A finding, of what its page shows; `branch` is that of another worktree, where that one alone has it."""

    path: str
    line: int
    column: int
    severity: str
    code: str
    message: str
    help: str
    source: str
    is_fixable: bool
    branch: str = ""


class Findings(NamedTuple):
    """What a look found that began `at` a time: the first rows, how many there are, and what could not be read."""

    at: str
    files: int
    rows: tuple[Row, ...]
    all: int
    said: tuple[str, ...]


class Linter:
    """Looks at the files behind the answers, one look at a time; `call` gives a call for a worktree's root."""

    def __init__(self, call: Callable[[str], Call]) -> None:
        self.known: Findings | None = None
        self._call = call
        self._lock = Lock()
        self._look: Thread | None = None
        self._seen, self._began = "", 0.0  # the state files at the last look, and when that was

    @property
    def is_looking(self) -> bool:
        """Whether a look is under way."""
        return self._look is not None and self._look.is_alive()

    def look(self, seen: str) -> Findings | None:
        """Return what a look finds that begins now, or the last one where that takes longer than an answer may.

        `seen` identifies the state files as they are.
        """
        with self._lock:
            is_due = seen != self._seen or time.monotonic() > self._began + _FRESH
            if is_due and not self.is_looking:
                self._seen, self._began = seen, time.monotonic()
                self._look = Thread(target=self._read, daemon=True)
                self._look.start()
            look = self._look
        if look:
            look.join(_PATIENCE)
        return self.known

    def _read(self) -> None:
        at = self._call("").now()
        try:
            files, rows, said = self._rows()
        except TaskstateError as error:
            files, rows, said = 0, [], [error.message]
        self.known = Findings(at, files, tuple(rows[:_MOST]), len(rows), tuple(said))

    def _rows(self) -> tuple[int, list[Row], list[str]]:
        """Return how many files there are, the rows by file and line, and what was said of files."""
        # One process: those that it would start inherit what other threads do at the moment.
        asked = arguments.make(operation("lint"), {"jobs": 1}, lambda _, value: value)
        trees, said = trees_of(self._call("").workspace)
        files, rows, known = 0, list[Row](), set[tuple[object, ...]]()
        for tree in trees:
            call = self._call(tree.name)
            report, _ = lint.check(call, asked)
            said += [*call.said, *report.unreadable]
            files = max(files, report.files)
            found = [*_rows_of(report.findings, tree.branch if tree.name else "")]
            rows += [each for each in found if _what(each) not in known]
            known.update(map(_what, found))
        return files, sorted(rows, key=lambda each: (each.path, each.branch, each.line, each.column)), said


def _what(row: Row) -> tuple[object, ...]:
    """Return what is the same of a finding in two worktrees."""
    return row.path, row.code, row.message, row.source


def _rows_of(findings: tuple[Finding, ...], branch: str) -> Iterator[Row]:
    for each in findings:
        told, place = each.diagnostic, (each.path, each.line, each.column)
        words = (told.severity, told.code, told.message, told.help, each.source.strip())
        yield Row(*place, *words, told.fix is not None, branch)

"""What must hold of linting any text: it does not raise, findings lie in the text, and fixing twice is fixing once.

`tests.fuzz.run` looks for a text of which it does not hold. The text arrives as bytes, as libFuzzer hands it over.
"""

from __future__ import annotations

from taskstate.lint import engine
from taskstate.lint.queries.interface import ARCHIVE, CLOCK, HISTORY, Queries
from taskstate.model.config import Config
from taskstate.syntax.document import Document, parse
from tests.support.lint_corpus import cases

NAMES = (
    "task-101-state.md",
    "archives/task-101-archive.md",
    "handoffs/task-101/phase-1-handoff-20241126T174000Z.md",
    "task-101-impact-map.json",
)
BETWEEN = b"\xff"  # never in UTF-8: stands between the text, the same file earlier, and its archive
LONGEST = 4096


class CaseQueries(Queries):
    """Answers queries about a text: its earlier form, its archive, and a clock."""

    answerable = frozenset({HISTORY, ARCHIVE, CLOCK})

    def __init__(self, earlier: str, archive: str) -> None:
        self._earlier = parse(earlier)
        self._archive = parse(archive)

    def is_future(self, moment: str) -> bool | None:
        """Return whether a timestamp lies behind the year 2026."""
        return moment > "2027"

    def earlier(self, now: Document | None = None) -> tuple[Document, ...] | None:  # noqa: ARG002 - the past is given
        """Return the earlier form."""
        return (self._earlier,)

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive."""
        return (self._archive,)

    def earlier_archive(self) -> tuple[Document, ...] | None:
        """Return the archive, which nobody has changed."""
        return (self._archive,)


def one_input(data: bytes) -> None:
    """Lint and mend what `data` stands for: a byte for the file's name, the text, and perhaps what lies around it.

    Raises:
        AssertionError: a law of the linter does not hold.
    """
    name = NAMES[data[0] % len(NAMES)] if data else NAMES[0]
    text, *rest = (piece.decode("utf-8", "replace") for piece in data[1:].split(BETWEEN, 2))
    queries = CaseQueries(*[*rest, "", ""][:2]) if rest else Queries()
    check(text, name, queries)


def check(text: str, name: str, queries: Queries) -> None:
    """Lint and mend `text`.

    Raises:
        AssertionError: a law of the linter does not hold.
    """
    config = Config()
    found = engine.findings(text.encode(), name, config, queries)
    lines = text.count("\n") + text.count("\r") + 1
    if not all(1 <= finding.line <= finding.end_line <= lines for finding in found):
        raise AssertionError("a finding lies outside of the text")
    for unsafe in (False, True):
        once = engine.fix(text, name, config, queries, unsafe=unsafe).text
        if engine.fix(once, name, config, queries, unsafe=unsafe).text != once:
            raise AssertionError("fixing twice is not fixing once")


def seeds() -> list[bytes]:
    """Return what to begin with: the damaged corpus."""
    texts = [(case.name, case.data) for case in cases() if len(case.data) < LONGEST]
    return [bytes([_number(name)]) + data.replace(BETWEEN, b"?") for name, data in texts]


def _number(name: str) -> int:
    kinds = [number for number, each in enumerate(NAMES) if each.rsplit("-", 1)[-1] in name]
    return kinds[0] if kinds else 0

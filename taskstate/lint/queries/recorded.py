"""What is asked about one file's surroundings is noted with a mark of the answer.

So a cache can tell whether the same questions would be answered in the same way: a mark is cheap, an answer may need
another file to be read and parsed. `surroundings` and its neighbours hold the answers, each beside its mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint.queries.interface import Around

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from taskstate.lint.queries.repository import Repository


class Asked(Around):
    """The questions that were put about one file; `asked` holds each one with the mark of its answer.

    The mark of the answer to the question `name` is given by the method `_name_mark`.
    """

    def __init__(self, repository: Repository, path: Path) -> None:
        self.repository = repository
        self.path = path
        self.known = repository.known
        self.asked: dict[tuple[str, ...], str] = {}

    def mark(self, question: tuple[str, ...]) -> str:
        """Return the mark of the answer to a question as it would be answered now."""
        name, *arguments = question
        marked: Callable[..., str] = getattr(self, f"_{name}_mark")
        return marked(*arguments)

    def _ask(self, *question: str) -> str:
        """Note a question, and return its mark; it is taken before the answer, so that a late change is seen."""
        if question not in self.asked:
            self.asked[question] = self.mark(question)
        return self.asked[question]

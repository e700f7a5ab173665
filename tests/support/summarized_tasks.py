"""Reads long tasks that were written by hand, `tests/cases/summaries/*.task`, with questions about them.

A line `? QUESTION = WORDS` is a question: its answer is known where one of the words (`a|b`), or all in this order
(`a < b`), stand in what is read. `== N` begins a session, `did:` and `issue:` are its texts; `; ` stands between
several short ones. `each:` are the sessions for each line of words below it, and `@N` changes one of them.
"""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from taskstate.syntax import escaping

if TYPE_CHECKING:
    from collections.abc import Iterator


FILES = sorted(Path(__file__).parents[1].joinpath("cases", "summaries").glob("*.task"))


class Question(NamedTuple):
    """A question, and the words by which its answer is told."""

    text: str
    answer: str

    def is_answered_by(self, text: str) -> bool:
        """Return whether a text tells the answer."""
        at = 0
        for part in self.answer.split("<"):
            words = "|".join(re.escape(word.strip()) for word in part.split("|"))
            match = re.compile(words, re.IGNORECASE).search(text, at)
            if match is None:
                return False
            at = match.end()
        return True


class Said(NamedTuple):
    """What a session says."""

    did: list[str]
    issues: list[str]


class LongTask(NamedTuple):
    """A long task: its questions, and what its sessions say by their numbers."""

    questions: list[Question]
    sessions: dict[int, Said]

    def entry(self, number: int) -> str:
        """Return the entry of a session, as the tool writes it."""
        said = self.sessions[number]
        did, issues = (escaping.items(tuple(texts), what="it") if texts else "None" for texts in said)
        return (
            f"### Session {number} - 2026-01-{number % 28 + 1:02} 10:00\n\n**What I did:**\n\n{did}\n\n"
            f"**Issues encountered:**\n\n{issues}\n\n**Current state:** Works.\n\n**Next steps:** Go on.\n\n"
        )


def read_long_task(path: Path) -> LongTask:
    """Return the long task of a file."""
    task, numbers, forms = LongTask([], {}), count(1), []
    said = Said([], [])
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if line.startswith("? "):
            task.questions.append(Question(*line[2:].split(" = ", 1)))
        elif line.startswith("== "):
            said = task.sessions.setdefault(int(line[3:]), Said([], []))
        elif line.startswith("each: "):
            forms = line[6:].split(" | ")
        elif line.startswith("@"):
            number, text = line[1:].split(" ", 1)
            _add(task.sessions[int(number)], text)
        elif line.startswith(("did: ", "issue: ")):
            _add(said, line)
        elif line:
            texts = list(_sentences(forms, line))
            task.sessions.update((next(numbers), Said([text], [])) for text in texts)
    return task


def _sentences(forms: list[str], line: str) -> Iterator[str]:
    for form in forms:
        text = form.format(*line.split("; "))
        yield text[0].upper() + text[1:]


def _add(said: Said, line: str) -> None:
    label, _, text = line.partition(": ")
    texts = text.split("; ") if re.search("; [A-Z]", text) else [text]
    (said.did if label == "did" else said.issues).extend(texts if texts != ["None"] else [])

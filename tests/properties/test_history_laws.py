"""Laws of what compares a file with its past."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from taskstate.lint import engine
from taskstate.lint.queries.interface import ARCHIVE, HISTORY, Queries
from taskstate.model.config import Config, Lint
from taskstate.syntax.document import Document, parse
from tests.support.lint_corpus import CLEAN, cases
from tests.support.markdown_strategies import any_text, state_files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

NAME = "task-7-state.md"
COMPARED = ("TS107", "TS305", "TS307", "TS308", "TS405", "TS408")
CONFIG = Config(lint=Lint(select=COMPARED))
CLEAN_TEXT = (CLEAN / NAME).read_text(encoding="utf-8")
HEAD, _, REST = CLEAN_TEXT.partition("## 4. Progress Log\n")
TAIL = REST[REST.index("## 5. Git History") :]
texts = st.one_of(state_files, any_text, st.sampled_from([case.text for case in cases() if case.text]))


class Past(Queries):
    """A file with a past, and an archive."""

    answerable = frozenset({HISTORY, ARCHIVE})

    def __init__(self, earlier: Sequence[str], archive: str = "") -> None:
        self._earlier = tuple(parse(text) for text in earlier)
        self._archive = (parse(archive),) if archive else ()

    def earlier(self, now: Document | None = None) -> tuple[Document, ...] | None:  # noqa: ARG002 - the past is given
        """Return the earlier texts."""
        return self._earlier

    def archive(self) -> tuple[Document, ...] | None:
        """Return the archive file."""
        return self._archive

    def changed_paths(self) -> tuple[str, ...] | None:
        """Return one path."""
        return ("src/import/a.py",)


class Work(NamedTuple):
    """What a session says, without its number."""

    minute: int
    words: str


words = st.text(st.sampled_from("ab \t-*_>|\n"), max_size=12)
tidy = words.map(lambda text: re.sub(r"[ \t]+(?=\n|\Z)", "", text))
works = st.lists(st.builds(Work, st.integers(0, 59), tidy), max_size=5, unique=True)


def told(text: str, past: Past) -> list[str]:
    """Return the codes of what is found by comparing."""
    return [each.code for each in engine.check(text, NAME, CONFIG, past)]


def entry(work: Work, number: int, level: int = 3) -> str:
    """Return a session."""
    return (
        f"{'#' * level} Session {number} - 2026-02-03 08:{work.minute:02}\n\n"
        f"**What I did:** it\n\n```text\n{work.words}\n```\n\n"
        f"**Issues:** None\n\n**Current state:** Works\n\n**Next steps:** Go on\n\n"
    )


def file(log: Sequence[Work], first: int = 1) -> str:
    """Return a state file with these sessions."""
    sessions = "".join(entry(work, number) for number, work in enumerate(log, first))
    return f"{HEAD}## 4. Progress Log\n\n{sessions}{TAIL}"


@given(texts, st.lists(texts, max_size=2), texts)
def test_any_text_can_be_compared(text: str, earlier: list[str], archive: str) -> None:
    """No text, no past and no archive makes a rule raise; without a past nothing is compared."""
    found = told(text, Past(earlier, archive))
    assert earlier or not found


@given(texts)
def test_what_did_not_change_was_not_rewritten(text: str) -> None:
    """A text compared with itself has nothing rewritten in it; that work wants a session may be told."""
    assert set(told(text, Past([text]))) <= {"TS408"}
    assert set(told(text, Past([text, text]))) <= {"TS408"}


@given(works, works, st.randoms(use_true_random=False), st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "  "]))
def test_a_merge_in_any_order_rewrites_nothing(
    ours: list[Work], theirs: list[Work], random: Random, newline: str, blanks: str
) -> None:
    """Sessions of both sides, in any order and under any numbers, are found; blanks and line ends do not matter."""
    both = list(dict.fromkeys([*ours, *theirs]))
    random.shuffle(both)
    merged = file(both, 5).replace("\n\n", f"{blanks}\n\n").replace("\n", newline)
    assert "TS405" not in told(merged, Past([file(ours), file(theirs)]))


@given(works, works, st.data())
def test_what_a_merge_loses_is_told(ours: list[Work], theirs: list[Work], data: st.DataObject) -> None:
    """A session that is left out is one finding; so is one that was edited."""
    both = list(dict.fromkeys([*ours, *theirs]))
    if both:
        lost = data.draw(st.sampled_from(both))
        left = [work for work in both if work != lost]
        assert told(file(left), Past([file(ours), file(theirs)])).count("TS405") == 1
        other = Work(lost.minute, f"{lost.words}x")
        edited = file([other if work == lost else work for work in both])
        assert told(edited, Past([file(ours), file(theirs)])).count("TS405") == (other not in both)


@given(works, st.integers(0, 5))
def test_what_was_archived_is_found(log: list[Work], gone: int) -> None:
    """Sessions may stand in the archive, at its level, with the lines that close a batch behind the last one."""
    archived, kept = log[:gone], log[gone:]
    archive = "# Task #7 Archive - Full Session History\n\n" + "".join(
        entry(work, number, level=2) for number, work in enumerate(archived, 1)
    )
    archive += "---\n\nArchived on: 2026-02-04T10:00:00Z\nReason: asked for\n"
    assert "TS405" not in told(file(kept), Past([file(log)], archive))
    assert told(file(kept), Past([file(log)])).count("TS405") == bool(archived)

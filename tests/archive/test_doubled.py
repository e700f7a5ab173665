"""Which sessions of a log the archive holds, too, and which only say the same."""

from __future__ import annotations

import pytest

from taskstate.archive.doubled import doubled
from taskstate.archive.integrity import ArchiveContents
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse

LOG = "---\ntaskstate: 1\n---\n\n# Task #101: T - State\n\n## 4. Progress Log\n\n"


def found(archived: str, logged: str) -> list[tuple[int, int]]:
    """Return the doubled sessions of files whose sessions are written as `number words minute`."""
    log = read_state(parse(LOG + entries("###", logged)))
    return [
        (each.session.number, each.archived_as)
        for each in doubled(log.sessions, ArchiveContents(f"# Task #101 Archive\n\n{entries('##', archived)}"))
    ]


def entries(level: str, written: str) -> str:
    """Return the entries of sessions."""
    parts = (each.split() for each in written.split(","))
    return "".join(
        f"{level} Session {number} - 2026-01-31 12:0{minute}\n\n- {words}\n\n" for number, words, minute in parts
    )


@pytest.mark.parametrize(
    ("archived", "logged", "doubled_as"),
    [
        ("1 a 1, 2 b 2", "2 b 2, 3 c 3", [(2, 2)]),
        ("1 a 1, 2 b 2, 3 c 3", "4 b 2, 5 c 3, 6 d 4", [(4, 2), (5, 3)]),
        ("1 a 1, 2 b 2", "3 d 4, 4 b 2", [(4, 2)]),
        ("1 a 1, 2 b 1", "3 a 1, 4 b 1", [(3, 1), (4, 2)]),
        ("1 a 1, 2 *b* 2, 3 c 3", "4 _b_ 2", [(4, 2)]),
        ("1 a 1, 2 b 2, 3 c 3", "4 b 2, 5 b 2", [(4, 2)]),
    ],
    ids=["a stale save", "a squash", "behind another", "two in one minute", "other marks", "each for one"],
)
def test_a_session_that_stands_in_both_is_found(archived: str, logged: str, doubled_as: list[tuple[int, int]]) -> None:
    """Under the same number, or where something else lies between the two numbers."""
    assert found(archived, logged) == doubled_as


@pytest.mark.parametrize(
    ("archived", "logged"),
    [
        ("1 a 1, 2 b 2", "3 b 2, 4 c 3"),
        ("1 a 1, 2 b 2, 3 b 2", "4 b 2"),
        ("1 a 1, 2 b 2, 3 c 2", "4 b 2"),
        ("1 a 1, 2 b 2", "3 b 3"),
        ("1 a 1, 2 b 2", "2 c 2"),
    ],
    ids=["in a row", "three in a row", "one between, of the same minute", "another minute", "a number given twice"],
)
def test_two_sessions_that_say_the_same_are_two(archived: str, logged: str) -> None:
    """Whoever ran the tests twice in a minute has two sessions, and another minute or other words are another one."""
    assert found(archived, logged) == []

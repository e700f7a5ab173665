"""The Markdown of a pull request: its order, its words, and what goes where it would be too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.views.change_report import MOST, markdown
from taskstate.views.changes import CHANGED, NewSession, OpenFinding, Progress, Reached, TaskChange
from taskstate.views.pull_request import PullRequest

FINDING = OpenFinding("reviewer", 1, "the token never expires", is_new=True)


def found(*tasks: TaskChange, named: tuple[str, ...] = ()) -> PullRequest:
    """Return what was found."""
    return PullRequest("a" * 40, "b" * 40, tasks, named, ())


def task(task_id: str = "101", text: str = "said", *, sessions: int = 1, texts: int = 1) -> TaskChange:
    """Return a change with texts of each kind."""
    said = tuple(f"{text} {number}" for number in range(texts))
    return TaskChange(
        id=task_id,
        title=text,
        change=CHANGED,
        status_before="in_progress",
        status="complete",
        criteria=Progress(texts, 2 * texts, tuple(map(Reached, said)), (), (), said),
        features=Progress(texts, texts, tuple(Reached(each, "by words only") for each in said), said, said, ()),
        sessions=tuple(NewSession(number, f"{text} {number}") for number in range(sessions)),
        findings=(FINDING,),
        worse=("lint",),
        handoff="open",
        waived=said,
    )


def test_a_task_is_told_in_few_lines() -> None:
    """Each line answers one question; numbers stand beside what they are the difference of."""
    assert markdown(found(task(), named=("102", "GH-3"))) == (
        "<!-- taskstate:begin -->\n"
        "### Task 101: said \u2013 in progress \u2192 complete\n\n"
        "- criteria 1 of 2, now also: *said 0*. Open: *said 0*\n"
        "- features 1 of 1, now passing: said 0 (by words only). No longer: *said 0*. Removed: *said 0*\n"
        "- 1 session: *said 0*\n"
        "- reviewer: 1 finding open: *the token never expires* \u00b7 checks: 1 worse than the baseline (lint)"
        " \u00b7 handoff open\n"
        "- waived: *said 0*\n\n"
        "Tasks without a change of their own, named by commits or the branch: 102, `GH-3`.\n"
        "<!-- taskstate:end -->"
    )
    assert "No task changed." in markdown(found())


@pytest.mark.parametrize(
    ("tasks", "sessions", "texts", "there", "gone"),
    [
        (1, 30, 30, ("*w 19* and 10 more",), ("*w 20*",)),
        (110, 20, 3, ("*w 2*", "*w 4* and 15 more"), ("*w 5*",)),
        (130, 20, 3, ("*w 2*", "- 20 sessions\n"), ("*w 3*",)),
        (90, 20, 40, ("- 20 sessions\n", "*w 4* and 35 more"), ("*w 5*",)),
        (180, 5, 20, ("criteria 20 of 40, now also: 20. Open: 20\n", "reviewer: 1 finding open \u00b7"), ("*w 0*",)),
        (500, 5, 5, ("more tasks.",), ("Task 499:",)),
    ],
)
def test_what_is_too_long_is_cut(
    tasks: int, sessions: int, texts: int, there: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    """Sessions go first, then other texts, then tasks; each time the number of the others is said."""
    changes = [task(str(number), "w", sessions=sessions, texts=texts) for number in range(tasks)]
    said = markdown(found(*changes, named=tuple(map(str, range(5_000)))))
    assert len(said.encode()) <= MOST
    assert said.endswith(" and 4950 more.\n<!-- taskstate:end -->")
    assert [each for each in there if each not in said] == []
    assert [each for each in gone if each in said] == []


@given(st.text(), st.integers(1, 3))
def test_any_text_stays_text(text: str, number: int) -> None:
    """Whatever files say, the report has its own lines, and outside code marks nothing that a service acts on."""
    said = markdown(found(*[task(text, text, texts=number)] * 2))
    lines = said.splitlines()
    assert len(lines) == 2 + 2 * 7 + 1
    assert (lines[0], lines[-1], said.count("<!--")) == ("<!-- taskstate:begin -->", "<!-- taskstate:end -->", 2)
    for line in lines[1:-1]:
        words = re.sub(r"`[^`]*`", "", line)
        assert re.fullmatch(r"(?:### |- )?[^@#`<>&\[\]_|~]*", words), line

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.model.progress_log import is_summary, session_number
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax.document import parse
from taskstate.syntax.escaping import item_text
from taskstate.syntax.spans import Span, trimmed

if TYPE_CHECKING:
    from taskstate.model.progress_log import Session

TEXT = """\
---
taskstate: 1
task_id: 007
title: Tables
status: in_progress
priority: P1
area: ""
depends_on: ["5", x-9]
revision: 14
---

# Task #007: Tables - State

## Static Context

### Task Description

Read tables.

And cells.

### ACCEPTANCE CRITERIA (3)

Text before.

- [x] Rows are read
  # and cells

  too
- [ ]
- [X] \\---
- no criterion
- [-] none either

## 3) feature  checklist (of today) ##

```text
not this one
```

```JSON
{
  "features": [
    {"id": "a", "description": "x", "passes": true, "tested_at": "2025-02-03T10:00:00Z", "evidence": {"commit": "c"}},
    {"id": "b", "description": "y", "passes": "true", "tested_at": 3, "moved_to": "8"},
    {"id": "c"},
    {"id": 3}, 4, {}
  ],
  "overall_progress": "50%"
}
```

## 4. Progress Log

### Archived Summary (Sessions 1-3)

All of it.

### Another

### Session 4 - 2025-02-03T10:00

**Agent:** me

**What I did:** first

second
* third
  ```
  **Next steps:** no
  ```
- fourth

```
**Next steps:** no
```

**Issues:** None
**Current state:**

It works.

It is slow.

**Next steps:**

- go on
- rest

**Next steps:** twice

### session #6 (continued)

## 6. Chain Output

## Notes

### Session 9 - 2025-02-03 11:00
"""


@pytest.fixture
def state() -> TaskState:
    """Return what the sample says."""
    return read_state(parse(TEXT))


def test_the_front_matter_is_told_as_it_is_written(state: TaskState) -> None:
    """Scalars are strings as they stand there; what is missing or empty is None, empty or 0."""
    assert (state.id, state.title, state.status, state.kind, state.revision) == (
        "007",
        "Tables",
        "in_progress",
        "task",
        14,
    )
    assert state.text("priority") == "P1"
    assert state.text("taskstate") == "1"
    assert state.text("area") is None
    assert state.text("depends_on") is None
    assert state.text("epic") is None
    assert state.depends_on == ("5", "x-9")
    assert state.problems == ()


def test_parts_are_found_by_their_names(state: TaskState) -> None:
    """Number, case, spaces, closing marks and a suffix in brackets make no difference."""
    assert list(state.parts) == ["static context", "feature checklist", "progress log", "chain output", "notes"]
    checklist = state.section("3. Feature Checklist")
    assert checklist
    assert checklist.title == "3) feature  checklist (of today)"
    assert state.section("Git History") is None
    assert state.subsection("Static Context", "Scope") is None
    assert state.subsection("Git History", "Scope") is None
    assert state.description == "Read tables.\n\nAnd cells."


def test_criteria_are_the_items_with_a_check_box(state: TaskState) -> None:
    """Each has its text without box and indentation, and the place of its mark; other items are none, and count."""
    assert [(each.number, each.checked, each.text) for each in state.criteria] == [
        (1, True, "Rows are read\n# and cells\n\ntoo"),
        (3, True, "---"),
    ]
    assert [each.mark.of(TEXT) for each in state.criteria] == ["x", "X"]
    assert state.criteria[0].span.of(TEXT).startswith("- [x] Rows")


def test_the_checklist_is_the_first_json_fence(state: TaskState) -> None:
    """Entries that are no features are left out, and values of another type are none."""
    assert state.checklist
    assert [feature.id for feature in state.checklist.features] == ["a", "b", "c"]
    first, second, third = state.checklist.features
    assert (first.passes, first.tested_at, first.evidence, first.moved_to) == (
        True,
        "2025-02-03T10:00:00Z",
        {"commit": "c"},
        None,
    )
    assert (second.passes, second.tested_at, second.moved_to) == (False, None, "8")
    assert (third.description, third.passes, third.evidence) == ("", False, None)
    assert state.checklist.counted == (first, third)
    assert state.checklist.passing == 1
    assert state.checklist.progress == "50%"
    assert first.node.span.of(TEXT).startswith('{"id": "a"')


def test_sessions_are_those_of_the_progress_log(state: TaskState) -> None:
    """They are told apart by number; other headings, and those of other sections, are none."""
    assert [(session.number, session.time) for session in state.sessions] == [(4, "2025-02-03 10:00"), (6, None)]
    assert [session.number_span.of(TEXT) for session in state.sessions] == ["4", "6"]
    assert state.sessions[0].entry.endswith("**Next steps:** twice")
    assert state.next_steps == ()


def test_the_fields_of_a_session_are_its_labels(state: TaskState) -> None:
    """A value is a list, or text on the label's line or below; one in a fence is none, two are one."""
    session = state.sessions[0]
    assert list(session.fields) == ["by", "what i did", "issues encountered", "current state", "next steps"]
    assert session.did == ("first", "second", "third\n```\n**Next steps:** no\n```", "fourth")
    assert session.issues == ("None",)
    assert session.state == "It works.\n\nIt is slow."
    assert session.next == ("go on", "rest", "twice")
    assert session.agent == "me"
    assert session.field("verification") == ()
    assert session.fields["issues encountered"].label_span.of(TEXT) == "**Issues:** "


def test_the_summary_says_what_it_stands_for(state: TaskState) -> None:
    """It names the first and the last session that it replaced."""
    assert state.summary
    assert (state.summary.first, state.summary.last, state.archived) == (1, 3, 3)
    assert state.summary.span.of(TEXT) == "### Archived Summary (Sessions 1-3)\n\nAll of it."


@pytest.mark.parametrize(
    ("title", "first", "last"),
    [
        ("Archived Summary", 0, 0),
        ("archived summary (session 2)", 2, 2),
        ("Archived Summary (Sessions 1 \u2013 12) x", 1, 12),
    ],
)
def test_summaries_are_known_by_their_titles(title: str, first: int, last: int) -> None:
    """One session, several, or none named; the second summary of a log is not looked at."""
    state = read_state(parse(f"## Progress Log\n\n### {title}\n\n### Archived Summary (Sessions 8-9)\n"))
    assert state.summary
    assert (state.summary.first, state.summary.last) == (first, last)
    assert is_summary(title)


def test_titles_of_sessions_hold_a_number() -> None:
    """Case, a hash and what follows make no difference."""
    assert session_number("Session 3 - 2025-02-03 10:00") == 3
    assert session_number("SESSION  #12: x") == 12
    assert session_number("Sessions 3") is None
    assert session_number("A session 3") is None
    assert not is_summary("Session 3")


def test_an_empty_file_gives_an_empty_state() -> None:
    """Nothing is missed loudly: the problems say what is wrong; the file's name may give the id."""
    state = read_state(parse(""), "7")
    assert (state.id, state.title, state.status, state.kind, state.revision) == ("7", "", "", "task", 0)
    assert (state.criteria, state.sessions, state.checklist, state.summary) == ((), (), None, None)
    assert (state.description, state.depends_on, state.archived, state.next_steps) == (None, (), 0, ())
    assert state.text("title") is None
    assert state.size == state.size_kb == 0
    assert [problem.kind for problem in state.problems] == ["front-matter-missing"]


@pytest.mark.parametrize(
    "front_matter",
    ["revision: true", 'revision: "3"', "revision: [1]\ntitle: {a: 1}\ntask_id: [x]\nkind: 3", "depends_on: 5"],
)
def test_values_of_another_type_are_none(front_matter: str) -> None:
    """A wrong value never raises and is never guessed at."""
    state = read_state(parse(f"---\n{front_matter}\n---\n"))
    assert (state.id, state.title, state.revision, state.depends_on, state.kind) == ("", "", 0, (), "task")


def test_depends_on_leaves_out_what_is_no_id() -> None:
    """Empty entries and nested ones are none."""
    assert read_state(parse("---\ndepends_on: [5, , [6], '']\n---\n")).depends_on in {("5",), ()}
    assert read_state(parse("---\ndepends_on:\n  - 5\n  -\n  - [6]\n---\n")).depends_on == ("5",)


@pytest.mark.parametrize("fence", ["[1]", '{"features": 3}', "{}", "3"])
def test_a_checklist_without_features_has_none(fence: str) -> None:
    """Any JSON may stand there."""
    state = read_state(parse(f"## Feature Checklist\n\n```json\n{fence}\n```\n"))
    assert state.checklist
    assert state.checklist.features == ()
    assert state.checklist.progress is None


def test_a_checklist_that_cannot_be_read_is_a_problem() -> None:
    """It stands among the problems, with its place in the fence."""
    text = '## Feature Checklist\n\n```json\n{"features": [}\n```\n'
    state = read_state(parse(text))
    assert state.checklist is None
    problem = state.problems[-1]
    assert problem.kind == "json-invalid"
    assert text.index("{") <= problem.span.start < text.index("\n```\n")


def test_size_is_rounded_up() -> None:
    """Size in KB counts line ends as LF and any part of a KB as one."""
    assert read_state(parse("x" * 1024)).size_kb == 1
    assert read_state(parse("x" * 1023 + "\r\n")).size_kb == 1
    assert read_state(parse("x" * 1024 + "\n")).size_kb == 2


def test_the_newest_session_names_the_next_steps() -> None:
    """They are those of the last session in the log."""
    text = "## Progress Log\n\n### Session 2\n\n**Next steps:** a\n\n### Session 1\n\n**Next steps:**\n- b\n- c\n"
    state = read_state(parse(text))
    assert state.next_steps == ("b", "c")
    assert session_at(state, 0).next == ("a",)


def session_at(state: TaskState, index: int) -> Session:
    """Return a session by its place."""
    return state.sessions[index]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_line_ends_change_nothing(newline: str) -> None:
    """With any line ends the same is read."""
    state, same = read_state(parse(TEXT)), read_state(parse(TEXT.replace("\n", newline)))
    assert [(each.text, each.checked) for each in same.criteria] == [
        (each.text, each.checked) for each in state.criteria
    ]
    assert [(each.did, each.state, each.next) for each in same.sessions] == [
        (each.did, each.state, each.next) for each in state.sessions
    ]
    assert same.description == state.description
    assert same.checklist
    assert same.checklist.passing == 1


def test_a_field_may_be_empty() -> None:
    """A label with nothing behind it says nothing."""
    state = read_state(parse("## Progress Log\n\n### Session 1\n\n**What I did:**\n\n**Next steps:** \n"))
    assert state.sessions[0].fields.keys() == {"what i did", "next steps"}
    assert state.sessions[0].did == state.sessions[0].next == ()


def test_item_text_takes_away_what_the_marker_brings() -> None:
    """Lines that are indented less, or by tabs, lose no more than their blanks."""
    text = "-   a\n    b\n  c\n\td\n\n      e"
    assert item_text(text, Span(0, len(text)), Span(4, len(text))) == "a\nb\nc\n\td\n\n  e"


def test_trimmed_leaves_blank_lines_out() -> None:
    """A span without what is blank at its end; one that is all blank is empty."""
    assert trimmed("ab \r\n\t\nc", Span(1, 7)) == Span(1, 2)
    assert trimmed(" \n", Span(0, 2)) == Span(0, 0)


HEAD = "# Task #1: T - State\n\n## 4. Progress Log\n\n### Session 1 - 2026-01-01 10:00\n\n"


def test_a_label_counts_wherever_it_looks_like_one() -> None:
    """Up to three blanks before it make no difference; within an item the same words are part of the item."""
    text = f"{HEAD}**What I did:**\n\n- a\n  **Next steps:** no\n\n **Current state:** b\n\n   **Agent:** c\n"
    (session,) = read_state(parse(text)).sessions
    assert (session.did, session.state, session.agent, session.next) == (("a\n**Next steps:** no",), "b", "c", ())


def test_a_label_that_stands_twice_is_one() -> None:
    """What stands below the second is said as well, of a text and of a list; one of the two may be empty."""
    text = f"{HEAD}**Current state:** a\n\n**Next steps:**\n\n**Current state:** b\n\n**Next steps:**\n\n- c\n"
    (session,) = read_state(parse(text)).sessions
    assert (session.state, session.next) == ("a\nb", ("c",))

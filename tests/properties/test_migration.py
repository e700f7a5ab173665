"""Whatever an older document is made of: nothing of it gets lost, and migrating twice is migrating once."""

from __future__ import annotations

import re
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.formatting.formatter import format_text
from taskstate.migration.state_file import migrated
from taskstate.model.older_sections import is_older
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse

PATH = ".taskstate/tasks/task-101-state.md"
NOW = "2026-01-31T12:00:00Z"
WORD = st.sampled_from(["token", "key", "caf\u00e9", "`code`", "a-b", "x_y", "100%", "jwt", "\u7b7e\u540d"])
SENTENCE = st.lists(WORD, min_size=1, max_size=4).map(" ".join)
LINE = st.one_of(
    SENTENCE,
    SENTENCE.map("- {}".format),
    SENTENCE.map("* {}".format),
    SENTENCE.map("1. {}".format),
    SENTENCE.map("- [ ] {}".format),
    SENTENCE.map("- [x] {}".format),
    SENTENCE.map("  - [ ] {}".format),
    SENTENCE.map("      {}".format),
    SENTENCE.map("> {}".format),
    SENTENCE.map("#### {}".format),
    SENTENCE.map("**Estimate:** {}".format),
    SENTENCE.map("({})".format),
    SENTENCE.map("<!-- {} -->".format),
    st.sampled_from(["", "---", "```\nfenced\n```", '```json\n{"own": [1, "two"]}\n```', "| a | b |", "    indented"]),
)
TEXT = st.lists(LINE, max_size=6).map("\n".join)
TIME = st.sampled_from(
    [
        *("2024-11-26 14:30", "2024-11-26 2:30 PM", "2024-11-27T09:00:00Z", "Nov 26, 2024 2:30 PM", "noon", ""),
        *("2024-11-26 14:30 GMT+2", "26 Nov 2024 10:00 CET", "2024-11-26 14:30 IST", "2024-11-26 09:00-10:00"),
        "2024-11-26",
    ]
)
LABEL = st.sampled_from(
    ["**What I did:**", "**Issues:**", "**Blockers**:", "#### Next steps", "Current state:", "**Mood:**", "__Done:__"]
)


@st.composite
def sessions(draw: st.DrawFn) -> str:
    """Return a session of some older form."""
    number, time = draw(st.integers(0, 12)), draw(TIME)
    forms = [
        "### Session {} - {}",
        "### Session {} ({})",
        "### Session {}: {} later",
        "### {1}",
        "### **Session {}** - {}",
    ]
    forms += ["### {1} `code` [jwt](https://key.example/own?two={0})", "### Session ({1}, token) *key*", "### own"]
    heading = draw(st.sampled_from(forms))
    parts = draw(st.lists(st.tuples(LABEL, TEXT), max_size=4))
    return "\n".join([heading.format(number, time), *(f"{label}\n{text}" for label, text in parts), draw(TEXT)])


LOG = st.lists(st.one_of(sessions(), TEXT, SENTENCE.map("### {}".format)), max_size=4).map("\n\n".join)
STATIC = st.lists(
    st.one_of(
        TEXT,
        SENTENCE.map("**PRD:** {}".format),
        SENTENCE.map("**Epic:** {}".format),
        TEXT.map("### Acceptance Criteria\n{}".format),
        TEXT.map("### ACCEPTANCE criteria (jwt)\n{}".format),
        TEXT.map("### Task Description\n{}".format),
        TEXT.map("### Validation\n{}".format),
    ),
    max_size=4,
).map("\n\n".join)
CHECKLIST = st.one_of(
    TEXT,
    st.lists(st.one_of(TEXT, SENTENCE.map("### {}".format), SENTENCE.map("#### {}".format)), max_size=5).map("\n".join),
    st.just('```json\n{"features": [{"id": 1, "name": "n", "passes": true, "rank": "high"}]}\n```'),
    st.just('```\n[{"description": "d", "passes": "no"}]\n```'),
)
SECTION = st.one_of(
    st.tuples(st.sampled_from(["Static Context", "1. Static Context (ours)", "Task Context"]), STATIC),
    st.tuples(
        st.sampled_from(["2. Chain Inputs", "Inputs"]), st.one_of(TEXT, TEXT.map("### From Task 100: jwt\n{}".format))
    ),
    st.tuples(st.sampled_from(["3. Feature Checklist", "Features"]), CHECKLIST),
    st.tuples(st.sampled_from(["3. Progress Log", "Progress", "4. PROGRESS LOG"]), LOG),
    st.tuples(
        st.sampled_from(["Git History", "4. Chain Output", "Notes", "Risks", "Acceptance Criteria", "Output (key)"]),
        TEXT,
    ),
)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Return a document of some older form, with one line end or the other."""
    parts = [f"## {title}\n{text}" for title, text in draw(st.lists(SECTION, min_size=1, max_size=6))]
    head = draw(st.sampled_from(["# Task #101: Keys - State\n", "# Keys\n\n**Status:** in progress\n", ""]))
    text = "\n\n".join([head, *parts]) + "\n"
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def words(text: str) -> Counter[str]:
    """Return the words of a text that the strategies put there, and no labels or titles."""
    return Counter(re.findall(r"token|key|caf\u00e9|code|jwt|\u7b7e\u540d|100%|fenced|indented|own|two", text))


@given(documents())
def test_nothing_is_lost_and_twice_is_once(text: str) -> None:
    """Each word of the body stands in the result, as often; the result is canonical, and of no older form."""
    if not is_older(parse(text)):
        return
    try:
        result = migrated(text, PATH, "101", NOW).text
    except TaskstateError as error:  # what cannot be taken over whole is refused, and nothing is written
        assert "would get lost" in error.message  # noqa: PT017 - hypothesis draws many texts, most of which are taken
        return
    assert not words(text) - words(result)
    assert not is_older(parse(result))
    assert not read_state(parse(result)).problems
    assert format_text(result, PATH) == result

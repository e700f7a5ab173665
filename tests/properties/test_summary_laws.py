"""The laws of summaries: whatever sessions say, each line of their summary is said in one of those that it names."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from taskstate.archive.summary import MAX_BYTES, EarlierSummary, summarise
from taskstate.archive.summary_statements import MORE, Statement
from taskstate.model.progress_log import labelled_fields
from taskstate.model.task_state import TaskState, read_state
from taskstate.syntax import escaping
from taskstate.syntax.document import parse
from taskstate.syntax.spans import printable
from tests.support.markdown_strategies import outside

HEAD = '---\ntaskstate: 1\ntask_id: "1"\ntitle: T\n---\n\n# Task #1: T - State\n\n## 4. Progress Log\n\n'
SEPARATOR = " \u00b7 "
LISTS = ("key accomplishments", "issues encountered", "issues resolved")
PHRASES = (
    *("Added tests", "added  tests.", "Resolved: added tests", "Did thing 3", "Did thing 3: fixed", "None"),
    *("Decided on blue", "Fixed: it is slow", "It is slow (fixed by a cache)", "The cache failed, and was taken out"),
    *("A long sentence that says quite enough alone. " + "And more of it; " * 12, "word " * 60, "\u6587" * 300),
)


def sayable(text: str) -> str:
    """Return a text as a session can say it."""
    return printable(text) if printable(text).strip() else "word"


TEXTS = st.one_of(st.sampled_from(PHRASES), outside.map(sayable))
SESSIONS = st.lists(st.tuples(st.lists(TEXTS, max_size=4), st.lists(TEXTS, max_size=3)), min_size=2, max_size=8)


def state_of(before: str, first: int, said: list[tuple[list[str], list[str]]]) -> TaskState:
    """Return a state file with an earlier summary and these sessions, as the tool writes them."""
    entries = [
        f"### Session {number} - 2026-01-01 10:00\n\n**What I did:**\n\n{escaping.items(tuple(did), what='it')}\n\n"
        f"**Issues encountered:**\n\n{escaping.items(tuple(issues), what='it')}\n\n**Current state:** s\n\n"
        for number, (did, issues) in enumerate(said, first)
    ]
    return read_state(parse(HEAD + before + "".join(entries)))


def lists_of(summary: str) -> list[list[Statement]]:
    """Return both lists of a summary as the next one reads them."""
    state = read_state(parse(HEAD + summary + "\n"))
    assert state.summary
    earlier = EarlierSummary(state, state.summary, 1)
    return list(earlier.lists)


def normal(texts: tuple[str, ...]) -> list[str]:
    """Return texts with their blanks made one."""
    return [" ".join(printable(text).split()) for text in texts]


Told = dict[int, tuple[list[str], list[str]]]


def check(summary: str, told: Told) -> None:
    """Hold a summary against what the sessions said."""
    document = parse(summary + "\n")
    assert len(summary.encode()) <= MAX_BYTES
    assert len(document.sections) == 1
    lists = lists_of(summary)
    present = [name for name, statements in zip(LISTS, lists, strict=True) if statements or name != LISTS[1]]
    assert list(labelled_fields(document, document.sections[0])) == ["duration", *present, "commits"]
    # An issue that is reported again after it was called fixed names the session that did so, too.
    for places, statements in zip(((0,), (0, 1), (0, 1)), lists, strict=True):
        for statement in statements:
            named = [number for first, last in statement.runs for number in range(first, last + 1)]
            said = [text for number in named for place in places for text in told.get(number, ([], []))[place]]
            for part in statement.text.split(SEPARATOR):
                assert any(part.removesuffix(MORE).rstrip() in text for text in said), statement


@given(SESSIONS)
def test_nothing_is_invented(said: list[tuple[list[str], list[str]]]) -> None:
    """Each line, but for what cutting adds, stands word for word in a session that it names; nothing is structure."""
    state = state_of("", 1, said)
    summary = summarise(state, state.sessions[:-1], "x.md")
    told = {each.number: (normal(each.did), normal(each.issues)) for each in state.sessions[:-1]}
    check(summary, told)
    assert summary == summarise(state, state.sessions[:-1], "x.md")
    lines = [escaping.item(str(each)) for statements in lists_of(summary) for each in statements]
    assert lines == re.findall(r"^- .*", summary, re.MULTILINE)


@given(SESSIONS)
def test_nothing_is_invented_by_rolling_forward(said: list[tuple[list[str], list[str]]]) -> None:
    """The same holds where each session is archived by itself and its summary rolls forward."""
    before = ""
    told: dict[int, tuple[list[str], list[str]]] = {}
    for number in range(1, len(said)):
        state = state_of(before, number, said[number - 1 : number + 1])
        going = state.sessions[:1]
        told[number] = (normal(going[0].did), normal(going[0].issues))
        summary = summarise(state, going, "x.md")
        check(summary, told)
        assert summary.startswith(f"### Archived Summary (Sessions 1-{number})\n")
        before = summary + "\n\n"


def words(text: str) -> str:
    """Return a text without case, extra spaces and end punctuation."""
    return " ".join(text.split()).casefold().rstrip(" .,;:!?\u3002\uff01\uff1f") or text


@given(SESSIONS, st.integers(1, 3))
def test_what_a_session_that_stays_reports_is_not_resolved(said: list[tuple[list[str], list[str]]], kept: int) -> None:
    """No issue of a session that stays is among the resolved ones."""
    state = state_of("", 1, said)
    kept = min(kept, len(said) - 1)
    summary = summarise(state, state.sessions[:-kept], "x.md")
    still_reported = {words(text) for session in state.sessions[-kept:] for text in session.issues}
    assert not {words(each.text) for each in lists_of(summary)[2]} & still_reported


@given(SESSIONS)
def test_nothing_is_dropped_but_for_the_limit(said: list[tuple[list[str], list[str]]]) -> None:
    """Where the summary does not say that there is more, every short statement stands in it."""
    state = state_of("", 1, said)
    summary = summarise(state, state.sessions[:-1], "x.md")
    if "is in the archive only." in summary:
        return
    lists = [{words(each.text) for each in statements} for statements in lists_of(summary)]
    still_open = {words(text) for text in state.sessions[-1].issues}  # the session itself tells it
    for session in state.sessions[:-1]:
        for text in (text for text in session.did if text in PHRASES[:5]):
            settled = words(text.removeprefix("Resolved: ").removesuffix(": fixed"))
            assert words(text) in lists[0] or (settled != words(text) and settled in lists[1] | lists[2] | still_open)
        issues = {words(text) for text in session.issues if text in ("Added tests", "added  tests.", "Did thing 3")}
        assert issues <= lists[1] | lists[2]


@given(SESSIONS)
def test_archiving_one_by_one_or_at_once_tells_the_same_issues(said: list[tuple[list[str], list[str]]]) -> None:
    """Which issues are resolved does not depend on how often the summary was rolled forward."""
    whole = state_of("", 1, said)
    at_once = summarise(whole, whole.sessions[:-1], "x.md")
    rolled = ""
    for number in range(1, len(said)):
        state = state_of(rolled, number, said[number - 1 :])
        rolled = summarise(state, state.sessions[:1], "x.md") + "\n\n"
    if "is in the archive only." not in at_once + rolled:
        expected, found = lists_of(at_once), lists_of(rolled)
        assert [{words(each.text) for each in part} for part in found] == [
            {words(each.text) for each in part} for part in expected
        ]


LONG = st.lists(
    st.tuples(
        st.lists(st.sampled_from(PHRASES), min_size=1, max_size=12), st.lists(st.sampled_from(PHRASES), max_size=6)
    ),
    min_size=2,
    max_size=24,
)


def numbered(said: list[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """Return what sessions say with their numbers in it, so that it is long, and each says something of its own."""
    return [tuple([f"{text} in {at}" for text in texts] for texts in both) for at, both in enumerate(said, 1)]  # type: ignore[misc]


@given(LONG)
def test_each_session_has_its_share_and_nothing_that_was_cut_reads_as_nothing(
    said: list[tuple[list[str], list[str]]],
) -> None:
    """Of up to 25 sessions each that did something is told, however much all say; a list that says None had nothing."""
    state = state_of("", 1, numbered(said))
    going = state.sessions[:-1]
    summary = summarise(state, going, "x.md")
    told = {each.number: (normal(each.did), normal(each.issues)) for each in going}
    check(summary, told)
    named = {number for each in lists_of(summary)[0] for first, last in each.runs for number in range(first, last + 1)}
    assert named == {number for number, (did, _) in told.items() if did}
    document = parse(summary + "\n")
    fields = labelled_fields(document, document.sections[0])
    assert "None." not in fields[LISTS[0]].values(document)
    if any(text.startswith("Fixed: ") for each in going for text in (*each.did, *each.issues)):
        assert state.sessions[-1].issues or "None." not in fields[LISTS[2]].values(document)
    encountered = fields[LISTS[1]].values(document) if LISTS[1] in fields else ()
    assert len(encountered) > 0 or not any(text.startswith("A long") for each in going for text in each.issues)


@given(LONG, st.integers(1, 23))
def test_second_archiving_changes_nothing_but_for_cuts(said: list[tuple[list[str], list[str]]], at: int) -> None:
    """What the first summary tells of a session stays, perhaps shorter; nothing comes that was not there."""
    said = numbered(said)
    at = min(at, len(said) - 1)
    first = state_of("", 1, said)
    before = summarise(first, first.sessions[:at], "x.md")
    second = state_of(before + "\n\n", at + 1, said[at:])
    after = summarise(second, second.sessions[:-1], "x.md") if len(second.sessions) > 1 else before
    told: dict[int, list[str]] = {number: [] for number in range(1, at + 1)}
    for each in lists_of(before)[0]:
        for number in [n for run in each.runs for n in range(run[0], run[1] + 1)]:
            told[number] += each.text.split(SEPARATOR)
    for each in lists_of(after)[0]:
        if each.last <= at:
            known = [text for run in each.runs for n in range(run[0], run[1] + 1) for text in told[n]]
            parts = [part.removesuffix(MORE).rstrip() for part in each.text.split(SEPARATOR)]
            assert all(any(part in text for text in known) for part in parts)

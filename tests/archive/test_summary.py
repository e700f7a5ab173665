from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from taskstate.archive.summary import MAX_BYTES, merge_summaries, summarise
from taskstate.model.progress_log import field_values, labelled_fields
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.support.place import Place
from tests.support.summarized_tasks import FILES, read_long_task

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.task_state import TaskState

HEAD = '---\ntaskstate: 1\ntask_id: "1"\ntitle: T\n---\n\n# Task #1: T - State\n\n## 4. Progress Log\n\n'
LINK = "../archives/task-1-archive.md"


def session(number: int, did: str = "", issues: str = "None", commits: str = "", time: str = "") -> str:
    """Return a session as somebody writes one."""
    return (
        f"### Session {number} - {time or f'2026-01-{number % 28 + 1:02} 10:00'}\n\n**What I did:**\n\n"
        f"- {did or f'did {number}'}\n\n**Issues encountered:** {issues}\n\n"
        "**Current state:** s\n\n**Next steps:** n\n\n" + (f"**Commits:** {commits}\n\n" if commits else "")
    )


def state_of(*parts: str) -> TaskState:
    """Return a state file with these parts in its Progress Log."""
    return read_state(parse(HEAD + "".join(parts)))


def summary_of(*parts: str, kept: int = 1) -> str:
    """Return the summary for all but the last sessions."""
    state = state_of(*parts)
    return summarise(state, state.sessions[:-kept], LINK)


def items(summary: str, label: str) -> tuple[str, ...]:
    """Return what a part of a summary holds, as every reader reads it."""
    document = parse(summary + "\n")
    return field_values(document, labelled_fields(document, document.sections[0])[label.lower()].span)


# What it says


def test_form_of_a_summary() -> None:
    """A summary has its heading with the numbers, and its parts in order."""
    assert summary_of(session(1, issues="\n\n- slow", commits="abc1234, def5678"), session(2), session(3)) == (
        "### Archived Summary (Sessions 1-2)\n\n**Duration:** 2026-01-02 10:00 - 2026-01-03 10:00\n\n"
        "**Key Accomplishments:**\n\n- did 1 (S1)\n- did 2 (S2)\n\n**Issues Encountered:**\n\n- slow (S1)\n\n"
        f"**Issues Resolved:** None.\n\n**Commits:** abc1234, def5678\n\n[Full session details]({LINK})"
    )


def test_nothing_is_told_of_kept_sessions() -> None:
    """What a session that stays says is not in the summary."""
    assert "did 3" not in summary_of(session(1), session(2), session(3, issues="- broken"))


def test_what_says_nothing_is_left_out() -> None:
    """None, nothing and dashes are no issues; where none is left, that is said."""
    texts = ("None", "none.", "-", "N/A", "No issues.", "nothing")
    summary = summary_of(*(session(n, issues=text) for n, text in enumerate(texts, 1)), session(9))
    assert "**Issues Resolved:** None." in summary
    assert "**Issues Encountered:**" not in summary


def test_what_was_said_twice_stands_there_once() -> None:
    """Of equal lines the first stays, and stands for both sessions."""
    summary = summary_of(session(1, "Fixed  the bug"), session(2, "fixed the Bug"), session(3))
    assert items(summary, "Key Accomplishments") == ("Fixed the bug (S1, S2)",)


def test_issue_is_resolved_only_where_a_later_session_says_so() -> None:
    """What nobody called resolved stays among the issues encountered, what was not verified as well."""
    issues = "\n\n- Clock skew\n- Slow start\n- Not verified: the retry\n- Lost update\n- Broken pipe"
    summary = summary_of(
        session(1, issues=issues),
        session(2, "Fixed: the clock\n- Resolved: clock  skew."),
        session(3, issues="\n\n- Broken pipe: fixed"),
        session(4, "Slow start is fixed"),
    )
    assert items(summary, "Issues Encountered") == ("Not verified: the retry (S1)", "Lost update (S1)")
    resolved = ("Clock skew (S1)", "Slow start (S1)", "Broken pipe (S1)", "the clock (S2)")
    assert items(summary, "Issues Resolved") == resolved


@pytest.mark.parametrize(
    ("did", "issues", "resolved"),
    [
        ("Resolved: the parser lost lines", "None", "the parser lost lines"),
        ("x", "Fixed: the parser lost lines", "the parser lost lines"),
        ("x", "Fixed the crash on resume", "the crash on resume"),
        ("x", "The crash on resume (fixed by a lock)", "The crash on resume"),
        ("x", "**Behoben:** Absturz beim Start", "Absturz beim Start"),
        ("x", "\u89e3\u6c7a\uff1a\u6587\u5b57\u5316\u3051", "\u6587\u5b57\u5316\u3051"),
        ("Did this. Resolved: the parser lost lines. Then that.", "None", "the parser lost lines"),
        ("Fixed the crash on resume", "None", ""),
        ("x", "Fixed width columns overlap", ""),
        ("x", "The crash that was never fixed", ""),
        ("x", "Crash on resume (not fixed)", ""),
        ("x", "Not verified: the crash is fixed", ""),
    ],
)
def test_what_is_called_resolved_is_so_though_nobody_reported_it(did: str, issues: str, resolved: str) -> None:
    """Where a session calls an issue resolved in so many words, the list of resolved issues is not empty."""
    summary = summary_of(session(1, did, issues=issues), session(2))
    assert items(summary, "Issues Resolved") == ((f"{resolved} (S1)",) if resolved else ("None.",))
    assert ("**Issues Encountered:**" in summary) == (not resolved and issues != "None")


@pytest.mark.parametrize("said", ["Resolved: Clock skew by a leeway of 30 s", "Clock skew - fixed in abc1234"])
def test_issue_is_resolved_by_a_text_that_says_how(said: str) -> None:
    """How it was done may follow the words of the issue."""
    summary = summary_of(session(1, issues="Clock skew"), session(2, said), session(3))
    assert items(summary, "Issues Resolved") == ("Clock skew (S1)",)


def test_what_was_not_verified_resolves_nothing() -> None:
    """A session that could not verify a fix says nothing of the issue, and what it says is an issue of its own."""
    first = session(1, issues="Not verified: the retry")
    summary = summary_of(first, session(2, "Not verified: the retry is fixed"), session(3))
    assert items(summary, "Issues Encountered") == ("Not verified: the retry (S1)",)
    assert items(summary, "Issues Resolved") == ("None.",)
    later = session(2, "Resolved: Not verified: the retry")
    assert items(summary_of(first, later, session(3)), "Issues Resolved") == ("Not verified: the retry (S1)",)


def test_session_does_not_resolve_what_it_reports() -> None:
    """An issue that is reported again by the session that calls it resolved, or by a later one, is not resolved."""
    first, again = session(1, issues="Clock skew"), session(2, "Fixed clock skew", issues="Clock skew")
    assert items(summary_of(first, again, session(3)), "Issues Encountered") == ("Clock skew (S1, S2)",)
    later = session(3, issues="Clock skew")
    assert items(summary_of(first, session(2, "Fixed clock skew"), later, session(4)), "Issues Encountered") == (
        "Clock skew (S1, S3)",
    )


@pytest.mark.parametrize("issue", ["Clock skew", "Clock skew " * 40, "Clock skew\n  on two hosts"])
@pytest.mark.parametrize("kept", [1, 2])
def test_issue_of_a_session_that_stays_is_not_resolved(issue: str, kept: int) -> None:
    """What any session that stays reports was not resolved, however long it is and whatever was said before."""
    report = f"\n\n- {issue.strip()}"
    parts = (session(1, issues=report), session(2, f"Resolved: {issue.strip()}"), session(3, issues=report))
    summary = summary_of(*parts, *([session(4)] if kept > 1 else []), kept=kept)
    assert "**Issues Resolved:** None." in summary
    assert len(items(summary, "Issues Encountered")) == 1


def test_long_issue_is_resolved_by_its_words() -> None:
    """An issue that is cut in the summary is known by the part that stands there."""
    issue = "Clock skew " * 40
    before = summary_of(session(1, issues=issue), session(2)) + "\n\n"
    assert items(before, "Issues Encountered")
    assert items(summary_of(before, session(2, f"Resolved: {issue}"), session(3)), "Issues Resolved")


def test_first_line_is_told_and_cut_at_a_word() -> None:
    """Of a long text the beginning is told, and that there is more."""
    line = "word " * 60
    (told,) = items(summary_of(session(1, line + "\n\n  more"), session(2)), "Key Accomplishments")
    words, mark = told.rsplit(" \u2026", 1)
    assert line.startswith(words + " ")
    assert mark == " (S1)"
    assert len(told) < 170


def test_long_text_is_cut_where_a_sentence_ends() -> None:
    """Whole sentences are told where they say enough, each as a statement."""
    first, second = "The parser reads nested lists now, also those in quotes.", "It is slower than " + "x" * 200
    told = items(summary_of(session(1, f"{first} {second}"), session(2)), "Key Accomplishments")
    assert told == (f"{first} (S1)", "It is slower than \u2026 (S1)")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("# Heading", "Heading (S1)"),
        ("```python\n  x\n  ```", "x (S1)"),
        ("Said:\n\n  ```\n  x\n  ```\n\n  Shown", "Shown (S1)"),
        ("<!-- x", "None."),
        ("<!-- x -->\n  y", "y (S1)"),
        ("- a\n  - b", "a (S1)"),
        ("Did:\n  - a", "a (S1)"),
        ("> x", "x (S1)"),
        ("| a |", "| a | (S1)"),
        ("**Commits:** x", "**Commits:** x (S1)"),
        ("1. x", "x (S1)"),
        ("(S9)", "(S9) (S1)"),
        ("\\---x", "\\---x (S1)"),
        ("---", "None."),
    ],
)
def test_markdown_in_a_line_makes_no_structure(text: str, told: str) -> None:
    """Whatever a session's first line looks like, the summary has its own parts and one heading."""
    summary = summary_of(session(1, text, issues=f"\n\n- {text}"), session(2))
    document = parse(summary + "\n")
    assert [section.title for section in document.sections] == ["Archived Summary (Sessions 1-1)"]
    issues = [] if told == "None." else ["issues encountered"]
    labels = ["duration", "key accomplishments", *issues, "issues resolved", "commits"]
    assert list(labelled_fields(document, document.sections[0])) == labels
    assert items(summary, "Key Accomplishments")[0] == told


def test_control_characters_are_spelled_out() -> None:
    """What a terminal would obey does not keep a session from being archived, and does not get into the summary."""
    assert "- red \\x1b[31m (S1)" in summary_of(session(1, "red \x1b[31m"), session(2))


def test_findings_and_features_are_told() -> None:
    """What the entry of a turn says of features that pass, of findings and of what was accepted is told."""
    entry = session(1) + (
        "**Verification:** 4 passed, was 4; jwt-1 passes\n\n"
        "**Findings:**\n\n- raised 1: It is slow; and it is large\n- answered 2 (X): It counts on\n\n"
        "**Outcome:**\n\n- sent back to implementer\n- accepted drift in a.txt: a typo\n\n"
    )
    assert items(summary_of(entry, session(2)), "Key Accomplishments") == tuple(
        f"{text} (S1)"
        for text in (
            *("did 1", "jwt-1 passes", "raised 1: It is slow; and it is large", "answered 2 (X): It counts on"),
            "accepted drift in a.txt: a typo",
        )
    )


# What becomes one


def test_statements_in_other_words_all_stand() -> None:
    """Statements about one file, or in almost the same words, are statements of their own."""
    did = ("Began `src/auth.py`", "Finished src/auth.py", "Reverted src/auth.py", "Add tests", "Added tests", "x")
    summary = summary_of(*(session(n, text, issues=text) for n, text in enumerate(did, 1)))
    lines = tuple(f"{text} (S{n})" for n, text in enumerate(did[:-1], 1))
    assert items(summary, "Key Accomplishments") == lines
    assert items(summary, "Issues Encountered") == lines


def test_rolled_lines_are_joined_with_the_same_new_ones() -> None:
    """A line of the earlier summary and a new one that is the same become one."""
    before = summary_of(session(1, "Added parser tests"), session(2)) + "\n\n"
    after = summary_of(before, session(2, "x"), session(3, "added parser tests."), session(4))
    assert items(after, "Key Accomplishments") == ("Added parser tests (S1, S3)", "x (S2)")


def test_issue_is_resolved_after_its_session_was_archived() -> None:
    """What the earlier summary lists as encountered moves to the resolved ones when a session says so."""
    before = summary_of(session(1, issues="Clock skew"), session(2)) + "\n\n"
    after = summary_of(before, session(2), session(3, "Resolved: clock skew"))
    assert "**Issues Encountered:**" not in after
    assert items(after, "Issues Resolved") == ("Clock skew (S1)",)


def test_issue_that_comes_back_is_no_longer_called_resolved() -> None:
    """What is reported again leaves the resolved issues, and stays out until another session says so."""
    before = summary_of(session(1, issues="Clock skew"), session(2, "Clock skew: fixed")) + "\n\n"
    assert items(before, "Issues Resolved") == ("Clock skew (S1)",)
    live = summary_of(before, session(2), session(3, issues="- clock skew!")) + "\n\n"
    assert items(live, "Issues Encountered") == ("Clock skew (S1)",)
    gone = summary_of(live, session(3, issues="- clock skew!"), session(4)) + "\n\n"
    assert items(gone, "Issues Encountered") == ("Clock skew (S1, S3)",)
    again = summary_of(gone, session(4, "Fixed Clock skew"), session(5))
    assert items(again, "Issues Resolved") == ("Clock skew (S1, S3)",)


def test_summary_of_the_earlier_form_loses_nothing() -> None:
    """A summary whose first line says where older ones are rolls forward, and what it says of them too."""
    before = (
        "### Archived Summary (Sessions 1-9)\n\n**Duration:** unknown\n\n**Key Accomplishments:**\n\n"
        "- Earlier ones are in the archive only (S1-S6)\n- Wrote it (S7-S8)\n- Sent it (S9)\n\n"
        "**Issues Resolved:** None.\n\n**Commits:** None.\n\n[Full session details](x.md)\n\n"
    )
    summary = summary_of(before, session(10), session(11))
    left, *told = items(summary, "Key Accomplishments")
    assert told == ["Wrote it (S7, S8)", "Sent it (S9)", "did 10 (S10)"]
    assert left == "More of S1-S6 are in the archive only"


def test_joined_summaries_of_two_branches() -> None:
    """Of their lines those about sessions that only they have follow, under the numbers that these get."""
    form = (
        "### Archived Summary (Sessions 1-{})\n\n**Duration:** unknown\n\n**Key Accomplishments:**\n\n{}\n\n"
        "**Issues Resolved:** None.\n\n**Commits:** None.\n\n{}[Full session details](x.md)\n\n"
    )
    ours = state_of(form.format(4, "- Wrote it (S1)\n- Ours (S4)", ""))
    lines = "- Wrote it (S1, S3)\n- Known (S1, S2)\n- Theirs (S2-S5)"
    theirs = state_of(form.format(5, lines, "More of sessions 1-3 is in the archive only.\n\n"))
    text = merge_summaries(ours, theirs, above=2, shift=2)
    left, *told = items(text, "Key Accomplishments")
    assert told == ["Wrote it (S1, S5)", "Ours (S4)", "Theirs (S5-S7)"]
    assert text.startswith("### Archived Summary (Sessions 1-7)\n")
    assert left == "More of S5 are in the archive only"


@pytest.mark.parametrize(
    ("ours", "theirs", "live", "encountered"),
    [
        (("x (S1)", ""), ("", "x (S1)"), "None", ()),
        (("", "x (S1)"), ("x (S1)", ""), "None", ()),
        (("", "x (S1)"), ("x (S1, S3)", ""), "None", ("x (S1, S5)",)),
        (("x (S1, S3)", ""), ("", "x (S1)"), "None", ("x (S1, S3)",)),
        (("", "x (S1)"), ("", "x (S1)"), "x", ("x (S1)",)),
    ],
)
def test_issues_of_two_branches(
    ours: tuple[str, str], theirs: tuple[str, str], live: str, encountered: tuple[str, ...]
) -> None:
    """An issue is resolved where one side says so and the other has not reported it since."""

    def side(last: int, lists: tuple[str, str], *more: str) -> TaskState:
        labels = zip(("Issues Encountered", "Issues Resolved"), lists, strict=True)
        parts = "".join(f"**{label}:** {line}\n\n" for label, line in labels if line)
        return state_of(f"### Archived Summary (Sessions 1-{last})\n\n{parts}", *more)

    text = merge_summaries(side(4, ours), side(4, theirs, session(5, issues=live)), above=2, shift=2)
    assert items(text, "Issues Encountered" if encountered else "Issues Resolved") == (encountered or ("x (S1)",))
    assert ("**Issues Resolved:** None." in text) == bool(encountered)


def test_duration_without_times() -> None:
    """Where no session has a time, none is invented."""
    assert "**Duration:** unknown" in summary_of(session(1, time="someday"), session(2))


def test_duration_of_unordered_times() -> None:
    """The duration runs from the earliest to the latest time."""
    times = ("2026-01-05 10:00", "2026-01-02 09:00", "2026-01-04 11:00")
    summary = summary_of(*(session(n, time=time) for n, time in enumerate(times, 1)), session(4))
    assert "**Duration:** 2026-01-02 09:00 - 2026-01-05 10:00" in summary


def test_commits_are_told_once_and_only_hashes() -> None:
    """Commits stand in the order of the sessions, each once, without what was said about them."""
    summary = summary_of(session(1, commits="`abc1234` first, abc1234"), session(2, commits="see def5678"), session(3))
    assert "**Commits:** abc1234, def5678\n" in summary


# Rolling forward


def roll(*batches: range, **fields: str) -> list[str]:
    """Return the summaries that archiving one batch of sessions after the other makes."""
    before, summaries = "", []
    for batch in batches:
        parts = [session(number, **{key: text.format(number) for key, text in fields.items()}) for number in batch]
        state = state_of(before, *parts, session(10_000))
        before = summarise(state, state.sessions[:-1], LINK) + "\n\n"
        summaries.append(before.rstrip("\n"))
    return summaries


def test_summary_rolls_forward() -> None:
    """Each archiving keeps the lines that stand there and adds its own behind them."""
    *_, last = roll(range(1, 3), range(3, 4), range(4, 6), issues="\n\n- issue {}", commits="aaaaaa{}")
    assert last.startswith("### Archived Summary (Sessions 1-5)\n\n**Duration:** 2026-01-02 10:00 - 2026-01-06 10:00\n")
    assert items(last, "Key Accomplishments") == tuple(f"did {n} (S{n})" for n in range(1, 6))
    assert items(last, "Issues Encountered") == tuple(f"issue {n} (S{n})" for n in range(1, 6))
    assert f"**Commits:** {', '.join(f'aaaaaa{n}' for n in range(1, 6))}\n" in last


def test_many_commits_are_cut_and_that_stays_said() -> None:
    """Of many commits the newest are named, and that there were others is still told when nothing new comes."""
    many = ", ".join(f"aaaaaa{n:02}" for n in range(20))
    before = summary_of(session(1, commits=many), session(2)) + "\n\n"
    assert "aaaaaa07," not in before
    assert "aaaaaa19 and earlier ones\n" in before
    assert "aaaaaa08, " in summary_of(before, session(2), session(3))
    assert "aaaaaa19 and earlier ones\n" in summary_of(before, session(2), session(3))


def test_link_holds_no_commit() -> None:
    """An id that looks like the beginning of a hash is no commit, though it stands in the link behind the commits."""
    state = state_of(session(1), session(2))
    before = summarise(state, state.sessions[:1], "../archives/task-1234567-archive.md") + "\n\n"
    assert "**Commits:** None.\n" in summary_of(before, session(2), session(3))


def test_every_session_keeps_its_share() -> None:
    """Over the limit each of 25 sessions has a line, with its first statement and what was decided or failed."""
    did = "Wrote part {0} of the importer with all of its tests" + "".join(
        f"\n- Detail {each} of part {{0}}, which takes some more words to tell" for each in "abcdefgh"
    )
    (summary,) = roll(range(1, 26), did=did + "\n- Decided to cut part {0} in two")
    left, *lines = items(summary, "Key Accomplishments")
    assert re.fullmatch(r"\d+ more of S1-S25 are in the archive only", left)
    assert [line.rpartition(" ")[2] for line in lines] == [f"(S{n})" for n in range(1, 26)]
    assert all(f"Wrote part {n} of" in line and f"Decided to cut part {n}" in line for n, line in enumerate(lines, 1))


def test_older_sessions_become_ranges() -> None:
    """Of many sessions the newest have lines of their own, and the older ones share some, with what was decided."""
    parts = [session(n, f"Did thing number {n} at length" + "\n- Chose blue" * (n == 40)) for n in range(1, 201)]
    lines = items(summary_of(*parts, session(201)), "Key Accomplishments")[1:]
    runs = [re.findall(r"\d+", line.rpartition("(")[2]) for line in lines]
    assert [int(run[0]) for run in runs] == sorted({int(run[0]) for run in runs})
    assert all(int(before[-1]) + 1 == int(after[0]) for before, after in pairwise(runs))
    assert sum("Chose blue" in line for line in lines) == 1
    assert [run for run in runs if len(run) == 1][-3:] == [["198"], ["199"], ["200"]]


def test_what_was_cut_is_counted_and_stays_so() -> None:
    """A list of which nothing is left does not read as none, and the next summary adds to the number."""
    many = "".join(f"\n- Resolved: Old issue {n}" for n in range(100))
    parts = [session(n, f"Did thing number {n} at length " * 3) for n in range(2, 60)]
    first = summary_of(session(1, f"x{many}"), *parts, session(60))
    left, *told = items(first, "Issues Resolved")
    number = int(left.split()[0])
    assert number + len(told) == 100
    again = items(summary_of(first + "\n\n", session(60), session(61)), "Issues Resolved")
    assert int(again[0].split()[0]) + len(again) - 1 == 100
    short = re.sub(
        r"\*\*Issues Resolved:\*\*.*?(?=\*\*Commits)", f"**Issues Resolved:** {left}\n\n", first, flags=re.DOTALL
    )
    assert "None" not in summary_of(short + "\n\n", session(60), session(61)).split("**Commits")[0]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("batch", [1000, 5])
def test_summary_of_a_long_task_answers_questions(path: Path, batch: int) -> None:
    """Who reads only the summary can say what was built, in which order, what was decided, what failed, and is open."""
    task, before = read_long_task(path), ""
    numbers = sorted(task.sessions)
    for start in range(0, len(numbers), batch):
        going = numbers[start : start + batch]
        state = state_of(before, *map(task.entry, going), session(1000))
        before = summarise(state, state.sessions[:-1], LINK) + "\n\n"
    unknown = [each.text for each in task.questions if not each.is_answered_by(before)]
    assert len(task.questions) == 10
    assert len(unknown) <= 2, f"{unknown}\n{before}"


@pytest.mark.parametrize("issues", ["\n\n- Issue number {} at length", "None"])
def test_room_is_used(issues: str) -> None:
    """However many issues there are, more than half of the room is for what was done; the room is used as a whole."""
    (summary,) = roll(range(1, 200), did="Did thing number {} at length", issues=issues)
    assert len("".join(items(summary, "Key Accomplishments"))) > MAX_BYTES // 2 - 200
    assert len(summary.encode()) > MAX_BYTES - 200


def test_issues_get_what_accomplishments_leave() -> None:
    """Where little else is to be told, issues encountered may take more than half of the room."""
    (summary,) = roll(range(1, 200), did="x", issues="\n\n- Issue number {} at length")
    assert len(items(summary, "Issues Encountered")) >= 50


@pytest.mark.parametrize("batch", [1, 40, 1000])
@pytest.mark.parametrize(
    "fields",
    [
        {"did": "Did {} " + "x" * 300, "issues": "\n\n- Issue {} " + "y" * 300, "commits": "{:040}"},
        {"did": "\u65e5\u672c {} " + "\u8a9e\u53e5 " * 80, "issues": "\n\n- \U0001f600 {} " * 1},
        {"did": "{}", "issues": "\n\n- {}"},
    ],
    ids=["long", "wide", "short"],
)
def test_summary_of_a_thousand_sessions_fits_into_3_kb(batch: int, fields: dict[str, str]) -> None:
    """However many sessions it stands for and however long they are, a summary has at most 3 KB."""
    count = 60 if batch == 1 else 1000
    fields = {key: text.replace("{:040}", "{:0>40}") for key, text in fields.items()}
    for summary in roll(
        *(range(start, min(start + batch, count + 1)) for start in range(1, count + 1, batch)), **fields
    ):
        assert len(summary.encode()) <= MAX_BYTES
    assert f"(S{count})" in summary


def test_long_link_leaves_less_room() -> None:
    """The limit is for the whole summary, the link included."""
    state = state_of(*(session(n, "word " * 30, issues=f"\n\n- {n} " + "word " * 30) for n in range(1, 60)))
    assert len(summarise(state, state.sessions[:-1], "../" * 300 + "x.md").encode()) <= MAX_BYTES


def test_hand_made_lines_are_kept() -> None:
    """What somebody wrote into the summary rolls forward too, with the sessions that it stood for."""
    before = (
        "### Archived Summary (Sessions 1-4)\n\n**Duration:** a week\n\n**Key Accomplishments:**\n\n* Rewrote it all\n"
        "  and more\n\n**Issues Resolved:** one, by hand (S2-S3)\n\n**Commits:** abc1234 and earlier ones\n\n"
    )
    summary = summary_of(before, session(5, commits="def5678"), session(6))
    assert items(summary, "Key Accomplishments") == ("Rewrote it all and more (S1-S4)", "did 5 (S5)")
    assert items(summary, "Issues Resolved") == ("one, by hand (S2, S3)",)
    assert "**Commits:** abc1234, def5678 and earlier ones" in summary
    assert "(Sessions 1-5)" in summary


@pytest.mark.parametrize(("following", "heading", "span"), [(5, "1-5", "S1-S4"), (1, "1-1", "S1"), (2, "1-2", "S1")])
def test_summary_without_numbers_stands_for_what_came_before(following: int, heading: str, span: str) -> None:
    """A summary by hand that names no sessions stands for all before the ones that follow."""
    before = "### Archived Summary\n\n**Key Accomplishments:** Began.\n\n"
    summary = summary_of(before, session(following), session(9))
    assert summary.startswith(f"### Archived Summary (Sessions {heading})\n")
    assert f"- Began. ({span})\n" in summary


def test_said_twice_after_rolling_is_honest(tmp_path: Path) -> None:
    """On real files the summary after three archivings tells nothing that no session said."""
    place = Place(tmp_path)
    for number in range(1, 13):
        place.add(f"did {number}", issues=(f"issue {number}",), commits=(f"aaaaaaa{number}",))
        if number % 4 == 0:
            place.archive(keep=2)
    summary = place.state.summary
    assert summary
    text = summary.span.of(place.text)
    assert re.findall(r"^- (.*)$", text, re.MULTILINE) == [
        *(f"did {n} (S{n})" for n in range(1, 11)),
        *(f"issue {n} (S{n})" for n in range(1, 11)),
    ]
    assert (summary.first, summary.last) == (1, 10)
    assert place.state.document.front_matter["sessions"] == {"total": 12, "archived": 10, "recent": 2}


@pytest.mark.parametrize(
    ("said", "listed"),
    [
        ("1a2b3c, abc1234", "1a2b3c, abc1234"),
        ("`123456` and `decade`", "123456, decade"),
        ("the decade of 202601", "None."),
        ("a" * 64, "a" * 64),
    ],
)
def test_short_ids_are_commits_too(said: str, listed: str) -> None:
    """Six digits count as elsewhere; a word or a date of six characters only in backticks."""
    assert f"**Commits:** {listed}\n" in summary_of(session(1, commits=said), session(2))

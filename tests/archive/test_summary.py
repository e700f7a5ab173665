from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from taskstate.archive.summary import MAX_BYTES, joined, summarise
from taskstate.model.task_state import field_values, labelled_fields, read_state
from taskstate.syntax.document import parse
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.model.task_state import TaskState

HEAD = '---\ntaskstate: 1\ntask_id: "1"\ntitle: T\n---\n\n# Task #1: T - State\n\n## 4. Progress Log\n\n'
LINK = "../archives/task-1-archive.md"
FEATURES = (
    '{"id": "login-1", "description": "The login form", "passes": true, "tested_at": "2026-01-02T10:00:00Z"},'
    '{"id": "out-1", "description": "The logout button", "passes": false, "tested_at": null},'
    '{"id": "mail-1", "description": "Sends mail on sign-up", "passes": true, "tested_at": "2026-01-02T10:00:00Z"}'
)
CHECKLIST = HEAD.replace(
    "## 4. Progress", '## 3. Feature Checklist\n\n```json\n{"features": [' + FEATURES + "]}\n```\n\n## 4. Progress"
)


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
    """A summary has its heading with the numbers, and five parts in order."""
    assert summary_of(session(1, issues="\n\n- slow", commits="abc1234, def5678"), session(2), session(3)) == (
        "### Archived Summary (Sessions 1-2)\n\n**Duration:** 2026-01-02 10:00 - 2026-01-03 10:00\n\n"
        "**Key Accomplishments:**\n\n- did 1 (S1)\n- did 2 (S2)\n\n**Issues Resolved:**\n\n- slow (S1)\n\n"
        f"**Commits:** abc1234, def5678\n\n[Full session details]({LINK})"
    )


def test_nothing_is_told_of_kept_sessions() -> None:
    """What a session that stays says is not in the summary."""
    assert "did 3" not in summary_of(session(1), session(2), session(3, issues="- broken"))


def test_what_says_nothing_is_left_out() -> None:
    """None, nothing and dashes are no issues; where none is left, that is said."""
    texts = ("None", "none.", "-", "N/A", "No issues.", "nothing")
    summary = summary_of(*(session(n, issues=text) for n, text in enumerate(texts, 1)), session(9))
    assert "**Issues Resolved:** None." in summary


def test_what_was_said_twice_stands_there_once() -> None:
    """Of equal lines the first stays, and stands for both sessions."""
    summary = summary_of(session(1, "Fixed  the bug"), session(2, "fixed the Bug"), session(3))
    assert items(summary, "Key Accomplishments") == ("Fixed the bug (S1, S2)",)


@pytest.mark.parametrize("issue", ["Clock skew", "Clock skew " * 40, "Clock skew\n  on two hosts"])
def test_issue_that_is_still_open_is_not_called_resolved(issue: str) -> None:
    """What the newest session still names as an issue was not resolved, however long it is."""
    said = f"\n\n- {issue.strip()}\n- other {{}}"
    summary = summary_of(session(1, issues=said.format(1)), session(2), session(3, issues=said.format(3)))
    assert items(summary, "Issues Resolved") == ("other 1 (S1)",)


def test_first_line_is_told_and_cut_at_a_word() -> None:
    """Of a long text the beginning is told, and that there is more."""
    line = "word " * 60
    (told,) = items(summary_of(session(1, line + "\n\n  more"), session(2)), "Key Accomplishments")
    words, mark = told.rsplit(" \u2026", 1)
    assert line.startswith(words + " ")
    assert mark == " (S1)"
    assert len(told) < 170


def test_long_text_is_cut_where_a_sentence_ends() -> None:
    """Whole sentences are told where they say enough."""
    first, second = "The parser reads nested lists now, also those in quotes.", "It is slower than " + "x" * 200
    (told,) = items(summary_of(session(1, f"{first} {second}"), session(2)), "Key Accomplishments")
    assert told == f"{first} (S1)"


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
    """Whatever a session's first line looks like, the summary has its own five parts and one heading."""
    summary = summary_of(session(1, text, issues=f"\n\n- {text}"), session(2))
    document = parse(summary + "\n")
    assert [section.title for section in document.sections] == ["Archived Summary (Sessions 1-1)"]
    assert list(labelled_fields(document, document.sections[0])) == [
        "duration",
        "key accomplishments",
        "issues resolved",
        "commits",
    ]
    assert items(summary, "Key Accomplishments")[0] == told


def test_control_characters_are_spelled_out() -> None:
    """What a terminal would obey does not keep a session from being archived, and does not get into the summary."""
    assert "- red \\x1b[31m (S1)" in summary_of(session(1, "red \x1b[31m"), session(2))


def test_what_passed_leaves_room_for_what_is_newest() -> None:
    """However much is said of features that passed, the newest other lines are told too."""
    texts = "\n".join(f"- mail-1: step {n} at some length, so that there is no room" for n in range(90))
    other = "Did what no feature of the checklist names, and told of it in a line that is as long as two others are."
    state = read_state(parse(CHECKLIST + session(1, f"{other}\n{texts}") + session(2)))
    lines = items(summarise(state, state.sessions[:-1], LINK), "Key Accomplishments")
    assert lines[0].startswith("mail-1: ")
    assert lines[-1] == f"{other} (S1)"


# What becomes one


def test_what_passed_in_the_checklist_ranks_first() -> None:
    """What names a feature that passes, or says what it is, comes first; one that does not pass changes nothing."""
    did = ("Set up the project", "out-1: the button is there", "mail-1 done", "Wrote the login form")
    state = read_state(parse(CHECKLIST + "".join(session(n, text) for n, text in enumerate((*did, "x"), 1))))
    assert items(summarise(state, state.sessions[:-1], LINK), "Key Accomplishments") == (
        "mail-1 done (S3)",
        "Wrote the login form (S4)",
        "Set up the project (S1)",
        "out-1: the button is there (S2)",
    )


def test_near_duplicates_are_joined() -> None:
    """What says the same in other words stands there once, for all its sessions."""
    did = ("Added tests for the parser", "Add parser tests.", "Writing the parser tests", "Added tests for the lexer")
    summary = summary_of(*(session(n, text, issues=text) for n, text in enumerate((*did, "x"), 1)))
    both = ("Added tests for the parser (S1-S3)", "Added tests for the lexer (S4)")
    assert items(summary, "Key Accomplishments") == both
    assert items(summary, "Issues Resolved") == both


def test_later_statement_about_the_same_file_or_feature_supersedes() -> None:
    """The latest about a file or feature stands, for all sessions; issues are no such statements."""
    did = ("Began `src/auth.py`", "out-1: sketch", "Finished src/auth.py", "out-1: works", "src/auth.py, src/b.py", "x")
    sessions = (session(n, text, issues=text) for n, text in enumerate(did, 1))
    state = read_state(parse(CHECKLIST + "".join(sessions)))
    summary = summarise(state, state.sessions[:-1], LINK)
    assert items(summary, "Key Accomplishments") == (
        "Finished src/auth.py (S1, S3)",
        "out-1: works (S2, S4)",
        "src/auth.py, src/b.py (S5)",
    )
    assert len(items(summary, "Issues Resolved")) == 5


def test_statements_of_one_session_about_a_file_all_stand() -> None:
    """What one session says twice about a file is no later statement."""
    did = "x\n- Parses lists in a.py\n- Parses quotes in a.py"
    told = items(summary_of(session(1, did), session(2)), "Key Accomplishments")
    assert told == ("x (S1)", "Parses lists in a.py (S1)", "Parses quotes in a.py (S1)")


def test_rolled_lines_are_joined_with_new_ones() -> None:
    """A line of the earlier summary and a new one that says the same become one."""
    before = summary_of(session(1, "Added parser tests"), session(2, "Began lib/x.py"), session(3)) + "\n\n"
    after = summary_of(before, session(3, "Add the parser tests"), session(4, "Finished lib/x.py"), session(5))
    assert items(after, "Key Accomplishments") == ("Added parser tests (S1, S3)", "Finished lib/x.py (S2, S4)")


def test_issue_that_comes_back_is_no_longer_called_resolved() -> None:
    """What the newest session names again leaves the summary, though an earlier one called it resolved."""
    before = summary_of(session(1, issues="The clock is skewed"), session(2)) + "\n\n"
    assert "(S1)" in before.split("Issues Resolved")[1]
    after = summary_of(before, session(2), session(3, issues="\n\n- the clock is skewed again?\n- Clock skewed!"))
    assert "**Issues Resolved:** None." in after


def test_summary_of_the_earlier_form_loses_nothing() -> None:
    """A summary whose first line says where older ones are rolls forward, and what it says of them too."""
    before = (
        "### Archived Summary (Sessions 1-9)\n\n**Duration:** unknown\n\n**Key Accomplishments:**\n\n"
        "- Earlier ones are in the archive only (S1-S6)\n- Wrote it (S7-S8)\n- Sent it (S9)\n\n"
        "**Issues Resolved:** None.\n\n**Commits:** None.\n\n[Full session details](x.md)\n\n"
    )
    summary = summary_of(before, session(10), session(11))
    assert items(summary, "Key Accomplishments") == ("Wrote it (S7, S8)", "Sent it (S9)", "did 10 (S10)")
    assert "\n\nMore of sessions 1-6 is in the archive only.\n\n[" in summary


def test_joined_summaries_of_two_branches() -> None:
    """Of their lines those about sessions that only they have follow, under the numbers that these get."""
    form = (
        "### Archived Summary (Sessions 1-{})\n\n**Duration:** unknown\n\n**Key Accomplishments:**\n\n{}\n\n"
        "**Issues Resolved:** None.\n\n**Commits:** None.\n\n{}[Full session details](x.md)\n\n"
    )
    ours = state_of(form.format(4, "- Wrote it (S1)\n- Ours (S4)", ""))
    lines = "- Wrote it (S1, S3)\n- Known (S1, S2)\n- Theirs (S2-S5)"
    theirs = state_of(form.format(5, lines, "More of sessions 1-3 is in the archive only.\n\n"))
    text = joined(ours, theirs, above=2, shift=2)
    assert items(text, "Key Accomplishments") == ("Wrote it (S1, S5)", "Ours (S4)", "Theirs (S5-S7)")
    assert text.startswith("### Archived Summary (Sessions 1-7)\n")
    assert "More of session 5 is in the archive only.\n\n[Full session details](x.md)" in text


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
    assert items(last, "Issues Resolved") == tuple(f"issue {n} (S{n})" for n in range(1, 6))
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


def test_oldest_lines_go_first_and_that_is_said() -> None:
    """Over the limit the oldest lines make room, and one sentence says of which sessions."""
    summaries = roll(*(range(start, start + 20) for start in range(1, 200, 20)), did="Did thing number {} at length")
    lines = items(summaries[-1], "Key Accomplishments")
    first = re.search(r"^More of sessions 1-(\d+) is in the archive only\.$", summaries[-1], re.MULTILINE)
    assert first
    assert lines == tuple(f"Did thing number {n} at length (S{n})" for n in range(int(first[1]) + 1, 201))
    assert all(summary.count("More of ") <= 1 for summary in summaries)


def test_what_passed_stays_when_older_lines_go() -> None:
    """What is said of a feature that passed outlives newer lines, but not all of them."""
    sessions = [session(1, "login-1 works"), *(session(n, f"Did thing number {n} at length") for n in range(2, 200))]
    state = read_state(parse(CHECKLIST + "".join(sessions)))
    lines = items(summarise(state, state.sessions[:-1], LINK), "Key Accomplishments")
    assert lines[0] == "login-1 works (S1)"
    assert lines[-1] == "Did thing number 198 at length (S198)"


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

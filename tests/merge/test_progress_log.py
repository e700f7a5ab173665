from __future__ import annotations

import pytest

from taskstate.model.session_references import identity, renumbered
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from tests.merge.test_state_files import AT_END, log, with_session
from tests.support.merging import SAMPLE, edited, merge_texts

SUMMARY = (
    "### Archived Summary (Sessions 1-{})\n\n**Duration:** 2026-02-03 08:20 - 2026-02-{:02} 17:05\n\n"
    "**Key Accomplishments:**\n\n{}\n\n**Issues Resolved:** None.\n\n**Commits:** 1a2b3c4\n\n"
    "[Full session details](../archives/task-7-archive.md)\n\n"
)


def rolled(text: str, last: int, *lines: str) -> str:
    """Return a state file whose sessions up to a number have gone into the archive."""
    document = parse(text)
    state = read_state(document)
    assert state.summary is not None
    kept = [session.section.span.of(text) for session in state.sessions if session.number > last]
    new = SUMMARY.format(last, last, "\n".join(f"- {line}" for line in lines)) + "".join(kept)
    end = state.sessions[-1].section.span.end if state.sessions else state.summary.section.span.end
    return text[: state.summary.section.span.start] + new + text[end:]


# Order and numbers


def test_sessions_come_in_the_order_of_their_times() -> None:
    """Sessions that both added are told apart by their times, and take rising numbers."""
    ours = with_session(with_session(SAMPLE, 6, "2026-02-06 09:00", "one"), 7, "2026-02-06 11:00", "three")
    theirs = with_session(with_session(SAMPLE, 6, "2026-02-06 10:00", "two"), 7, "2026-02-06 12:00", "four")
    for copies in ((ours, theirs), (theirs, ours)):
        text, conflicts = merge_texts(SAMPLE, *copies)
        assert conflicts == 0
        assert log(text)[2:] == [(6, "one"), (7, "two"), (8, "three"), (9, "four")]


def test_gap_that_was_there_stays() -> None:
    """Only numbers that would not rise any more are changed."""
    ours = with_session(SAMPLE, 9, "2026-02-06 11:00", "late")
    text, _ = merge_texts(SAMPLE, ours, with_session(SAMPLE, 6, "2026-02-06 10:00", "early"))
    assert log(text)[2:] == [(6, "early"), (9, "late")]


def test_order_of_one_side_stays() -> None:
    """A session with an earlier time or none stays behind the one that it was written after."""
    ours = with_session(with_session(SAMPLE, 6, "2026-02-06 11:00", "one"), 7, "2026-02-06 09:00", "two")
    ours = edited(
        with_session(ours, 8, "2026-02-07 09:00", "three"), ("### Session 8 - 2026-02-07 09:00", "### Session 8")
    )
    theirs = with_session(SAMPLE, 6, "2026-02-06 10:00", "other")
    text, _ = merge_texts(SAMPLE, ours, theirs)
    actual = [what for _, what in log(text)[2:]]
    assert [what for what in actual if what != "other"] == ["one", "two", "three"]
    assert [number for number, _ in log(text)] == [4, 5, 6, 7, 8, 9]


def test_what_has_no_time_follows_what_it_was_written_after() -> None:
    """A heading that is no session stays behind the session before it, where the other side has added a later one."""
    ours = with_session(SAMPLE, 6, "2026-02-06 09:00", "one")
    ours = edited(ours, ("## 5. Git History", "### Thoughts\n\nabout one\n\n## 5. Git History"))
    theirs = with_session(SAMPLE, 6, "2026-02-06 10:00", "two")
    for sides in ((ours, theirs), (theirs, ours)):
        text, conflicts = merge_texts(SAMPLE, *sides)
        assert conflicts == 0
        assert text.index("- one\n") < text.index("### Thoughts\n") < text.index("- two\n")


def test_the_same_session_on_both_sides_is_one() -> None:
    """What was picked from the other branch is there once, whatever number it got."""
    ours = with_session(with_session(SAMPLE, 6, "2026-02-06 09:00", "own"), 7, "2026-02-06 10:00", "picked")
    theirs = with_session(SAMPLE, 6, "2026-02-06 10:00", "picked")
    text, _ = merge_texts(SAMPLE, ours, theirs)
    assert log(text)[2:] == [(6, "own"), (7, "picked")]


def test_a_session_that_was_completed_on_one_side_is_one() -> None:
    """The form that says more stays, in whichever number, and where the common version has the other one, too."""
    bare = with_session(SAMPLE, 6, "2026-02-06 10:00", "done")
    moved = with_session(with_session(SAMPLE, 6, "2026-02-06 09:00", "own"), 7, "2026-02-06 10:00", "done")
    moved = edited(moved, (f"- n\n\n{AT_END}", f"- n\n\n**Verification:** 1 passed, was 1\n\n{AT_END}"))
    for base in (SAMPLE, bare):
        for sides in ((moved, bare), (bare, moved)):
            text, conflicts = merge_texts(base, *sides)
            assert (conflicts, log(text)[2:]) == (0, [(6, "own"), (7, "done")])
            assert "**Verification:** 1 passed, was 1\n" in text


def test_two_sessions_that_say_the_same_are_two() -> None:
    """Within one side equal sessions are counted, so that none is lost."""
    twice = with_session(with_session(SAMPLE, 6, "2026-02-06 09:00", "same"), 7, "2026-02-06 09:00", "same")
    text, _ = merge_texts(SAMPLE, twice, with_session(SAMPLE, 6, "2026-02-06 08:00", "other"))
    assert log(text)[2:] == [(6, "other"), (7, "same"), (8, "same")]


def test_session_that_one_side_deleted_stays() -> None:
    """Sessions are only ever lost by archiving, so that one which is missing on one side is kept."""
    lost = read_state(parse(SAMPLE)).sessions[0].section.span.of(SAMPLE)
    text, conflicts = merge_texts(SAMPLE, SAMPLE.replace(lost, ""), with_session(SAMPLE, 6, "2026-02-06 09:00", "new"))
    assert conflicts == 0
    assert [number for number, _ in log(text)] == [4, 5, 6]


def test_session_that_both_edited_is_in_conflict_alone() -> None:
    """Two rewordings of one session have markers around that line; one rewording is taken over."""
    ours = edited(SAMPLE, ("- Third bank\n", "- Third bank, ours\n"), ("field 61,", "field 61 and 86,"))
    theirs = edited(SAMPLE, ("- Third bank\n", "- Third bank, theirs\n"))
    text, conflicts = merge_texts(SAMPLE, ours, with_session(theirs, 6, "2026-02-06 09:00", "new"))
    assert conflicts == 1
    assert "<<<<<<< ours\n- Third bank, ours\n=======\n- Third bank, theirs\n>>>>>>> theirs\n" in text
    assert "field 61 and 86," in text
    assert "### Session 6 - 2026-02-06 09:00" in text


def test_other_headings_in_the_log_stay_where_they_are() -> None:
    """A part of the log that is no session is kept on its place, and is lost where one side removes it."""
    base = edited(SAMPLE, ("### Session 5", "### Remarks\n\nx\n\n### Session 5"))
    ours = with_session(base, 6, "2026-02-06 09:00", "one")
    text, _ = merge_texts(base, ours, with_session(base, 6, "2026-02-06 10:00", "two"))
    assert text.index("### Session 4") < text.index("### Remarks") < text.index("### Session 5")
    text, _ = merge_texts(
        base, ours, edited(with_session(base, 6, "2026-02-06 10:00", "two"), ("### Remarks\n\nx\n\n", ""))
    )
    assert "Remarks" not in text


# References


def test_references_follow_the_numbers() -> None:
    """What the renumbered side says about its own sessions names them by their new numbers; quoted text stays."""
    prose = (
        "see Session 6, not `Session 6`\n\n  ```\n  Session 6\n  ```\n- not sessions 6-7, Session 6 of task 9, or S6"
    )
    theirs = with_session(with_session(SAMPLE, 6, "2026-02-06 10:00", "two"), 7, "2026-02-06 11:00", prose)
    text, _ = merge_texts(SAMPLE, with_session(SAMPLE, 6, "2026-02-06 09:00", "one"), theirs)
    assert log(text)[2:4] == [(6, "one"), (7, "two")]
    assert edited(prose, ("see Session 6", "see Session 7")) in text


def test_sessions_of_the_common_version_are_not_rewritten() -> None:
    """What stood in the common version may speak of a session to come: nobody knows of which one."""
    base = edited(SAMPLE, ("- Ask for UTF-8", "- In Session 6, ask for UTF-8"))
    ours = with_session(base, 6, "2026-02-06 10:00", "late")
    text, _ = merge_texts(base, ours, with_session(base, 6, "2026-02-06 09:00", "early"))
    assert log(text)[2:] == [(6, "early"), (7, "late")]
    assert "- In Session 6, ask for UTF-8" in text


@pytest.mark.parametrize(
    ("entry", "result"),
    [
        ("### Session 6 - now\n\nsession 6.\n", "### Session 9 - now\n\nsession 9.\n"),
        (
            "### Session 6: now\n\n~~~\nSession 6\n~~~\nSession #6\n",
            "### Session 9: now\n\n~~~\nSession 6\n~~~\nSession #9\n",
        ),
        ("### Session 6\n\nSession 66, Session 6.5, Session 6, 7 and Session 7\n", None),
    ],
)
def test_which_references_follow(entry: str, result: str | None) -> None:
    """Only what plainly names the session is changed: no list, no range, no longer number, no code."""
    moved = renumbered(entry, 9, {6: 9})
    assert moved == (result or entry.replace("### Session 6", "### Session 9"))
    assert identity(moved) == identity(entry)


# The archive


def test_archived_on_one_side_stays_archived() -> None:
    """The other side's new session takes a number above the archived ones, and what it did not touch stays archived."""
    ours = rolled(with_session(SAMPLE, 6, "2026-02-06 09:00", "ours"), 6, "all of it (S6)")
    text, conflicts = merge_texts(SAMPLE, ours, with_session(SAMPLE, 6, "2026-02-06 08:00", "theirs"))
    state = read_state(parse(text))
    assert (conflicts, state.archived, log(text)) == (0, 6, [(7, "theirs")])
    assert state.document.front_matter["sessions"] == {"total": 7, "archived": 6, "recent": 1}


def test_archived_here_and_edited_there_conflicts() -> None:
    """An edit of a session that the other side archived is not lost: it stands between markers."""
    text, conflicts = merge_texts(
        SAMPLE, rolled(SAMPLE, 4, "x (S4)"), edited(SAMPLE, ("The other two banks", "Both banks"))
    )
    assert conflicts == 1
    first = text.index("<<<<<<< ours\n=======\n### Session 4")
    assert "- Both banks" in text[first : text.index(">>>>>>> theirs")]
    assert "### Session 5" in text


def test_larger_of_two_batches_counts() -> None:
    """Where both archived sessions of the common version, the summary of the side that archived more stands."""
    ours, theirs = rolled(SAMPLE, 4, "four (S4)"), rolled(SAMPLE, 5, "four (S4)", "five (S5)")
    for copies in ((ours, theirs), (theirs, ours)):
        text, conflicts = merge_texts(SAMPLE, *copies)
        assert (conflicts, log(text), read_state(parse(text)).archived) == (0, [], 5)
        assert "- five (S5)" in text


def test_summaries_that_were_reworded() -> None:
    """Two rewordings of one summary are merged as text."""
    ours = edited(SAMPLE, ("CSV reader with golden files", "CSV reader, with golden files"))
    theirs = edited(SAMPLE, ("Excel writes a byte order mark", "Excel writes a BOM"))
    text, conflicts = merge_texts(SAMPLE, ours, with_session(theirs, 6, "2026-02-06 09:00", "new"))
    assert conflicts == 0
    assert "CSV reader, with golden files" in text
    assert "Excel writes a BOM" in text


def test_new_sessions_that_both_archived_are_told_together() -> None:
    """The summary speaks of both sides' sessions; theirs have the numbers behind ours, and commits are united."""
    ours = rolled(with_session(SAMPLE, 6, "2026-02-06 09:00", "o"), 6, "four (S4)", "ours (S6)")
    theirs = rolled(with_session(SAMPLE, 6, "2026-02-06 10:00", "t"), 6, "four (S4)", "theirs (S6)")
    theirs = with_session(edited(theirs, ("1a2b3c4\n\n[", "1a2b3c4, 9f9f9f9\n\n[")), 7, "2026-02-07 10:00", "after")
    text, conflicts = merge_texts(SAMPLE, ours, theirs)
    state = read_state(parse(text))
    assert (conflicts, state.archived, log(text)) == (0, 7, [(8, "after")])
    assert "- four (S4)\n- ours (S6)\n- theirs (S7)\n" in text
    assert "**Commits:** 1a2b3c4, 9f9f9f9\n\n[Full session details](../archives/task-7-archive.md)\n" in text


def test_same_sessions_archived_on_both_are_counted_once() -> None:
    """Where one summary says all that the other does, that side has archived the other's sessions too."""
    one = with_session(SAMPLE, 6, "2026-02-06 09:00", "one")
    ours = rolled(with_session(one, 7, "2026-02-06 10:00", "two"), 7, "one (S6)", "two (S7)")
    theirs = rolled(one, 6, "one (S6)")
    text, _ = merge_texts(SAMPLE, ours, theirs)
    assert read_state(parse(text)).archived == 7


def test_batch_taken_back_out_and_another_put_in() -> None:
    """Restored on one side and archived further on the other: what is in the archive stays there."""
    base = rolled(SAMPLE, 4, "four (S4)")
    restored = SAMPLE
    text, _ = merge_texts(base, with_session(restored, 6, "2026-02-06 09:00", "new"), rolled(base, 5, "five (S5)"))
    assert read_state(parse(text)).archived == 5
    assert log(text) == [(6, "new")]
    text, _ = merge_texts(base, restored, with_session(base, 6, "2026-02-06 09:00", "new"))
    assert [number for number, _ in log(text)] == [4, 5, 6]

"""Derived values: computed from the body, counted in the size of the text, and nothing else is changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskstate.errors import CannotEdit
from taskstate.model.derived_values import (
    COUNTS,
    PROGRESS,
    derived_edits,
    fix_edits,
    overall_progress,
    session_counts,
    size_kb,
)
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse
from taskstate.syntax.edits import apply

HEAD = 'taskstate: 1\ntask_id: "1"\ntitle: T\nstatus: created\ncreated_at: "2026-01-31T12:00:00Z"\n'
BODY = """
# Task #1: T - State

## 3. Feature Checklist

```json
{
  "features": [
    {"id": "a", "description": "a", "passes": true, "tested_at": "2026-01-31T12:00:00Z"},
    {"id": "b", "description": "b", "passes": false, "tested_at": null},
    {"id": "c", "description": "c", "passes": false, "tested_at": null},
    {"id": "d", "description": "d", "passes": false, "tested_at": null, "moved_to": "2"}
  ],
  "overall_progress": "0%"
}
```

## 4. Progress Log

### Session 1 - 2026-01-31 12:00

**What I did:** One.

### Session 2 - 2026-01-31 13:00

**What I did:** Two.
"""
SUMMARY = "### Archived Summary (Sessions 1-4)\n\n**Commits:** none\n\n### Session 5"


def text_with(front_matter: str = "", body: str = BODY) -> str:
    """Return a state file with some more front matter."""
    return f"---\n{HEAD}{front_matter}---\n{body}"


def updated(text: str) -> str:
    """Return the text as the tool's own write leaves it."""
    return apply(text, derived_edits(parse(text)))


def mended(text: str, *values: str) -> str:
    """Return the text with these derived values mended."""
    document = parse(text)
    return apply(text, fix_edits(document, read_state(document), *values))


def lines_changed(before: str, after: str) -> dict[str, str]:
    """Return the lines that differ between two texts of equally many lines."""
    old, new = before.split("\n"), after.split("\n")
    assert len(old) == len(new)
    return {one: other for one, other in zip(old, new, strict=True) if one != other}


def progress(features: str) -> str | None:
    """Return the overall progress of a checklist."""
    checklist = read_state(
        parse(text_with(body=BODY.replace(BODY[BODY.index("    {") : BODY.index("  ],")], features)))
    )
    return overall_progress(checklist.checklist) if checklist.checklist else None


def test_sessions_are_counted() -> None:
    """Those of the log are recent, those that the summary stands for are archived, all is both."""
    assert session_counts(read_state(parse(text_with()))) == (2, 0, 2)
    archived = text_with(body=BODY.replace("### Session 1", SUMMARY))
    assert session_counts(read_state(parse(archived))) == (6, 4, 2)


@pytest.mark.parametrize(
    "title", ["Archived Summary", "Archived Summary (Sessions 4-1)", "Archived Summary (Sessions 0-0)"]
)
def test_a_summary_that_names_no_sessions_stands_for_none(title: str) -> None:
    """A summary without a sensible range counts nothing."""
    text = text_with(body=BODY.replace("### Session 1", f"### {title}\n\nText.\n\n### Session 1"))
    assert session_counts(read_state(parse(text))).archived == 0


@pytest.mark.parametrize(
    ("passing", "failing", "moved", "expected"),
    [(0, 0, 0, "0%"), (0, 0, 3, "0%"), (1, 2, 0, "33%"), (2, 1, 1, "66%"), (3, 0, 5, "100%"), (1, 199, 0, "0%")],
)
def test_progress_is_rounded_down(passing: int, failing: int, moved: int, expected: str) -> None:
    """The progress is the share of the features that pass, without those that were moved, rounded down."""
    kinds = ['"passes": true'] * passing + ['"passes": false'] * failing + ['"passes": true, "moved_to": "2"'] * moved
    features = ",\n".join(f'    {{"id": "f{number}", {words}}}' for number, words in enumerate(kinds))
    assert progress(f"{features}\n") == expected


def test_a_size_is_rounded_up() -> None:
    """A size is in KB of 1,024 bytes of UTF-8, rounded up, whatever the line ends are."""
    assert [size_kb(text) for text in ("", "x", "x" * 1024, "ü" * 512, "ü" * 513)] == [0, 1, 1, 1, 2]
    assert size_kb("\r\n" * 1024) == size_kb("\n" * 1024) == 1


def test_missing_values_are_added_in_their_place() -> None:
    """A write of the tool adds the counts and the size behind the keys that precede them, and mends the progress."""
    before = text_with()
    after = updated(before)
    added = "sessions: {total: 2, archived: 0, recent: 2}\nfile_size_kb: 1\n"
    assert after == text_with(added).replace('"0%"', '"33%"')
    assert updated(after) == after


def test_a_file_without_a_log_has_no_counts() -> None:
    """A kind of file without a Progress Log gets its size alone."""
    assert updated("---\nkind: permanent\n---\n\n# P\n") == "---\nkind: permanent\nfile_size_kb: 1\n---\n\n# P\n"


def test_a_file_without_front_matter_is_left_alone() -> None:
    """Where the front matter cannot be read nothing is written into it."""
    text = f"---\ntitle: [\n---\n{BODY}"
    changed = {'  "overall_progress": "0%"': '  "overall_progress": "33%"'}
    assert lines_changed(text, updated(text)) == lines_changed(text, mended(text, COUNTS, PROGRESS)) == changed


def test_mending_adds_nothing() -> None:
    """What a file does not have it need not have."""
    text = text_with()
    assert mended(text) == text
    assert lines_changed(text, mended(text, PROGRESS)) == {'  "overall_progress": "0%"': '  "overall_progress": "33%"'}


def test_only_the_named_values_are_mended() -> None:
    """A mend of one value leaves the others alone, but for the size, which follows from it."""
    text = text_with("sessions: {total: 9, archived: 0, recent: 2}\nfile_size_kb: 77\n")
    assert lines_changed(text, mended(text)) == {"file_size_kb: 77": "file_size_kb: 1"}
    counts = {"sessions: {total: 9, archived: 0, recent: 2}": "sessions: {total: 2, archived: 0, recent: 2}"}
    assert lines_changed(text, mended(text, COUNTS)) == {**counts, "file_size_kb: 77": "file_size_kb: 1"}


def test_what_belongs_to_others_stays() -> None:
    """Comments, order, spacing and keys of one's own in the counts survive."""
    text = text_with("sessions: { recent: 1, x-mine: [1],  total: 1,archived: 0 }  # counted\nfile_size_kb:   5\n")
    after = mended(text, COUNTS)
    assert "sessions: { recent: 2, x-mine: [1],  total: 2,archived: 0 }  # counted\nfile_size_kb:   1\n" in after


def test_a_checklist_that_cannot_be_read_is_left_alone() -> None:
    """A feature without an id makes every share wrong: the progress stays as it is."""
    text = text_with(body=BODY.replace('"id": "b", ', ""))
    assert mended(text, PROGRESS) == text


def test_a_form_that_cannot_be_changed_is_refused() -> None:
    """A value that is shared by an anchor is not changed behind its owner's back."""
    text = text_with("x-size: &size 9\nfile_size_kb: *size\n")
    with pytest.raises(CannotEdit):
        mended(text)


@given(
    st.integers(0, 3000),
    st.sampled_from([1, 9, 10, 11, 99, 100]),
    st.sampled_from(["", "file_size_kb: 9\n", "file_size_kb: 12345\n"]),
)
def test_the_size_is_that_of_the_text_after_the_edit(off: int, kb: int, told: str) -> None:
    """However near to a whole KB the text is, the size that is written is the size of what is then there."""
    text = text_with(told)
    text += "x" * max(0, kb * 1024 - len(text) - 1500 + off) + "\n"
    after = updated(text)
    assert f"file_size_kb: {size_kb(after)}\n" in after
    assert updated(after) == after

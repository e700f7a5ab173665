"""Parsing archive files, whole and damaged."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.archive.integrity import ArchiveContents, describe_runs, runs_of
from taskstate.model.archive_format import (
    batch_contents,
    content_hash,
    entry_hash,
    layout_lines,
    original_layout,
    read_batches,
)
from tests.support.lint_corpus import CORPUS, read_case
from tests.support.markdown_strategies import any_text

TEXT = read_case(CORPUS / "TS4xx" / "TS407-archive-clean.case").text or ""
LINES = TEXT.splitlines(keepends=True)


def test_batches_of_a_whole_archive() -> None:
    """Numbers, hashes and the summary that a batch replaced are read from it."""
    first, second = batch_contents(TEXT)
    assert (first.numbers, first.range, first.before) == ((1, 2), (1, 2), None)
    assert (second.numbers, second.range, second.before) == ((3, 4), (3, 4), 2)
    assert all(entry.listed_sha == entry.sha for entry in (*first.entries, *second.entries))
    assert [TEXT[entry.start : entry.end][:12] for entry in first.entries] == ["## Session 1", "## Session 2"]
    assert len(read_batches(TEXT)) == 2
    assert ArchiveContents(TEXT).faults == ()
    assert ArchiveContents(TEXT.replace("\n", "\r\n")).faults == ()


@given(st.integers(0, len(LINES) - 1), st.sampled_from(["", "x\n", "\n## Session 9 - 2024-01-01 10:00\n\n"]))
def test_every_change_to_an_entry_is_noticed(at: int, new: str) -> None:
    """Whichever line of an entry goes or gets another one before it, a fault tells so."""
    line = LINES[at]
    changed = "".join([*LINES[:at], new or "", *LINES[at + (not new) :]])
    (first, *_), (last, *_) = (batch.entries for batch in batch_contents(TEXT))
    inside = any(
        entry.start < sum(map(len, LINES[:at])) and line.strip() and sum(map(len, LINES[: at + 1])) < entry.end
        for batch in batch_contents(TEXT)
        for entry in batch.entries
    )
    assert first.number < last.number
    if inside:
        assert ArchiveContents(changed).faults


@given(any_text, st.integers(0, len(TEXT)), st.integers(0, len(TEXT)))
@example("", 0, 0)
@example(
    "\n---\n\nArchived on: x\nReason: x\nSessions archived: 1-999999999\nEntries SHA-256:\n\n- 1: " + "0" * 64, 0, 0
)
def test_any_text_can_be_read(text: str, start: int, end: int) -> None:
    """No text makes reading raise, and every fault stands within it."""
    for archive in (text, TEXT[:start] + text + TEXT[end:]):
        for fault in ArchiveContents(archive).faults:
            assert 0 <= fault.at <= len(archive)
            assert fault.numbers
            assert "\n" not in fault.message


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([4], "session 4"),
        ([5, 4], "the sessions 4 and 5"),
        ([1, 2, 3], "the sessions 1 to 3"),
        ([1, 3, 4, 5, 9], "the sessions 1, 3 to 5 and 9"),
    ],
)
def test_numbers_in_words(numbers: list[int], words: str) -> None:
    """Runs are told by their ends."""
    assert describe_runs(*runs_of(numbers)) == words


def test_number_does_not_count_in_the_content() -> None:
    """A merge may renumber an entry; its words count."""
    entry = "### Session 3 - 2024-11-23 10:00\n\nSession 3 went well.\n"
    assert content_hash(entry) == content_hash(entry.replace("### Session 3", "### Session 12"))
    assert content_hash(entry) != content_hash(entry.replace("went well", "went badly"))
    assert entry_hash(entry) != content_hash(entry)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("ends", [("\n",) * 2, ("\r\n",) * 3, ("\r", "\r\n"), ("\r",), ("\n", "\r\n", "\r")])
def test_closing_lines_tell_the_line_ends_behind_the_entries(ends: tuple[str, ...], newline: str) -> None:
    """Line ends that are not those of the archive stand in the closing lines by name, and come back from there."""
    lines = layout_lines(f"x{''.join(ends)}", (0, 7), usual=0, newline=newline)
    trailer = newline.join(["---", *lines, ""])
    assert lines[0] == "Offsets: 0 7"
    assert original_layout("x" + "\n" * len(ends), trailer) == (f"x{''.join(ends)}", (0, 7))

"""What says the same is joined, what contradicts by its key is replaced, all else stays where it is."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.model.entries import entries
from taskstate.permanent.consolidate import Consolidated, consolidated

OLD = """
- **Latency:** 200 ms
- No new database

A paragraph
of two lines.

### Later

- **Latency:** of no interest
- Maybe

"""


@pytest.mark.parametrize(
    "new",
    [
        "- no new database.\n",
        "* NO  NEW DATABASE!\n",
        "- **Latency**: 200 ms\n",
        "A paragraph of two lines\n",
        "- Maybe\n",
    ],
)
def test_what_says_the_same_changes_nothing(new: str) -> None:
    """Case, blanks, bullets and punctuation at the end are no difference."""
    assert consolidated(OLD, new).text == OLD


def test_an_entry_with_the_same_label_is_replaced() -> None:
    """Only its own text changes, and the summary says what it was."""
    result = consolidated(OLD, "- **latency:** 100 ms\n")
    assert result.text == OLD.replace("- **Latency:** 200 ms", "- **latency:** 100 ms")
    assert result.summary == "latency: 100 ms (was 200 ms)"


def test_nothing_is_guessed_by_similarity() -> None:
    """An entry that is nearly the same is another one."""
    assert consolidated(OLD, "- No new databases\n").added == ("No new databases",)


def test_a_heading_gathers_what_is_there_already() -> None:
    """Entries that stand under no heading move under the one of the update; the others stay."""
    result = consolidated(OLD, "### Performance\n\n- **Latency:** 200 ms\n- **Throughput:** 5/s\n")
    assert "### Performance\n\n- **Latency:** 200 ms\n- **Throughput:** 5/s\n" in result.text
    assert result.text.count("**Latency:** 200 ms") == 1
    assert "- **Latency:** of no interest" in result.text
    assert result.summary == "Latency: 200 ms now under Performance; added Throughput: 5/s"


def test_an_entry_goes_under_the_heading_that_is_there() -> None:
    """A new one is added at the end of that part."""
    result = consolidated(OLD, "### later\n\n- Perhaps\n")
    assert "- Maybe\n- Perhaps\n" in result.text


def test_an_entry_is_dropped_by_label_or_text() -> None:
    """It is named; what is not there, or there twice, is an error."""
    assert consolidated(OLD, "", ("no new database",)).summary == "dropped No new database"
    with pytest.raises(TaskstateError, match="there is no entry"):
        consolidated(OLD, "", ("nothing like that",))
    with pytest.raises(TaskstateError, match="2 entries"):
        consolidated(OLD, "", ("Latency",))


def test_a_label_that_several_headings_have_is_ambiguous() -> None:
    """Which one is meant is not guessed."""
    old = "\n### A\n\n- **Size:** 1\n\n### B\n\n- **Size:** 2\n"
    with pytest.raises(TaskstateError, match="several entries are about size: under A, B"):
        consolidated(old, "- **Size:** 3\n")
    assert "### B\n\n- **Size:** 3\n" in consolidated(old, "### B\n\n- **Size:** 3\n").text


def test_decisions_are_matched_by_their_number() -> None:
    """The whole part of a decision is one entry."""
    old = "\n### AD-1: Tokens\n\n**Status:** proposed\n\n### AD-2: Other\n\n**Status:** proposed\n"
    result = consolidated(old, "### AD-1: Signed tokens\n\n**Status:** accepted\n")
    assert (
        result.text == "\n### AD-1: Signed tokens\n\n**Status:** accepted\n\n### AD-2: Other\n\n**Status:** proposed\n"
    )


@pytest.mark.parametrize(
    "new",
    ["## Constraints\n", "# Title\n", "```json\n{}\n", "<!-- open\n", "<<<<<<< ours\n", "Constraints\n===========\n"],
)
def test_content_that_would_change_the_structure_is_refused(new: str) -> None:
    """A heading of a section, a fence or comment left open, a conflict."""
    with pytest.raises(TaskstateError) as error:
        consolidated(OLD, f"- fine\n\n{new}")
    assert error.value.code == "structure"


def test_line_ends_of_the_section_are_taken() -> None:
    """Text that is added to a CRLF document has CRLF."""
    assert consolidated("\r\n- one\r\n", "- two\n").text == "\r\n- one\r\n- two\r\n"


class Ambiguous(Exception):
    """Several entries have the key of a new one."""


def consolidated_or_ambiguous(text: str, content: str) -> Consolidated:
    """Consolidate; the one refusal that is expected here has a type of its own."""
    try:
        return consolidated(text, content)
    except TaskstateError as error:
        if error.code != "ambiguous":
            raise
        raise Ambiguous from error


WORDS = st.sampled_from(["one", "Two", "three four", "**Key:** a", "**Key:** b", "**Other:** c", "**key**: a.", "x_y"])
ENTRY = st.one_of(WORDS.map(lambda each: f"- {each}"), WORDS, WORDS.map(lambda each: f"- {each}\n  more of it"))
PART = st.lists(ENTRY, max_size=4).map("\n\n".join)
CONTENT = st.tuples(PART, st.sampled_from(["", "### First\n\n", "### Second\n\n"]), PART).map(
    lambda parts: f"{parts[0]}\n\n{parts[1]}{parts[2]}\n"
)


@given(st.lists(CONTENT, min_size=1, max_size=4))
@example(["### Second\n\n- one\n", "- one\n\n### First\n\n- one\n"])
def test_every_entry_stays_or_is_named_and_again_changes_nothing(contents: list[str]) -> None:
    """Whatever is consolidated: no entry is lost unnamed, and the same content again is no change."""
    text = "\n"
    for content in contents:
        before = {each.same for each in entries(text)}
        with suppress(Ambiguous):
            result = consolidated_or_ambiguous(text, content)
            gone = before - {each.same for each in entries(result.text)}
            assert len(gone) <= len(result.replaced)
            new = {each.same for each in entries(result.text)} - before
            assert {each.same for each in entries(content)} >= new
            text = result.text
            if not result.replaced:
                assert consolidated(text, content).text == text

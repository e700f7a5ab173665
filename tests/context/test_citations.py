"""Sections of standards by their slugs: where they are, what they hash to, and what they ask for."""

from __future__ import annotations

import hashlib

import pytest

from taskstate.context.citations import (
    Standard,
    citation_status,
    content_sha,
    first_sentence,
    parse_line_span,
    slug_of,
    truncated,
)

TEXT = """\
# Backend tier

Intro.

## Handler Constraints

Handlers stay under **75 lines**, see [why](x.md). More prose follows here.

```md
## Not a heading
```

Last line.

### Coverage

At least 90 %.

## Layering Rules

- No handler talks to the database.
"""


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Handler Constraints", "handler-constraints"),
        ("What's new in 2.0?", "whats-new-in-20"),
        ("`code` & [a link](x) *here*", "code--a-link-here"),
        ("Snake_case -- and dashes", "snake_case----and-dashes"),
        ("\N{ROCKET} Launch", "-launch"),
        ("Größe & Straße", "größe--straße"),
        ("नमस्ते दुनिया", "नमस्ते-दुनिया"),
        ("C#/.NET", "cnet"),
        ("a ![picture](x.png) b", "a--b"),
        ("1 < 2 <b>bold</b>", "1--2-bold"),
        (r"a \*star\*", "a-star"),
        ("!!!", ""),
    ],
)
def test_slug_is_that_of_github(title: str, slug: str) -> None:
    """Letters, marks, digits and connectors stay, blanks become hyphens, markup and all else goes."""
    assert slug_of(title) == slug


def test_equal_headings_are_numbered() -> None:
    """The second heading of a text has `-1` behind its slug, and no slug is given twice."""
    standard = Standard("# A\n## B\n## B\n## B 1\n## B\n## !\n")
    assert list(standard.sections) == ["a", "b", "b-1", "b-1-1", "b-2"]


def test_a_section_ends_before_the_next_heading_of_its_level() -> None:
    """A section includes deeper headings and heading-like lines in a fence, but no blank lines at its end."""
    standard = Standard(TEXT)
    cited = standard.cited("handler-constraints")
    assert cited
    assert cited.line_span == "L5-L17"
    lines = TEXT.split("\n")[4:17]
    assert lines[-1] == "At least 90 %."
    assert cited.content_sha == hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] == "983a59fb4018be95"
    assert standard.lines("handler-constraints") == tuple(lines)
    assert standard.cited("layering-rules") == ("L19-L21", "fb46f39c9e508785", "No handler talks to the database.")
    assert standard.cited("coverage") == ("L15-L17", "3ca87ffab1266d63", "At least 90 %.")
    assert standard.cited("gone") is None


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_ends_do_not_count(newline: str) -> None:
    """A checkout with other line ends, or a byte order mark, has the same spans and hashes."""
    other = Standard("\ufeff" + TEXT.replace("\n", newline))
    assert [other.cited(slug) for slug in other.sections] == [Standard(TEXT).cited(slug) for slug in other.sections]
    assert other.cited("backend-tier") == Standard(TEXT).cited("backend-tier")


def test_blanks_at_line_ends_count() -> None:
    """The hash is of the lines as they are, also of the last one; only blank lines at the end are left out."""
    plain, blank = Standard("# A\n\nx\n"), Standard("# A\n\nx  \n \t\n\n")
    assert plain.cited("a") != blank.cited("a")
    assert blank.lines("a") == ("# A", "", "x  ")


def test_front_matter_counts_as_lines() -> None:
    """Lines are those of the file on disk."""
    cited = Standard("---\ntitle: x\n---\n\nSetext\n======\n\nText.\n").cited("setext")
    assert cited
    assert (cited.line_span, cited.requirement) == ("L5-L8", "Text.")


@pytest.mark.parametrize(
    ("body", "requirement"),
    [
        ("First one. Second one.", "First one."),
        ("Two\nlines of it! More", "Two lines of it!"),
        ("Use tools, e.g. ruff, and v1.2 of it. Then", "Use tools, e.g. ruff, and v1.2 of it."),
        ("No. 5 is it, cf. Annex. Then", "No. 5 is it, cf. Annex."),
        ("Is *this* `code_here` a [link](x)? Yes.", "Is this code_here a link?"),
        ("```\ncode. Here.\n```\n\nAfter code.", "After code."),
        ("| a | b |\n| - | - |\n\nBehind the table.", "Behind the table."),
        ("- an item\n- another", "an item"),
        ("> Quoted. Rule", "Quoted."),
        ("![only](picture.png)\n\nWords.", "only"),
        ("<!-- comment. -->\n\nShown.", "Shown."),
        ("一。二。", "一。"),
        ("```\nnothing else\n```", "The Title"),
        ("", "The Title"),
    ],
)
def test_requirement_is_the_first_sentence(body: str, requirement: str) -> None:
    """The requirement is the first sentence of the section's prose without markup, or the title if there is none."""
    cited = Standard(f"# The Title\n\n{body}\n").cited("the-title")
    assert cited
    assert cited.requirement == requirement


def test_requirement_is_cut_at_a_word() -> None:
    """At most 140 characters, an ellipsis included, and no word is cut but one that fills it all."""
    words = "word " * 40
    assert truncated(words) == ("word " * 28).strip() + "…"
    assert len(truncated("x" * 141)) == 140
    assert truncated("x" * 140) == "x" * 140
    assert truncated(" a\n b\x1b ") == "a b"
    assert first_sentence("No end") == "No end"


def test_nearest_heading() -> None:
    """For an unknown slug the most similar one is offered; without headings there is none."""
    assert Standard(TEXT).nearest("handlers-constraint") == "handler-constraints"
    assert Standard(TEXT).nearest("Layering") == "layering-rules"
    assert Standard("no heading").nearest("x") == ""


@pytest.mark.parametrize(
    ("span", "lines"),
    [
        ("L1-L1", (1, 1)),
        ("L42-L680", (42, 680)),
        ("L9-L5", None),
        ("L10-L9", None),
        ("L0-L1", None),
        ("L1", None),
        ("L99999999999999999999-L1", None),
    ],
)
def test_span_of(span: str, lines: tuple[int, int] | None) -> None:
    """A span names its first and last line, in that order."""
    assert parse_line_span(span) == lines


def test_standing() -> None:
    """A citation with a missing file, missing section or changed content is a fault; a moved section is not."""
    standard = Standard(TEXT)
    cited = standard.cited("layering-rules")
    assert cited
    held = {"section": "layering-rules", "line_span": cited.line_span, "content_sha": cited.content_sha}
    assert citation_status(held, standard) == ("", False, cited)
    assert citation_status(held, Standard("\n" + TEXT)).moved
    assert citation_status(held | {"content_sha": "0" * 16}, standard).fault == "content"
    assert citation_status(held | {"section": "gone"}, standard).fault == "section"
    assert citation_status(held, None).fault == "file"


def test_content_sha_vector() -> None:
    """The hash is the first 16 digits of the SHA-256 of the lines joined by LF."""
    assert content_sha(("## Größe", "", "Text.")) == "ad3511952b38030b"

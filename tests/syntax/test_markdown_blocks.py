from __future__ import annotations

import pytest

from taskstate.syntax.markdown_blocks import (
    Block,
    Item,
    hidden_headings,
    list_items,
    read_blocks,
    reference_blocks,
    reference_items,
)
from taskstate.syntax.spans import Span


def test_a_heading_knows_its_title_and_level() -> None:
    """The span is the line, the content the title alone."""
    text = "x\n\n ## A *b* ##  \n"
    assert read_blocks(text) == (Block("heading", Span(3, 17), Span(7, 12), "A *b*", 2),)


def test_a_heading_with_an_underline_is_read() -> None:
    """A title is what stands above the line; where its lines are indented or end otherwise, the whole heading."""
    text = "A\n===\n\nb\nc\n---\n"
    assert read_blocks(text) == (
        Block("heading", Span(0, 5), Span(0, 1), "A", 1),
        Block("heading", Span(7, 14), Span(7, 10), "b\nc", 2),
    )
    assert read_blocks("b\r\nc\r\n---") == (Block("heading", Span(0, 9), Span(0, 9), "b\nc", 2),)


@pytest.mark.parametrize("read", [read_blocks, reference_blocks])
@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("##\n", Span(2, 2)),
        ("## ##\n", Span(5, 5)),
        (" #  \n", Span(4, 4)),
        ("# # # #", Span(2, 5)),
        ("# \0", Span(2, 3)),
    ],
)
def test_the_title_is_found_where_it_stands(text: str, content: Span, read: object) -> None:
    """An empty title stands behind the marks, and one that looks like the marks is not taken for them."""
    assert callable(read)
    (heading,) = read(text)
    assert heading.content == content


@pytest.mark.parametrize("read", [read_blocks, reference_blocks])
@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("```json\n{}\n```\n", Block("fence", Span(0, 14), Span(8, 11), "json")),
        ("~~~ a b\n~~~", Block("fence", Span(0, 11), Span(8, 8), "a b")),
        ("```\na\n\n", Block("fence", Span(0, 7), Span(4, 7), closed=False)),
        ("````\n```\n", Block("fence", Span(0, 9), Span(5, 9), closed=False)),
        ("```", Block("fence", Span(0, 3), Span(3, 3), closed=False)),
    ],
)
def test_a_fence_knows_its_lines(text: str, block: Block, read: object) -> None:
    """The content is what lies between the marks; a fence that never closes reaches to the end of the text."""
    assert callable(read)
    assert read(text) == (block,)


def test_an_html_block_ends_with_its_words() -> None:
    """Blank lines behind an HTML block are none of it."""
    text = "<div>\n# x\n\n# h\n"
    assert read_blocks(text) == (
        Block("html", Span(0, 9), Span(0, 9)),
        Block("heading", Span(11, 14), Span(13, 14), "h", 1),
    )


def test_offsets_count_from_the_start_of_the_text() -> None:
    """Blocks of a part know their place in the whole, whatever line ends there are."""
    text = "---\r\na\r---\r# b\r\n"
    assert read_blocks(text, 11) == (Block("heading", Span(11, 14), Span(13, 14), "b", 1),)


@pytest.mark.parametrize(
    "deep",
    [
        *("- " * 150 + "x", "1. " * 150 + "x", "-\t" * 100 + "x", "> " * 300 + "x", ">" * 3000 + "x"),
        "".join(" " * 2 * depth + "- x\n" for depth in range(150)),
        "".join("\t" * depth + "- x\n" for depth in range(150)),
    ],
)
def test_no_nesting_hides_what_follows(deep: str) -> None:
    """However deep lists and quotes are nested, a heading behind them is seen."""
    assert [block.text for block in reference_blocks(f"{deep}\n\n# after\n")] == ["after"]


def test_long_rules_and_indentation_stay_what_they_are() -> None:
    """A line is cut only where it could nest deeper than the limit."""
    text = "a\n" + "- " * 200 + "-\n# b\n\n" + " " * 300 + "code\n\n<!--\n" + "> " * 300 + "-->\n# c\n"
    assert [(block.kind, block.text) for block in reference_blocks(text)] == [
        ("heading", "b"),
        ("html", ""),
        ("heading", "c"),
    ]


def test_no_text_ends_too_early_for_the_reference() -> None:
    """A text without a last line end is read as the same text with one."""
    assert reference_blocks(">>- <!--\n>>") == reference_blocks(">>- <!--\n>>\n") == ()


def test_list_items_know_where_they_end() -> None:
    """An item ends with its last line that is not blank, and its content begins behind the marker."""
    text = "a\n\n* b\n  c\n\n\n* d\n"
    span = Span(3, len(text))
    assert (
        list_items(text, span)
        == reference_items(text, span)
        == (
            Item(Span(3, 10), Span(5, 10)),
            Item(Span(13, 16), Span(15, 16)),
        )
    )


def test_items_of_lists_that_are_not_plain_are_read_too() -> None:
    """Text before a list, lazy lines, empty items, other markers and an end before the text's own are all one."""
    text = "a\n\n- b\nlazy\n-\n\n+ c\n- not this"
    contents = [item.content.of(text) for item in list_items(text, Span(0, text.index("- not")))]
    assert contents == ["b\nlazy", "", "c"]


def test_hidden_headings_are_found_wherever_they_stand() -> None:
    """What looks like a heading to a person is named with its title, also behind quote and list marks, and after CR."""
    text = "## a ##\n> - ### b \n\r    # c # d\r#no\n### ###\n```\n# e\r\n"
    assert [(span.of(text), title) for span, title in hidden_headings(text, 0)] == [
        *(("## a ##", "a"), ("### b ", "b"), ("# c # d", "c # d"), ("### ###", ""), ("# e", "e"))
    ]
    assert [title for _, title in hidden_headings(text, 8)] == ["b", "c # d", "", "e"]


def test_looking_for_hidden_headings_takes_no_longer_than_the_text() -> None:
    """A line of many blanks and marks is no reason to try again and again."""
    text = "# " + " # " * 50_000 + "x"
    assert len(hidden_headings(text, 0)) == 1

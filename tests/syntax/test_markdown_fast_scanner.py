from __future__ import annotations

import pytest
from markdown_it.common.html_blocks import block_names

from taskstate.syntax.markdown_blocks import list_items, read_blocks, reference_blocks, reference_items
from taskstate.syntax.markdown_fast_scanner import HTML_NAMES, scan, scan_items
from taskstate.syntax.spans import Span


def scanned_blocks(text: str, start: int = 0) -> list[tuple[str, str]] | None:
    """Return kind and text of the blocks that the scanner finds, after comparing them with the reference."""
    scanned = scan(text, start)
    if scanned is None:
        return None
    assert read_blocks(text, start) == reference_blocks(text, start)
    return [(kind, title) for kind, _, _, title, _, _ in scanned]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("text\n", []),
        ("# a\n## b ##\n###\n####### no\n#no\n", [("heading", "a"), ("heading", "b"), ("heading", "")]),
        ("# # # #\n", [("heading", "# #")]),
        ("   ## a\n    # code\n", [("heading", "a")]),
        ("> # quoted\n\n- # in a list\n\n  ## too\n\n# a", [("heading", "a")]),
        ("- a\n\n  # in it\n\n  ## too\n# out\n", [("heading", "out")]),
        ("1. a\n\n   ```\n   # in it\n\n# out\n", [("heading", "out")]),
        ("-\ta\n\n\t# in it\n\n# out\n", [("heading", "out")]),
        ("- a\n\n\t# in it\n  \t# too\n# out\n", [("heading", "out")]),
        ("```json\n# x\n```\n~~~~\n~~~\n~~~~~\n", [("fence", "json"), ("fence", "")]),
        ("``` a`b\n# h\n", [("heading", "h")]),
        ("```\n# x", [("fence", "")]),
        ("```", [("fence", "")]),
        ("<!-- a -->\n# h\n<!--\n# x\n-->\n## i", [("html", ""), ("heading", "h"), ("html", ""), ("heading", "i")]),
        ("<!-- a\n# x\n\n", [("html", "")]),
        (
            "<details>\n# x\n\n# h\n</details>\n \n# i\n<p",
            [("html", ""), ("heading", "h"), ("html", ""), ("heading", "i"), ("html", "")],
        ),
        ("a\n<PRE class='x'>\n\n# x\n</pre> # y\n# h\n<style\n\n", [("html", ""), ("heading", "h"), ("html", "")]),
        (
            "- a\n<?php\n# x ?>\n<!DOCTYPE\n# x\n>\n<![CDATA[ ]]>\n# h\n",
            [("html", ""), ("html", ""), ("html", ""), ("heading", "h")],
        ),
        ("- a\n\n  <div>\n  # x\n\n# h\n", [("heading", "h")]),
        ("<https://x.y>\n<a@b.c>\n<x\n# h\n", [("heading", "h")]),
        ("a\n\n---\n\nb\n\n===\n", []),
        ("# a\n---\n", [("heading", "a")]),
        ("a\n---\n\nb `c\t\n=== \n- d\n\ne\r\n-\r\n", [("heading", "a"), ("heading", "b `c"), ("heading", "e")]),
        ("```\n```\na\n=\n<!-- b -->\nc\n-", [("fence", ""), ("heading", "a"), ("html", ""), ("heading", "c")]),
        ("# a\r\n```\r\n# x\r\n```\r\n## b\r\n", [("heading", "a"), ("fence", ""), ("heading", "b")]),
    ],
)
def test_plain_texts_are_read(text: str, blocks: list[tuple[str, str]]) -> None:
    """What begins at column 0, or in an item that plainly reaches to it, is decided without the reference."""
    assert scanned_blocks(text) == blocks


@pytest.mark.parametrize(
    "text",
    [
        "a\0b",
        "a\nb\n---\n",
        "1. a\n===\n",
        "a\n ---\n",
        " a\n---\n",
        "> a\nlazy\n---\n",
        "> a\n- b\n===\n",
        "> a\n\n<<<<<<< b\nc\n===\n",
        "- a\nlazy\n===\n",
        "[a]: b\n===\n",
        "a\x0b\n---\n",
        "<b>\n",
        "</x-y >\n",
        "<!x\n",
        "# \u2003a\n",
        "# a\x0b\n",
        "text\n  # h\n",
        "   text\n   # h\n",
        "- a\n # h\n",
        "- a\nlazy\n  # h\n",
        "- a\n lazy\n  # h\n",
        "- a\n\n text\n  # h\n",
        "- a\n\ntext\n  # h\n",
        "> a\n  # h\n",
        "a\n2. b\n   # h\n",
        "- - -\n  # h\n",
        "-\n  # h\n",
        "1.   a\n\n    ```\n   # h\n",
    ],
)
def test_what_is_not_plain_is_declined(text: str) -> None:
    """Text of which the scanner is not certain is left to the reference."""
    assert scanned_blocks(text) is None


def test_what_git_leaves_of_conflicts_is_read() -> None:
    """The last marker begins quotes, in whose paragraph the markers below it go on; only the first is a heading."""
    conflicts = "<<<<<<< a\n=======\n>>>>>>> b\n" * 3
    assert scanned_blocks(conflicts) == [("heading", "<<<<<<< a")]
    assert scanned_blocks(f"{conflicts}\n{conflicts}# c\n=\n") == [("heading", "<<<<<<< a")] * 2 + [("heading", "c")]


def test_a_lone_cr_ends_a_line() -> None:
    """Also one before CRLF: both are line ends."""
    assert scanned_blocks("# a\r# b\r\r\nc\r===\r```\r# d\r```") == [
        ("heading", "a"),
        ("heading", "b"),
        ("heading", "c"),
        ("fence", ""),
    ]


def test_the_names_of_html_blocks_are_those_of_the_reference() -> None:
    """The scanner knows the tags that markdown-it-py knows."""
    assert block_names == HTML_NAMES.split("|")


def test_a_scan_begins_at_the_given_offset() -> None:
    """Text before the start is not scanned, not even a lone CR or a byte order mark."""
    text = "a\n# b\n"
    assert scanned_blocks(text, 2) == [("heading", "b")]
    assert scanned_blocks("\r# a\n\n# b\n", 5) == [("heading", "b")]
    assert scanned_blocks("\ufeff# a\n", 1) == [("heading", "a")]
    assert scanned_blocks("a\r# a\n", 2) == [("heading", "a")]


def items(text: str) -> list[str] | None:
    """Return the contents of the items that the scanner finds, after comparing them with the reference."""
    span = Span(0, len(text))
    scanned = scan_items(text, *span)
    if scanned is None:
        return None
    assert list_items(text, span) == reference_items(text, span)
    return [text[content:end] for _, content, end in scanned]


@pytest.mark.parametrize(
    ("text", "contents"),
    [
        ("", []),
        ("\n \n", []),
        ("- a\n- b", ["a", "b"]),
        ("- a\n\n  b\n\n\n-   c\n    d\n", ["a\n\n  b", "c\n    d"]),
        ("1. a\n2. b\n   c\n", ["a", "b\n   c"]),
        ("- ```\n  # x\n- b\n", ["```\n  # x", "b"]),
        ("- a\r\n  b\r\n- c\r\n", ["a\r\n  b", "c"]),
        ("<!-- a -->\n- b\n<!-- c --> d\n<!-->\n\n2) e\n\n<!-- f -->\n* g\n", ["b", "e", "g"]),
        ("- ```\n<!-- a -->\n- b\n  c\n", ["```", "b\n  c"]),
        ("These hold:\nall of them.\n\n- a\n- b\n\n[Note] that:\n\n* c\n\n**As well**\n\n2. d", ["a", "b", "c", "d"]),
        ("[ ] a\r\n\r\na\n\n- b\r\n\t\r\n`c`\r\n\r\n[d]: e\r\n\r\n(f)\r\n", ["b"]),
        ("- a\r- b\r\n  c\r", ["a", "b\r\n  c"]),
        ("```json\n- no\n```\n- a\n~~~~\n* no\n~~~~~\n* b\n````\n````", ["a", "b"]),
        ("- a\n#### b\n- c\n# - d\n* e\r\n######\r\n\r\n1. f\n", ["a", "c", "e", "f"]),
        ("# a\n- ```\n  b\n## c\n- d\n", ["```\n  b", "d"]),
    ],
)
def test_plain_lists_are_read(text: str, contents: list[str]) -> None:
    """Items at column 0 with everything else blank or indented into them need no reference."""
    assert items(text) == contents


@pytest.mark.parametrize(
    "text",
    [
        "a\n- b",
        "- a\nlazy\n",
        "text\n1) b",
        "text\n  - b\n",
        "- a\n\ntext\n  b\n",
        "<!-- a -->\ntext\n\n- b",
        "[a]:\n- b\n",
        "text\n```\n- b\n```\n",
        "- a\n* b\n",
        "* * *\n",
        "-\n",
        "-\ta\n",
        "- a\n\n``` a`b\n",
        "- a\n```\nb",
        "- a\0",
        " - a\n",
        "<!-- a\n-->\n- b",
        "- a\n<!-- b -->\n  c",
        "- a\n#b\n",
        "- a\n####### b\n",
        "- a\n# b\nc\n",
    ],
)
def test_lists_that_are_not_plain_are_declined(text: str) -> None:
    """Whatever else stands there is left to the reference."""
    assert items(text) is None


def test_a_list_begins_where_its_part_does() -> None:
    """What stands before a part is not looked at: a lone CR, or a line of which the part begins with the end."""
    text = "# h\r- a\n- b\n"
    assert scan_items(text, 4, len(text)) == [(4, 6, 7), (8, 10, 11)]
    assert list_items(text, Span(4, len(text))) == reference_items(text, Span(4, len(text)))
    text = "**x:**\n- a\n"
    assert scan_items(text, 6, len(text)) == [(7, 9, 10)]

from __future__ import annotations

import pytest

from taskstate.context.normalization import normalize, without_html_comments

LONG = " ".join(["words"] * 30)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("", "\n"),
        ("\r\n\r\na\r\nb\r\n\r\n\r\nc", "a b\n\nc\n"),
        ("a\n# comment\nb\n#\n## Heading\n### Other", "a b\n## Heading\n### Other\n"),
        ("  a\n\tb  \nc", "  a\n\tb\nc\n"),
        ("a  b\t c", "a b c\n"),
        ("- a\n  b\n* c\n1. d\n2) e\nf\ng", "- a\n  b\n* c\n1. d\n2) e\nf g\n"),
        ("> a\n> b\n| a | b |\n<div>\nx", "> a\n> b\n| a | b |\n<div>\nx\n"),
        ("a\nb\n=\n\nc\n--\n\n---\n* * *\n_ _ _", "a b\n=\n\nc\n--\n\n---\n* * *\n_ _ _\n"),
        ("[a]: /u\n[b]: /v\nc", "[a]: /u\n[b]: /v\nc\n"),
        ("a\n```\n# kept  \n\n\nb\nc\n```\nd\ne", "a\n```\n# kept\n\n\nb\nc\n```\nd e\n"),
        ("~~~~\n~~~\n# x\n```\n~~~~~ \n# y", "~~~~\n~~~\n# x\n```\n~~~~~\n"),
        ("```\n```~~~\n# x\n``` y\n# z\n```\t\n# gone", "```\n```~~~\n# x\n``` y\n# z\n```\n"),
        ("``` a`b\n# gone\nc", "``` a`b c\n"),
        ("```\n\n\n", "```\n"),
        ("    ```\n# gone\n    # kept", "    ```\n    # kept\n"),
        ("a \x0cb\xa0\nc\x0c", "a \x0cb\xa0 c\x0c\n"),
        ("- a\n\n    ```\n    x\n\n\n    y\n    ```\n\n\nb", "- a\n\n    ```\n    x\n\n\n    y\n    ```\n\nb\n"),
        ("a\n\n    x\n\n\n\n    y\n\n\n\tz\n\n\nb", "a\n\n    x\n\n\n\n    y\n\n\n\tz\n\nb\n"),
        ("p\nq\na | b\n--|--\n1 | 2\n# gone\n3 | 4\n\nc\nd", "p q\na | b\n--|--\n1 | 2\n3 | 4\n\nc d\n"),
        ("a | b\n:-: | ---\n```\nx\n```\nc\nd", "a | b\n:-: | ---\n```\nx\n```\nc d\n"),
        ("| a | b |\n|--|--|\n1 | 2\n3 | 4", "| a | b |\n|--|--|\n1 | 2\n3 | 4\n"),
        ("a\n\x0c# b\n\u2028\n\nc", "a\n\x0c# b\n\u2028\n\nc\n"),
    ],
)
def test_text_is_brought_into_one_form(text: str, normal: str) -> None:
    """Comments go and paragraphs are joined; lines with a meaning of their own stay; a second pass changes nothing."""
    assert normalize(text) == normal
    assert normalize(normal) == normal


def test_paragraphs_are_wrapped_at_words() -> None:
    """A line has at most 120 characters, where its words are not longer."""
    lines = normalize(f"{LONG}\n{LONG}\n" + "x" * 200).split("\n")
    assert all(len(line) <= 120 for line in lines[:-2])
    assert lines[-2:] == ["x" * 200, ""]
    assert " ".join(lines).split() == [*LONG.split(), *LONG.split(), "x" * 200]


@pytest.mark.parametrize("word", ["-", "#", "1.", "##", "```", "|"])
def test_a_wrap_makes_no_structure(word: str) -> None:
    """Where a word would begin a line and mean something there, the paragraph stays on one line."""
    text = "x" * 120 + f" {word} " + "y" * 10
    assert normalize(text) == text + "\n"


def test_a_wrap_makes_no_table() -> None:
    """A word that would turn the line above into the head of a table is not wrapped onto a line of its own."""
    text = "x" * 120 + " --|--"
    assert normalize(text) == text + "\n"


def test_words_between_comments_stay() -> None:
    """Words that stand behind a comment, or between two, are no part of either."""
    assert without_html_comments("<!-- a --> kept\nmore\n<!-- b -->\nx\n") == " kept\nmore\nx\n"

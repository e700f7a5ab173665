from __future__ import annotations

import pytest

from taskstate.errors import TaskstateError
from taskstate.syntax.escaping import clean, is_none, item, items, one_line, paragraphs, quote, unescape_item
from taskstate.syntax.markdown_blocks import read_blocks


def test_clean_drops_blanks_without_meaning() -> None:
    """Line ends become LF; blanks at a line's end and blank lines around the whole go, indentation stays."""
    assert clean("\r\n \t\r\n  a  \rb\t\n\n\n    c\n\n", what="it") == "  a\nb\n\n\n    c"


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", "empty", "the note is empty"),
        (" \n\t\n", "empty", "the note is empty"),
        ("\u2003", "empty", "the note is empty"),
        ("a\nb\x1b[0m", "control-characters", r"the note holds U+001B (a control character) in its line 2"),
        ("a\0", "control-characters", "U+0000"),
        ("a\u202eb", "control-characters", "U+202E (RIGHT-TO-LEFT OVERRIDE) in its line 1"),
        ("a\n\nb\x0c", "control-characters", "U+000C (a control character) in its line 3"),
    ],
)
def test_empty_texts_and_control_characters_are_refused(text: str, code: str, message: str) -> None:
    """An empty text, or one that a terminal or an editor would act on, is refused with the reason and the line."""
    with pytest.raises(TaskstateError) as caught:
        clean(text, what="the note")
    assert caught.value.code == code
    assert message in caught.value.message
    assert caught.value.help


def test_one_line_takes_one_line_alone() -> None:
    """Blanks around it go; a second line is refused."""
    assert one_line("\n\u2003 a b \n", what="it") == "a b"
    with pytest.raises(TaskstateError, match="it has several lines") as caught:
        one_line("a\nb", what="it")
    assert caught.value.code == "several-lines"


def test_none_is_recognised_in_several_spellings() -> None:
    """With a point or without, in emphasis, as an item; more words say something."""
    assert all(is_none(text) for text in ("None.", "none", "*None*", "- None.", "N/A", "nothing yet", "\nNone.\n"))
    assert not any(is_none(text) for text in ("", "None of the tests ran.", "Nonesuch", "- None\n- x"))


def test_an_item_holds_all_its_lines() -> None:
    """Further lines stand below the first one's text, blank ones stay blank."""
    assert item("  a\n\n  # b\n```\nc\n") == "- a\n\n    # b\n  ```\n  c"
    assert items(("a\nb", "c"), what="it") == "- a\n  b\n- c"


def test_a_check_box_indents_nothing() -> None:
    """What follows a criterion's first line is a paragraph of it, and no indented code."""
    assert item("a\n\nb", marker="- [ ] ") == "- [ ] a\n\n  b"


@pytest.mark.parametrize(
    "text",
    ["--", "---", "- -", "-\t- ---\nb", "\\---", "\\\\- -", "-", "* +\n-", "\\-", "<!-- a -->", "- <!-- a", "\\<!--"],
)
def test_dashes_are_no_thematic_break(text: str) -> None:
    """A text of dashes or a comment alone is escaped as an item, and unescaped to what it was."""
    written = item(text)
    assert written.startswith("- \\")
    first, *rest = written.removeprefix("- ").split("\n")
    assert unescape_item("\n".join([first, *(line.removeprefix("  ") for line in rest)])) == text


@pytest.mark.parametrize("text", ["- a", "\\a", "\\", "-- a", "\\- a", "<!-- a --> b"])
def test_other_texts_are_not_escaped(text: str) -> None:
    """A backslash is put before what would be a rule, and is taken away from nothing else."""
    assert item(text) == f"- {text}"
    assert unescape_item(text) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a\n\n- b\n  # c\n", "a\n\n- b\n  # c"),
        ("  a\n    b", "a\n    b"),
        ("# a\ntext\n  ## b", "\\# a\ntext\n  \\## b"),
        ("a\n===\n\nb\nc\n ---", "a\n\\===\n\nb\nc\n \\---"),
        ("a\n---", "a\n\\---"),
        ("<div>\n# x\n\n<!--\n# y\n-->", "\\<div>\n\\# x\n\n\\<!--\n\\# y\n-->"),
        ("<div>\n<b>x</b>\n</div>", "\\<div>\n\\<b>x</b>\n\\</div>"),
        ("```\n# x", "```\n# x\n```"),
        ("~~~~ a\n~~~\n<!--", "~~~~ a\n~~~\n<!--\n~~~~"),
        ("   ```\n<!--\n```\n<!--", "```\n<!--\n```\n\\<!--"),
        ("<!--\n~~~\n-->\n```", "\\<!--\n~~~\n-->\n```\n~~~"),
        ("*To be completed.*", "\\*To be completed.*"),
        ("_none_", "\\_none_"),
        ("*a*\nb", "*a*\nb"),
        ("<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs", "\\<<<<<<< ours\na\n\\=======\nb\n\\>>>>>>> theirs"),
        ("> # a\n>>>>>>>\n<<<<<<<<", "> # a\n\\>>>>>>>\n<<<<<<<<"),
    ],
)
def test_paragraphs_escape_structure(text: str, written: str) -> None:
    """Headings, HTML, conflict markers and a lone line in emphasis get a backslash, an open fence gets its end."""
    assert paragraphs(text) == written


def test_what_does_not_end_is_quoted() -> None:
    """What is still structure after many escapes is quoted as a whole."""
    written = paragraphs("a\n\n" + "b\n" + "---\n" * 60)
    assert all(line.startswith(">") for line in written.split("\n"))
    assert read_blocks(written) == ()


def test_quote_marks_each_line() -> None:
    """A blank line is quoted without a blank."""
    assert quote("a\n\n  b") == "> a\n>\n>   b"


def test_headings_below_all_structure_may_stay() -> None:
    """Headings deeper than a level stay where they are no structure; elsewhere none does."""
    text = "# a\n\n### b\n\n#### c\n\nd\n---\n\n###### e"
    assert paragraphs(text, deepest=3) == "\\# a\n\n\\### b\n\n#### c\n\nd\n\\---\n\n###### e"
    assert paragraphs("#### c") == "\\#### c"


def test_what_is_left_of_a_conflict_is_escaped_but_in_an_example() -> None:
    """A divider of a conflict alone would be one that somebody left; in a fence it is the line of a heading."""
    example = "```\nAbcdefg\n=======\n||||||| base\n```"
    assert paragraphs(f"=======\n\n{example}\n\n||||||| base") == f"\\=======\n\n{example}\n\n\\||||||| base"

from __future__ import annotations

import pytest

from taskstate.syntax.spans import (
    Position,
    Span,
    end_of_content,
    line_starts,
    newline_of,
    position,
    printable,
    size_in_bytes,
    trimmed,
    with_newlines,
    without_comments,
)


def test_a_span_covers_its_text() -> None:
    """A span is half open and counts characters."""
    assert Span(1, 3).of("añb😀") == "ñb"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("a", [0]),
        ("a\nb\n", [0, 2, 4]),
        ("a\r\nb\rc\nd", [0, 3, 5, 7]),
        ("\n\r\r\n", [0, 1, 2, 4]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g", [0]),
    ],
)
def test_lines_end_at_crlf_cr_and_lf_alone(text: str, starts: list[int]) -> None:
    """A form feed or U+2028 ends no line."""
    assert line_starts(text) == starts


def test_position_counts_lines_and_columns_from_zero() -> None:
    """An offset behind the last line end stands on the last line."""
    starts = line_starts("ab\ncd\n")
    assert [position(starts, offset) for offset in (0, 2, 3, 6)] == [(0, 0), (0, 2), (1, 0), (2, 0)]
    assert position(starts, 4) == Position(line=1, column=1)


@pytest.mark.parametrize(
    ("text", "newline"),
    [("", "\n"), ("a\nb\n", "\n"), ("a\r\nb\r\nc\n", "\r\n"), ("a\nb\r\n", "\n"), ("a\rb", "\r"), ("\r\r\n", "\r\n")],
)
def test_the_most_frequent_line_end_prevails(text: str, newline: str) -> None:
    """Of several line ends as frequent as each other, LF is taken, else CRLF."""
    assert newline_of(text) == newline


def test_with_newlines_writes_every_line_end_alike() -> None:
    """CRLF counts as one line end, whichever is written."""
    assert with_newlines("a\r\nb\rc\n", "\n") == "a\nb\nc\n"
    assert with_newlines("a\r\nb\rc\n", "\r\n") == "a\r\nb\r\nc\r\n"
    assert with_newlines("a\nb", "\r") == "a\rb"


def test_printable_writes_controls_out() -> None:
    """No terminal obeys what is printed, and text direction marks show."""
    assert printable("a\x1b[31mb\u202ec\x00\td\n") == "a\\x1b[31mb\\u202ec\\x00\td\n"
    assert printable("\ud800") == "\\ud800"


def test_size_is_the_same_with_any_line_ends() -> None:
    """Size counts bytes of UTF-8, and each line end as one."""
    assert size_in_bytes("ñ\r\n😀\r") == size_in_bytes("ñ\n😀\n") == 8


@pytest.mark.parametrize(
    ("text", "kept", "with_blanks"),
    [("a \t\n\n \nb", "a", "a \t"), ("a\r\n \r\n", "a", "a"), ("a", "a", "a"), (" \n\n", "", " "), ("\n ", "", "")],
)
def test_what_ends_a_part_is_no_content(text: str, kept: str, with_blanks: str) -> None:
    """Blank lines at the end do not count, nor do blanks, except at the end of the last line where one adds to it."""
    whole = f"before{text}"
    span = Span(len("before"), len(whole) - (text[-1:] == "b"))
    assert trimmed(whole, span).of(whole) == kept
    assert whole[span.start : end_of_content(whole, span)] == with_blanks


def test_comments_are_left_out() -> None:
    """A comment that never ends goes to the end of the text, or stays where that is asked for."""
    assert without_comments("a<!-- x -->b<!--->-->c<!-- d") == "abc"
    assert without_comments("a<!-- x -->b<!-- c", keep_open=True) == "ab<!-- c"

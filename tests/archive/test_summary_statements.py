from __future__ import annotations

import pytest

from taskstate.archive.summary_statements import MAX_LINE, Statement, cut, read_statement, said, united


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([3], "S3"),
        ([3, 5], "S3, S5"),
        ([1, 2], "S1, S2"),
        ([1, 2, 3], "S1-S3"),
        ([1, 2, 3, 4, 9], "S1-S4, S9"),
        ([5, 3, 3], "S3, S5"),
        ([1, 3, 5, 7, 9], "S1, S3, S5, S7, S9"),
        ([1, 3, 5, 7, 9, 11], "S1-S11"),
    ],
)
def test_sessions_behind_a_line(numbers: list[int], told: str) -> None:
    """Sessions are listed, those in a row are a range, and of many the first and the last are told."""
    statement = Statement("x", united((number, number) for number in numbers))
    assert str(statement) == f"x ({told})"
    read = read_statement(str(statement), 1, 99)
    assert read
    assert str(read) == str(statement)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x", "x (S1-S4)"),
        ("x (S2)", "x (S2)"),
        ("x  y (S9-S7, S2)", "x y (S2, S7-S9)"),
        ("x (S2) (S3)", "x (S2) (S3)"),
        ("x (see S2)", "x (see S2) (S1-S4)"),
        ("(S2)", "None"),
        ("None.", "None"),
    ],
)
def test_reading_a_line(line: str, told: str) -> None:
    """A line without sessions stands for all that the summary does; one that says nothing is none."""
    assert str(read_statement(line, 1, 4)) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Wrote it\nover two lines", ["Wrote it over two lines"]),
        ("Wrote it\n\nand more", ["Wrote it"]),
        ("Did:\n\n- [x] this\n- that\n  and more", ["this", "that and more"]),
        ("Did:", ["Did:"]),
        ("Title\n===\ntext", ["Title"]),
        ("> > quoted\n> more", ["quoted"]),
        ("~~~ python\nprint(1)\n\nprint(2)\n~~~", ["print(1)"]),
        ("```\n```", []),
        ("<!-- a\n\nb --> c", ["c"]),
        ("#12 is done", ["#12 is done"]),
        ("* * *\nthat", ["that"]),
        ("**n/a**", []),
    ],
)
def test_what_a_text_says(text: str, told: list[str]) -> None:
    """It is the first paragraph, or the list that this announces, without marks, code and comments."""
    assert [statement.text for statement in said(text, 3)] == told


@pytest.mark.parametrize(
    "line",
    [
        "word " * 100,
        "x" * 500,
        "A sentence that says enough to stand here alone. " + "more " * 100,
        "Short. " + "more " * 100,
        "Uses the form of e.g. Node and of several others, i.e. Deno and its like " + "more " * 100,
        "\u6587\u7ae0" * 30 + "\u3002" + "\u6587" * 200,
    ],
)
def test_a_cut_line_is_short_and_a_beginning(line: str) -> None:
    """A line is cut at a sentence's end or marked as cut, and is not cut again."""
    short = cut(line)
    assert len(short) <= MAX_LINE
    assert line.startswith(short.removesuffix("\u2026").rstrip())
    assert short.endswith((".", "\u3002", " \u2026"))
    assert cut(short) == short
    assert not short.endswith(("e.g.", "i.e."))

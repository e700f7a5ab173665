from __future__ import annotations

import pytest

from taskstate.archive.summary_statements import (
    MAX_LINE,
    Statement,
    merge_runs,
    read_statement,
    resolved_issues,
    shorten_line,
    shorten_words,
    statements_in,
    without_duplicates,
)


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
    statement = Statement("x", merge_runs((number, number) for number in numbers))
    assert str(statement) == f"x ({told})"
    read = read_statement(str(statement), 1, 99)
    assert read
    assert str(read) == str(statement)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Fixed the bug", "fixed  the Bug."),
        ("It works", "It works!"),
        ("\u4fee\u590d\u4e86\u89e3\u6790\u5668", "\u4fee\u590d\u4e86\u89e3\u6790\u5668\u3002"),
        ("!!!", "!!!"),
    ],
)
def test_same_statements_are_one(earlier: str, later: str) -> None:
    """Case, spacing and end punctuation make no other statement; the first one stands for the sessions of both."""
    both = [Statement(earlier, ((1, 1),)), Statement(later, ((2, 2),))]
    assert without_duplicates(both) == [Statement(earlier, ((1, 2),))]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Added the clicks column", "Renamed the internal helpers"),
        ("Added tests for the parser", "Add parser tests"),
        ("Fixed the bug in the login form", "Fixed the bug in the login form validation"),
        ("Documented the retry behaviour", "Documented the retry behavoiur"),
        ("Began src/a.py", "Finished src/a.py"),
        ("Limit is > 3", "Limit is < 3"),
        ("Saw one", "Saw two"),
    ],
)
def test_other_words_are_another_statement(earlier: str, later: str) -> None:
    """Statements are never joined by what they seem to be about."""
    both = [Statement(earlier, ((1, 1),)), Statement(later, ((2, 2),))]
    assert without_duplicates(both) == both


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("Resolved: Clock skew", "Clock skew"),
        ("fixed Clock skew.", "Clock skew"),
        ("Solved - Clock skew", "Clock skew"),
        ("Clock skew: resolved", "Clock skew"),
        ("Clock skew is fixed", "Clock skew"),
        ("Clock skew (solved)!", "Clock skew"),
        ("Resolved: Not verified: the retry", "Not verified: the retry"),
        ("Not verified: the retry is fixed", ""),
        ("not verified: Clock skew (resolved)", ""),
        ("Clock skew fixed?", ""),
        ("Clock skew", ""),
        ("Resolved", ""),
        ("Fixed-width columns", ""),
    ],
)
def test_what_a_statement_says_is_resolved(text: str, issue: str) -> None:
    """An issue is resolved by its own words, with "resolved", "fixed" or "solved" before or behind them."""
    assert [*resolved_issues(text), ""][0] == issue


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
    assert [statement.text for statement in statements_in(text, 3)] == told


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
    short = shorten_line(line)
    assert len(short) <= MAX_LINE
    assert line.startswith(short.removesuffix("\u2026").rstrip())
    assert short.endswith((".", "\u3002", " \u2026"))
    assert shorten_line(short) == short
    assert not short.endswith(("e.g.", "i.e."))


@pytest.mark.parametrize(
    ("most", "latest", "expected"),
    [
        (45, 0, "Set up the package `ledger` with its tests …"),
        (45, 64, "Set up the package `ledger` with its tests; it failed …"),
        (66, 0, "Set up the package `ledger` with its tests; it failed …"),
        (66, 88, "Set up the package `ledger` with its tests; it failed because a pickle is no format …"),
        (30, 0, "Set up the package `ledger` …"),
    ],
)
def test_a_line_is_cut_where_a_clause_ends_near(most: int, latest: int, expected: str) -> None:
    """A clause that ends near stays whole, also somewhat later than asked; else the cut is after a word."""
    line = "Set up the package `ledger` with its tests; it failed because a pickle is no format, and so on"
    assert shorten_words(line, most, latest) == expected

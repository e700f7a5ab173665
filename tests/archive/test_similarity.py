from __future__ import annotations

import time

import pytest

from taskstate.archive.similarity import joined_alike, superseded
from taskstate.archive.summary_statements import Statement


def statements(*texts: str) -> list[Statement]:
    """Return statements of the sessions from 1 on."""
    return [Statement(text, ((number, number),)) for number, text in enumerate(texts, 1)]


def shown(found: list[Statement]) -> list[str]:
    """Return statements as lines."""
    return [str(each) for each in found]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Fixed the bug", "fix bugs"),
        ("Implemented token refresh", "Added the token refresh."),
        ("Wrote parser tests", "Added tests for the parser"),
        ("Stopped the flaky tests", "Stopping flaky tests"),
        ("Moved a into b", "Move a into b"),
        ("Documented the retry behaviour of uploads", "Documented the retry behavoiur of uploads"),
        ("\u4fee\u590d\u4e86\u89e3\u6790\u5668", "\u4fee\u590d\u4e86\u89e3\u6790\u5668\u3002"),
        ("!!!", "!!!"),
    ],
)
def test_the_same_in_other_words(earlier: str, later: str) -> None:
    """Endings, articles, synonyms, order and a slip of the pen make no other statement; the first one stands."""
    assert shown(joined_alike(statements(earlier, later))) == [f"{earlier} (S1, S2)"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Did thing number 3", "Did thing number 4"),
        ("Added the login form", "Added the logout form"),
        ("Added the login form", "Added the login form tests"),
        ("The upload works on Windows", "The upload does not work on Windows"),
        ("Moved the parser into the lexer", "Moved the lexer into the parser"),
        ("Renamed getUser here", "Renamed getuser here"),
        ("Ported it to C++", "Ported it to C#"),
        ("Limit is > 3", "Limit is < 3"),
        ("Started the upload page", "Finished the upload page"),
        ("Made installs of plugins faster there", "Made uninstalls of plugins faster there"),
        ("Set the upper retry limit to 10.5", "Set the upper retry limit to 10.6"),
        ("\u4fee\u590d\u4e86\u89e3\u6790\u5668", "\u5220\u9664\u4e86\u89e3\u6790\u5668"),
    ],
)
def test_what_differs_stays_apart(earlier: str, later: str) -> None:
    """Other numbers, names, negations and directions make another statement."""
    assert len(joined_alike(statements(earlier, later))) == 2


def test_later_statement_that_says_more_stands() -> None:
    """Of two of which the later says all that the earlier does and a word more, the later stands."""
    earlier, later = "Fixed the bug in the login form", "Fixed the bug in the login form validation"
    assert shown(joined_alike(statements(earlier, later))) == [f"{later} (S1, S2)"]
    assert len(joined_alike(statements("Uploads of large files work", "Uploads of large files never work"))) == 2


@pytest.mark.parametrize(
    ("earlier", "later", "same"),
    [
        ("Began src/a.py", "Finished `src/a.py`", True),
        ("Began ./src/a.py", "src/a.py:42 fixed", True),
        ("Began setup.cfg", "Finished setup.cfg", True),
        ("Began src/a.py", "Finished lib/a.py", False),
        ("Began src/a.py", "Finished src/a.py and src/b.py", False),
        ("Tried Node.js", "Left Node.js", False),
        ("Tried 1.2 and/or 1.3", "Left 1.2 and/or 1.3", False),
        ("See https://example.org/a.html", "Wrote to https://example.org/a.html", False),
        ("F-1 begun", "f-1 ended in a.py", True),
        ("F-1 begun", "F-12 ended", False),
        ("F-1 begun", "my-F-1 ended", False),
    ],
)
def test_what_two_statements_are_about(earlier: str, later: str, *, same: bool) -> None:
    """The later of two about the same files, or features, stands."""
    found = shown(superseded(statements(earlier, later), ["F-1", "F-12"]))
    assert found == ([f"{later} (S1, S2)"] if same else [f"{earlier} (S1)", f"{later} (S2)"])


@pytest.mark.parametrize(
    "text", ["Did thing number {0} at length", "Fixed src/file{0}.py in the common way", "{0} " + "word " * 30]
)
def test_time_grows_with_the_number_of_statements(text: str) -> None:
    """Ten times as many statements take about ten times as long, not a hundred times."""

    def seconds(count: int) -> float:
        made = statements(*(text.format(number) for number in range(count)))
        begun = time.process_time()
        superseded(joined_alike(made), ["F-1"])
        return time.process_time() - begun

    assert min(seconds(2000) for _ in range(3)) < 30 * min(seconds(200) for _ in range(3))

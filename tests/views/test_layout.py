"""What fits a width, and how ages and times are told."""

from __future__ import annotations

import pytest

from taskstate.views import layout
from taskstate.views.layout import Screen

NOW = "2026-02-03T12:00:00Z"


@pytest.mark.parametrize(
    ("since", "age", "time"),
    [
        ("2026-02-03T11:22:30Z", "37 min", "2026-02-03 11:22Z"),
        ("2026-02-03T07:44:00Z", "4 h 16", "2026-02-03 07:44Z"),
        ("2026-01-30T12:00:00Z", "4 days", "2026-01-30 12:00Z"),
        ("2026-02-04T12:00:00Z", "2026-02-04 12:00Z", "2026-02-04 12:00Z"),
        ("", "", ""),
        ("yesterday\n", "yesterday\\n", "yesterday\\n"),
    ],
)
def test_ages_are_for_a_terminal_and_times_for_a_pipe(since: str, age: str, time: str) -> None:
    """A time ahead of the clock has no age; what is no time stays as it is."""
    assert (Screen(NOW, is_live=True).age(since), Screen(NOW).age(since)) == (age, time)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("short", "short     "),
        ("rather long", "rather lo…"),
        ("a\n b\x1b", "a\\n b\\x1b "),
        ("漢字漢字漢字", "漢字漢字… "),
        ("e\u0301e\u0301", "e\u0301e\u0301        "),
    ],
)
def test_a_text_takes_just_so_many_columns(text: str, shown: str) -> None:
    """Wide characters take two, and what controls a terminal is written out."""
    assert layout.fit(text, 10) == shown
    assert layout.cells(layout.fit(text, 10)) == 10


def test_the_branch_is_not_cut_away() -> None:
    """The text is cut first, and of a very long branch the end."""
    assert layout.labelled("Rotate signing keys", "main", 16) == "Rotate s… [main]"
    assert layout.labelled("Keys", "", 6) == "Keys  "
    assert layout.cells(layout.labelled("Keys " * 9, "b" * 40, 30)) == 30


def test_a_long_command_goes_on_behind_a_backslash() -> None:
    """So it works when it is copied; one that fits is in one line."""
    words = 'taskstate snapshot resolve 104 --note "WHY" --root /a/b'
    assert [*layout.command(words, Screen(NOW), 2)] == [f"  {words}"]
    folded = [*layout.command(words, Screen(NOW, width=40), 2)]
    assert folded == ["  taskstate snapshot resolve 104 \\", '    --note "WHY" --root /a/b']
    assert "".join(folded).replace("\\", "").split() == words.split()


def test_bars_are_for_a_terminal() -> None:
    """A pipe has the numbers; of nothing there is no bar."""
    live = Screen(NOW, is_live=True)
    assert (live.bar(5, 8), live.bar(0, 0), Screen(NOW).bar(5, 8)) == ("######....", "", "")


def test_a_credential_is_masked_before_it_is_cut() -> None:
    """Half of one would not be known for one, neither at the end of a line nor at the beginning of the next."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    for said in (
        layout.fit(f"a title {token}", 30),
        "".join(layout.wrapped(f"a title {token}", Screen(NOW, width=40))),
    ):
        assert "ghp_" not in said
        assert "****" in said


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("short  enough", ["short  enough"]),
        ("see `taskstate show 1 --section NAME` for it", ["see", "  `taskstate show 1 --section NAME`", "  for it"]),
        ("101  done  a title that goes on", ["101  done  a title that", "           goes on"]),
        ("  an indented text that goes on", ["  an indented text that", "    goes on"]),
        ("note  .taskstate/tasks/task-101.md: no", ["note", "  .taskstate/tasks/task-101.md:", "      no"]),
    ],
)
def test_what_is_too_wide_goes_on_below(line: str, shown: list[str]) -> None:
    """Below its last column, or a little to the right; no word is broken, and no command that is to be copied."""
    assert layout.folded(line, 24).split("\n") == shown


def test_a_table_that_does_not_fit_has_a_paragraph_for_each_row() -> None:
    """What is empty is left out there."""
    rows = [("ROLE", "STATUS", "DIFF"), ("implementer", "in progress", "-"), ("reviewer", "pending", "1 file")]
    wide = ["ROLE         STATUS       DIFF", "implementer  in progress  -", "reviewer     pending      1 file"]
    assert layout.table(rows, 40) == wide
    narrow = ["implementer", "  status: in progress", "reviewer", "  status: pending", "  diff: 1 file"]
    assert layout.table(rows, 30) == narrow

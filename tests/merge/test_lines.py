from __future__ import annotations

import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from taskstate.merge.lines import lines_of, matching_lines, merge_lines, merge_text, with_markers
from taskstate.units.three_way import Versions, interleave
from tests.support.merging import merge_texts

if TYPE_CHECKING:
    from pathlib import Path

BASE = "one\ntwo\n\nthree\n\nfour\n"


@pytest.mark.parametrize(
    ("ours", "theirs", "merged"),
    [
        ("ONE\ntwo\n\nthree\n\nfour\n", "one\ntwo\n\nthree\n\nFOUR\n", "ONE\ntwo\n\nthree\n\nFOUR\n"),
        ("one\ntwo\n\nthree\n\nfour\nfive\n", "zero\n" + BASE, "zero\none\ntwo\n\nthree\n\nfour\nfive\n"),
        ("one\n\nthree\n\nfour\n", BASE + "five\n", "one\n\nthree\n\nfour\nfive\n"),
        ("one\ntwo\n\nsame\n\nfour\n", "one\ntwo\n\nsame\n\nfour\nmore\n", "one\ntwo\n\nsame\n\nfour\nmore\n"),
        ("", BASE, ""),
    ],
    ids=["apart", "both ends", "removed and added", "the same on both", "all removed"],
)
def test_changes_of_both_are_taken_over(ours: str, theirs: str, merged: str, tmp_path: Path) -> None:
    """What the sides changed in different places, or alike, is in the result; git says the same."""
    assert merge_texts(BASE, ours, theirs, "x.md") == (merged, 0)
    for name, text in (("base", BASE), ("ours", ours), ("theirs", theirs)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, text=True).stdout == merged


def test_conflict_has_markers_around_it_alone() -> None:
    """Where both changed the same lines, these stand between markers, ours first, and the rest is merged."""
    text, conflicts = merge_texts(BASE, BASE.replace("two", "2").replace("four", "4"), BASE.replace("two", "zwei"), "x")
    assert conflicts == 1
    assert text == "one\n<<<<<<< ours\n2\n=======\nzwei\n>>>>>>> theirs\n\nthree\n\n4\n"


def test_one_side_is_preferred() -> None:
    """Each preference gives a text without markers; where they differ is the conflict."""
    versions = Versions("a\nb\n", "a\nB\n", "a\nb2\nc\n")
    assert (merge_text(versions, "ours"), merge_text(versions, "theirs")) == ("a\nB\n", "a\nb2\nc\n")
    assert with_markers(["a\n", "b\n"], ["a\n", "b\n"]) == ("a\nb\n", 0)


def test_no_conflict_has_two_equal_sides() -> None:
    """What one side has as one item and the other line by line is the same."""
    text, conflicts = with_markers(["a\n", "c\n", "b:\n  d\n"], ["A\n", "c\n", "b:\n", "  d\n"])
    assert (text, conflicts) == ("<<<<<<< ours\na\n=======\nA\n>>>>>>> theirs\nc\nb:\n  d\n", 1)


@pytest.mark.parametrize("base", [["a\n", "\n"], ["a\n"]])
def test_union_keeps_what_both_added(base: list[str]) -> None:
    """With union, lines that both added at one place are all kept, equal ones once; a blank line stays behind them."""
    versions = Versions(base, ["a\n", "b\n", "c\n", "\n"], ["a\n", "b\n", "d\n", "\n"])
    assert merge_lines(versions, "ours", union=True) == ["a\n", "b\n", "c\n", "d\n", "\n"]


@pytest.mark.parametrize(
    ("first", "second"),
    [("{a}.{b}", "{b}.{a}"), ("...", "....."), ("a.b.c.d", "b.d.a.c"), ("", "a"), ("abcabc", "cabcab")],
)
def test_matching_lines_rise_on_both_sides(first: str, second: str) -> None:
    """Lines that are paired are equal, and no two pairs cross."""
    pairs = matching_lines(list(first), list(second))
    assert all(first[here] == second[there] for here, there in pairs)
    assert all(one[0] < two[0] and one[1] < two[1] for one, two in pairwise(pairs))
    assert bool(pairs) == bool(set(first) & set(second))


def test_a_hundred_thousand_equal_lines_take_no_time() -> None:
    """Where no line stands only once, a large text is not compared line by line with every other one."""
    many = "\n" * 50_000
    text, conflicts = merge_texts(f"a\n{many}b\n", f"{many}x\n{many}", f"y\n{many}z\n", "x")
    assert conflicts
    assert {"x", "y", "z"} <= set(text.split("\n"))


def test_lines_end_at_line_feeds_alone() -> None:
    """A form feed or U+2028 ends no line, and a text without a line end at its end keeps its last line."""
    assert lines_of("a\x0cb\u2028c\n\nd") == ["a\x0cb\u2028c\n", "\n", "d"]
    assert lines_of("") == []


def test_lists_are_interleaved() -> None:
    """What only theirs lists comes behind what precedes it there; rank decides between additions at one place."""
    assert interleave(["a", "b", "d"], ["a", "c", "d", "e"]) == ["a", "c", "b", "d", "e"]
    assert interleave(["a", "b", "d"], ["a", "c", "d"], "abcd".index) == ["a", "b", "c", "d"]


# Form


@pytest.mark.parametrize(
    ("ours", "merged"),
    [
        ("a\r\nb\r\nc\r\nX\r\n", "A\r\nb\r\nc\r\nX\r\n"),
        ("\ufeffa\nb\nc\nX\n", "\ufeffA\nb\nc\nX\n"),
        ("a\nb\nc\nX", "A\nb\nc\nX"),
        ("a\r\nb\nc\r\nX\r\n", "A\r\nb\nc\r\nX\r\n"),
        ("a\rb\rc\rX\r", "A\rb\rc\rX\r"),
    ],
    ids=["crlf", "bom", "no final line end", "mixed", "cr"],
)
def test_form_is_that_of_our_side(ours: str, merged: str) -> None:
    """Line ends, byte order mark and the end of the last line stay as on our side, whatever theirs has."""
    assert merge_texts("a\nb\nc\n", ours, "A\nb\nc\n", "x.md") == (merged, 0)
    assert merge_texts("a\nb\nc\n", ours, "A\r\nb\r\nc", "x.md") == (merged, 0)


def test_other_line_ends_alone_are_no_change() -> None:
    """Where ours differs from the base in its line ends alone, theirs is taken over with our line ends."""
    assert merge_texts("a\nb\n", "a\r\nb\r\n", "a\nB\nc\n", "task-7-state.md") == ("a\r\nB\r\nc\r\n", 0)

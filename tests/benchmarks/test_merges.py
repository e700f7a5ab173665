from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.merges import conflicts_as_text, count_conflicts, generate
from taskstate.units.three_way import Versions
from tests.support.merging import STATE, said

if TYPE_CHECKING:
    from pathlib import Path


def test_histories_are_the_same_each_time(tmp_path: Path) -> None:
    """One number gives one history, by the jobs that people use, and different numbers different ones."""
    first, again, other = (generate(tmp_path / name, number) for name, number in (("a", 1), ("b", 1), ("c", 2)))
    assert first == again != other
    assert first.base[STATE] not in (first.ours[STATE], first.theirs[STATE])
    assert said(first.ours).sessions != said(first.theirs).sessions


def test_conflicts_are_counted_both_ways(tmp_path: Path) -> None:
    """Of a few histories nearly all conflict as text, and fewer by meaning."""
    ours, text = count_conflicts(tmp_path, histories=6)
    assert ours < text <= 6


def test_text_merge_is_that_of_git() -> None:
    """Git's own merge says whether two texts conflict."""
    assert conflicts_as_text(Versions(b"a\n", b"b\n", b"c\n"))
    assert not conflicts_as_text(Versions(b"a\n\n\n\nb\n", b"A\n\n\n\nb\n", b"a\n\n\n\nB\n"))

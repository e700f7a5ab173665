"""What turns may cost, counted by the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from benchmarks.turns import turns

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_turns_cost_no_more_than_they_may(tmp_path: Path) -> None:
    """Commands and tokens of each turn, of the whole small job and of the sample project are within their limits."""
    measured = [each for each in turns(tmp_path) if not each.name.startswith("own time")]
    assert len(measured) == 16
    assert [each for each in measured if each.ratio > each.target] == []

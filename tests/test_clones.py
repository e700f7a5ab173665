"""Random histories in five clones: nothing is said of drift, diffs or what was left that is not so."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.clones import drawn, parsed, play

# Every step runs git and a command or two of ours, and every look a dozen of each: so these are few, and no shrinking.
# `python -m tests.clones` draws more of them, and `make torture` runs it.
HISTORIES = {
    "committed and pushed": "work:ann:0 share:ann:2 pull:shallow:0 pull:sparse:0 work:bob:1 share:bob:3",
    "only the state file": "work:ann:2 share:ann:0 work:bob:0 edit:bob:0 look:bob:0 share:ann:5 pull:sparse:0",
}
LONGEST = 8


@pytest.mark.slow
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_what_each_clone_says_is_so(tmp_path: Path, history: str) -> None:
    """Files that differ, their hashes, what was committed, and the diffs, in each clone after a history."""
    assert play(parsed(history), tmp_path) == []


@pytest.mark.slow
@given(seed=st.integers(0, 10_000))
@settings(max_examples=1, deadline=None, phases=(Phase.generate,))
def test_whatever_happens_what_each_clone_says_is_so(seed: int) -> None:
    """The same after any history."""
    steps = drawn(LONGEST, random.Random(seed))  # noqa: S311 - no secret is drawn
    with tempfile.TemporaryDirectory(prefix="taskstate-clones-") as folder:
        assert play(steps, Path(folder).resolve()) == [], " ".join(map(str, steps))

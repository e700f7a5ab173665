"""Histories in five clones: nothing is said of drift, diffs or what was left that is not so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.clones import parsed, play

if TYPE_CHECKING:
    from pathlib import Path

# Every step runs git and a command or two of ours, and every look a dozen of each: so these are few.
# `python -m tests.clones` draws others at random, and `make torture` runs it.
HISTORIES = {
    "committed and pushed": "work:ann:0 share:ann:2 pull:shallow:0 pull:sparse:0 work:bob:1 share:bob:3",
    "only the state file": "work:ann:2 share:ann:0 work:bob:0 edit:bob:0 look:bob:0 share:ann:5 pull:sparse:0",
}


@pytest.mark.slow
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_what_each_clone_says_is_so(tmp_path: Path, history: str) -> None:
    """Files that differ, their hashes, what was committed, and the diffs, in each clone after a history."""
    assert play(parsed(history), tmp_path) == []

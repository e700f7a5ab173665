from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.archive.integrity import ArchiveContents
from tests.support.place import Place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("gone", "numbers", "words"),
    [(1, [3], "session 3"), (2, [4, 5], "the sessions 4 and 5"), (3, [6, 7, 8], "the sessions 6 to 8")],
)
def test_batch_that_is_gone(tmp_path: Path, gone: int, numbers: list[int], words: str) -> None:
    """The batch behind a missing one replaced a summary of its sessions: exactly these are reported, at that batch."""
    place = Place(tmp_path / "repository")
    place.fill(*range(1, 11))
    for keep in (8, 7, 5, 2, 1):
        place.archive(keep=keep)
    batches = [batch.start for batch in ArchiveContents(place.archived).batches]
    text = place.archived[: batches[gone]] + place.archived[batches[gone + 1] :]
    (fault,) = ArchiveContents(text).faults
    assert (fault.at, [*fault.numbers]) == (batches[gone], numbers)
    assert fault.message == f"the batch with {words} is gone"

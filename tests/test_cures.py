"""What tries the cures that the tests meet tells one that works from one that does not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from tests.support import cures
from tests.support.place import TASK, Place

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("role", "set", TASK, "implementer", "--status", "in_progress")
CURES = {
    f'taskstate reopen {TASK} --note "WHY"': "",
    f"taskstate reopen {TASK}": "is refused: ",
    "taskstate new 102 --title other --description other": "it is said all the same",
}


def test_a_cure_that_does_not_work_is_told(tmp_path: Path) -> None:
    """Refused itself, or of no use; one that only reads has only to be no refusal. The repository stays as it is."""
    place = Place(tmp_path / "repository")
    place.text = place.text.replace("status: created", "status: dropped")
    before = place.text
    command = [sys.executable, "-m", "taskstate", *WORDS]
    done = subprocess.run(command, cwd=place.root, capture_output=True, text=True, check=False)
    (line,) = (each for each in done.stderr.splitlines() if "is dropped" in each)
    for cure, wrong in CURES.items():
        found = cures.fault(cures.Said(WORDS, line, cure), place.root, b"")
        assert found.startswith(wrong), cure
        assert bool(found) == bool(wrong), cure
    assert place.text == before


def test_what_a_person_fills_in_is_not_run() -> None:
    """A text in quotes is as good as another; a file, a role or a number is not."""
    assert cures.is_literal('taskstate reopen 101 --note "WHY"')
    assert not cures.is_literal("taskstate finish 101 --qa-log LOG")

"""Each pair of files in `tests/cases/migrate`: NAME.before.md of an older form, and NAME.after.md that comes of it.

A new case needs no Python: write the first file, run `python -m tests.migration.test_cases`, and read the second.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from taskstate.formatting.formatter import format_text
from taskstate.migration.state_file import migrated
from taskstate.model.older_sections import is_older
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse

CASES = Path(__file__).parents[1] / "cases" / "migrate"
NAMES = sorted(path.name.removesuffix(".before.md") for path in CASES.glob("*.before.md"))
PATH = ".taskstate/tasks/task-101-state.md"


def before(name: str) -> str:
    """Return the older file of a case, its line ends as they are."""
    return (CASES / f"{name}.before.md").read_bytes().decode()


def after(text: str) -> str:
    """Return what a file of an older form becomes."""
    return migrated(text, PATH, "101", "2026-01-31T12:00:00Z").text


def words(text: str) -> Counter[str]:
    """Return the words of a text with letters or digits."""
    return Counter(word.casefold() for word in text.split() if any(map(str.isalnum, word)))


@pytest.mark.parametrize("name", NAMES)
def test_the_older_file_becomes_the_newer(name: str) -> None:
    """Byte for byte as the case says."""
    assert is_older(parse(before(name)))
    assert after(before(name)).encode() == (CASES / f"{name}.after.md").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_the_result_is_of_the_present_form(name: str) -> None:
    """It is read without a problem, is in canonical form, and is not migrated a second time."""
    result = after(before(name))
    assert not read_state(parse(result)).problems
    assert not is_older(parse(result))
    assert format_text(result, PATH) == result


if __name__ == "__main__":
    for each in NAMES:
        (CASES / f"{each}.after.md").write_bytes(after(before(each)).encode())

"""State files as people wrote them by hand: `tests/cases/migrate/hand-written/NAME.md`, and what comes of each.

Below `%%% afterwards` stand its features (with group and notes), the headings of its log, what the command says, the
findings, and last the words that are another text now: labels, times and zones. A new case needs no Python: write the
file, run `python -m tests.migration.test_hand_written`, and read what it added.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.formatting.formatter import format_text
from taskstate.lint import engine
from taskstate.migration.state_file import migrated
from taskstate.model.config import Config
from taskstate.model.task_state import read_state
from taskstate.syntax.document import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.migration.state_file import Migrated

CASES = Path(__file__).parents[1] / "cases" / "migrate" / "hand-written"
NAMES = sorted(path.stem for path in CASES.glob("*.md"))
MARK = "\n%%% afterwards\n"
PATH = ".taskstate/tasks/task-101-state.md"


def parts_of(name: str) -> tuple[str, str, Migrated]:
    """Return the older file of a case, what is expected of it, and what comes of it."""
    before, _, expected = (CASES / f"{name}.md").read_text(encoding="utf-8").partition(MARK)
    return before, expected, migrated(before, PATH, "101", "2026-12-31T12:00:00Z")


def words(text: str) -> set[str]:
    """Return the words of a text."""
    return {word.casefold() for word in re.findall(r"\w+", text)}


def told(before: str, done: Migrated) -> Iterator[str]:
    """Yield what a case says of its older file."""
    document = parse(done.text)
    state = read_state(document)
    for each in state.checklist.features if state.checklist else ():
        value = each.node.value()
        more = "".join(f"; {key}: {value[key]!r}" for key in ("x-group", "notes") if key in value)
        yield f"[{'x' if each.passes else ' '}] {each.id} {each.description}{more}"
    log = state.section("Progress Log")
    yield from (f"### {each.title}" for each in document.children(log, 3)) if log else ()
    yield from (f"said: {note}" for note in done.notes)
    for found in engine.findings(done.text.encode(), PATH, Config()):
        yield f"line {found.line}: {found.diagnostic.code} {found.diagnostic.message}"
    gone = words(before) - words(done.text) - words(" ".join(done.notes))
    yield f"other words for: {' '.join(sorted(gone))}"


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_of_a_file_written_by_hand(name: str) -> None:
    """Features, sessions, remarks and findings are those of the case, and no word is gone that it does not name."""
    before, expected, done = parts_of(name)
    assert "\n".join(told(before, done)) == expected.strip("\n")
    assert format_text(done.text, PATH) == done.text


@pytest.mark.parametrize("name", NAMES)
def test_as_many_boxes_come_out_as_went_in(name: str) -> None:
    """Each box of a list is a feature with the same mark, or stands as it was in a text of the file."""
    before, _, done = parts_of(name)
    checklist = read_state(parse(done.text)).checklist
    features = checklist.features if checklist else ()
    for mark, text in re.findall(r"(?m)^[ \t]*(?:[-*+]|\d+\.)[ \t]+\[([ xX])\][ \t]+(\S.*)", before):
        said = [each.passes for each in features if each.description.startswith(text.strip())]
        assert (mark != " ") in said or f"[{mark}] {text}" in done.text, text


if __name__ == "__main__":
    for each in NAMES:
        old, _, new = parts_of(each)
        (CASES / f"{each}.md").write_text(f"{old}{MARK}" + "\n".join(told(old, new)) + "\n", encoding="utf-8")

"""Each part of a state file with each damage is told by the rule that the table names, once and there."""

from __future__ import annotations

import pytest

from taskstate.lint import engine
from taskstate.model.config import Config
from tests.support import coverage
from tests.support.lint_corpus import CaseQueries

CELLS = list(coverage.cells())
QUERIES = CaseQueries({"name": [coverage.WHOLE.name]}, [("earlier", coverage.committed())])
STAYS = {"twice", "renamed", "wrong type", "wrong value"}  # then there is a line to be told


def found_in(text: str) -> list[tuple[str, int]]:
    """Return code and line of each finding in a text."""
    found = engine.findings(text.encode(), coverage.WHOLE.name, Config(), QUERIES)
    return [(each.diagnostic.code, each.line) for each in found]


def test_the_whole_file_is_healthy() -> None:
    """Of the file that has each part nothing is told."""
    assert found_in(coverage.whole()) == []


def test_the_table_has_each_part_with_each_damage() -> None:
    """What the format's tables have is in the table of cells, and nothing else is."""
    told = {(part, damage) for part, row in coverage.table().items() for damage in row}
    assert told == {(cell.part, cell.damage) for cell in CELLS}


@pytest.mark.parametrize("damage", sorted({cell.damage for cell in CELLS}))
def test_each_damage_is_told_by_its_rule(damage: str) -> None:
    """A damage gives one finding, of the rule of its cell, at its line; where the cell has a reason, none."""
    table, wrong = coverage.table(), []
    for cell in (each for each in CELLS if each.damage == damage):
        said, found = table[cell.part][damage], found_in(cell.text)
        expected = [] if " " in said else [said]
        is_there = damage not in STAYS or all(abs(line - cell.line) <= 1 or said in ELSEWHERE for _, line in found)
        if [code for code, _ in found] != expected or not is_there:
            wrong.append((cell.part, said, found, cell.line))
    assert wrong == []


# What is told where the part is missed, although something stands in its place: the finding names that line.
ELSEWHERE = {"TS208", "TS307"}

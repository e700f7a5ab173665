"""Each part of each kind of document with each damage is told by the rule that its table names, once and there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine
from taskstate.model.config import Config
from tests.support import coverage

if TYPE_CHECKING:
    import re

NAMES = [name for table in coverage.TABLES for name in table.files]
CELLS = {table.kind: table.cells() for table in coverage.TABLES}
DAMAGES = [(kind, damage) for kind, cells in CELLS.items() for damage in sorted({cell.damage for cell in cells})]
TABLES = {table.kind: table.said for table in coverage.TABLES}
# What is told of what is left, where that stands: counts, an input, a passed feature, the log, the first other line.
ELSEWHERE = {"TS105", "TS311", "TS408", "TS808", "TS903", "TSP07"}
queries = cache(coverage.queries)


def found_in(text: str, name: str, damage: str = "") -> list[tuple[str, int]]:
    """Return code and line of each finding in a text."""
    found = engine.findings(text.encode(), name, Config(), queries(name, damage))
    return [(each.diagnostic.code, each.line) for each in found]


@pytest.mark.parametrize("name", NAMES)
def test_the_whole_files_are_healthy(name: str) -> None:
    """Of the files that have each part nothing is told."""
    text = coverage.whole(name)
    assert found_in(text, name) == found_in(text, name, coverage.CHANGED) == []


@pytest.mark.parametrize("kind", CELLS)
def test_the_table_has_each_part_with_each_damage(kind: str) -> None:
    """What the format's tables have is in the table of cells, and nothing else is."""
    told = {(part, damage) for part, row in TABLES[kind].items() for damage in row}
    assert told == {(cell.part, cell.damage) for cell in CELLS[kind]}


@pytest.mark.parametrize(("kind", "damage"), DAMAGES)
def test_each_damage_is_told_by_its_rule(kind: str, damage: str) -> None:
    """A damage gives one finding, of the rule of its cell, at its line; where the cell has a reason, none."""
    said, wrong = TABLES[kind], []
    for cell in (each for each in CELLS[kind] if each.damage == damage):
        code = coverage.CODE.fullmatch(said[cell.part][damage])
        found = found_in(cell.text, cell.name, damage)
        if [each for each, _ in found] != ([code[1]] if code else []) or not all(
            _is_there(cell, line, code) for _, line in found
        ):
            wrong.append((cell.part, said[cell.part][damage], found, cell.line))
    assert wrong == []


def _is_there(cell: coverage.Cell, line: int, code: re.Match[str] | None) -> bool:
    """Return whether a line is that of a damage; of what is not there any more it may be that of what holds it."""
    is_held = cell.damage in {"missing", "moved"} and (not cell.within or abs(line - cell.within) <= 1)
    is_of_rest = cell.damage in {"missing", coverage.CHANGED} and code and code[1] in ELSEWHERE
    return abs(line - cell.line) <= 1 or is_held or bool(is_of_rest or (code and code[2] and line < cell.line))

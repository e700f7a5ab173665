"""The ready-made questions: each finds what was planted for it in a small repository, and nothing else."""

from __future__ import annotations

import csv
import io
import re
import tomllib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from taskstate.errors import TaskstateError
from taskstate.query import engine, index, questions, tables

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.cli.conftest import Cli
    from tests.support.place import Place

CASES = Path(__file__).parents[1] / "cases" / "query"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def _case(name: str) -> Mapping[str, Any]:
    return tomllib.loads((CASES / f"{name}.toml").read_text(encoding="utf-8"))


def _plant(place: Place, case: Mapping[str, Any]) -> None:
    place.path.unlink()
    place.configure(case.get("config", ""))
    for name, text in case["files"].items():
        path = place.workspace.state_root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.removeprefix("\n").replace("{TOKEN}", TOKEN), encoding="utf-8")


def test_every_question_has_a_case() -> None:
    """No question is without a planted answer, and no case without a question."""
    assert {path.stem for path in CASES.iterdir()} == {*questions.names()}


@pytest.mark.parametrize("name", questions.names())
def test_a_question_finds_what_was_planted(cli: Cli, name: str) -> None:
    """The answer is exactly the expected rows, in their order; asked again, it has the same bytes."""
    case = _case(name)
    _plant(cli.place, case)
    words = ("query", name, "--output-format", "csv", *(f"--param={each}" for each in case.get("param", ())))
    answer = cli.ok(*words)
    assert [*csv.reader(io.StringIO(answer))] == [*csv.reader(io.StringIO(case["answer"].removeprefix("\n")))], answer
    assert cli.ok(*words) == answer
    assert TOKEN not in answer


# Values of columns that questions look for; all others have some of their type, of which many rows have the same.
WORDS = {
    "status": ("blocked", "in_progress", "complete", "open", "created"),
    "role": ("baseline", "reviewer", "validator"),
    "code": ("TS951", "TS001"),
    "kind": ("task", "permanent"),
    "state": ("ok", "not-utf8"),
}
VALUES = {
    "VARCHAR": ("a", "b", None),
    "BIGINT": (0, 1, 2, None),
    "BOOLEAN": (True, False, None),
    "TIMESTAMP": ("2026-06-01 08:00:00", "2026-06-08 08:00:00", "2026-06-09 08:00:00", None),
}


def _alike(table: tables.Table, random: Random) -> list[dict[str, object]]:
    """Return rows of which no two have the same key, and many the same of everything else."""
    found = {}
    for _ in range(600):
        row: dict[str, object] = {
            name: random.choice(WORDS.get(name, VALUES[column.type])) for name, column in table.columns.items()
        }
        row |= {
            name: random.choice("cdefghij")
            for name in table.key
            if table.columns[name].type == "VARCHAR" and not row[name]
        }
        row |= {name: random.randrange(9) for name in table.key if table.columns[name].type == "BIGINT"}
        if "code" in row:
            row |= {"name": row["code"]}
        found[tuple(row[name] for name in table.key)] = row
    return [*found.values()]


def _filled(rows: Mapping[str, list[dict[str, object]]], folder: Path) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    for name, listed in rows.items():
        connection.execute(tables.create(name))
        engine.load(connection, name, index.written(folder, name, listed), tables.types(name))
    return connection


def test_answers_have_one_order(tmp_path: Path) -> None:
    """In whatever order rows lie in the tables, an answer has the same; without any row there is none."""
    random = Random(7)  # noqa: S311 - reproducible on purpose
    rows = {name: _alike(table, random) for name, table in tables.tables().items()}
    turned = {name: random.sample(listed, len(listed)) for name, listed in rows.items()}
    bounds = engine.Bounds(512, 1)
    folders = [tmp_path / name for name in ("one", "other", "none")]
    for folder in folders:
        folder.mkdir()
    contents: tuple[Mapping[str, list[dict[str, object]]], ...] = (rows, turned, {name: [] for name in rows})
    connections = [_filled(content, folder) for content, folder in zip(contents, folders, strict=True)]
    for name in questions.names():
        asked = questions.question(name)
        given = questions.values(asked, {}, "2026-06-30T12:00:00Z")
        one, other, none = (engine.ask(each, asked.sql, given, bounds).rows for each in connections)
        assert one == other, name
        assert one, name
        assert none == [], name
    for each in connections:
        each.close()


@pytest.mark.parametrize("name", questions.names())
def test_parameters_of_questions_are_whole_numbers(name: str) -> None:
    """Each declared parameter stands in the SQL, has a default that it takes, and refuses what is no number."""
    asked = questions.question(name)
    values = questions.values(asked, {}, "2026-06-30T12:00:00Z")
    assert {*values} == set(re.findall(r"\$(\w+)", re.sub(r"(?m)^--.*$", "", asked.sql)))
    for each in asked.parameters:
        for wrong in ("x", "", "-1", "1.5", "1000000", "\u0661"):
            with pytest.raises(TaskstateError, match=f"{each.name} of {name} is '{wrong}'") as refused:
                questions.values(asked, {each.name: wrong}, "2026-06-30T12:00:00Z")
            assert refused.value.help == f"give a whole number up to 999999, such as {each.name}={each.default}"

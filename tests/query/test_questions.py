"""The ready-made questions: each finds what was planted for it in a small repository, and nothing else."""

from __future__ import annotations

import csv
import io
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from taskstate.query import questions

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

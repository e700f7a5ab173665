"""A flag that is given up works until its day, and is told with what takes its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.cli import parsers
from taskstate.cli.parsers import GivenUp
from taskstate.operations.index import COMMANDS, operations_of
from taskstate.operations.operation import SHARED, name_of

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

TABLE = (
    GivenUp("session add", "--text", "--did", "1.4", "2030-01-31"),
    GivenUp("", "--folder", "--root", "1.5", "2031-01-31"),
)
TOLD = "--text is given up since 1.4, and may be an error from 2030-01-31 on: use --did"


@pytest.fixture(autouse=True)
def _table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsers, "GIVEN_UP", TABLE)


@pytest.mark.parametrize("words", [("--text", "Renewed"), ("--text=Renewed",), ("--text", "Renewed", "--text", "Two")])
def test_it_works_and_is_told_in_one_line(cli: Cli, place: Place, words: tuple[str, ...]) -> None:
    """What it was given is recorded, and standard error names the day and the other flag, once."""
    result = cli("session", "add", "101", *words, "--state", "Fine.", "--next", "Go on.")
    assert (result.status, result.err.count(TOLD), result.err.count("\n")) == (0, 1, 1)
    assert "Renewed" in place.text


def test_one_that_commands_share_works_in_each(cli: Cli, place: Place) -> None:
    """The row of a common flag names no operation."""
    assert "use --root" in cli("list", "--folder", place.root).err


@pytest.mark.parametrize(
    "arguments",
    [
        ("session", "add", "101", "--did", "A.", "--state", "B.", "--next", "C."),
        ("session", "add", "101", "--did", "--text is old", "--state", "B.", "--next", "C."),
        ("search", "--", "--text"),
    ],
)
def test_what_is_no_such_flag_is_told_nothing(cli: Cli, arguments: tuple[str, ...]) -> None:
    """Today's flag, a text that begins like an old one, and a word behind `--` are as ever."""
    assert "given up" not in cli(*arguments).err


def test_it_is_refused_where_it_never_was(cli: Cli) -> None:
    """The flag of another operation is unknown here."""
    assert "unknown option '--text'" in cli.refused("list", "--text", "A")


def test_it_is_in_no_help(cli: Cli) -> None:
    """Who reads the help learns the flag of today alone."""
    assert "--text" not in cli.ok("session", "add", "--help")


def test_each_row_names_a_flag_that_there_is_instead_of_one_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row about a flag that an operation still has would never let it be given."""
    monkeypatch.undo()
    for row in parsers.GIVEN_UP:
        operations = operations_of(row.operation.split()[0], COMMANDS) if row.operation else ()
        own = [each.fields for each in operations if each.name == row.operation] or SHARED.values()
        names = {name_of(field) for fields in own for field in fields}
        assert row.instead in names
        assert row.flag not in names

"""Commands that only read say so where a state file does not parse, and never answer as if it were empty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

OF_ONE = (
    ("role", "show", "101"),
    ("status", "101"),
    ("evidence", "show", "101"),
    ("evidence", "show", "101", "plan-1"),
    ("snapshot", "verify", "101", "--role", "implementer"),
)
OF_ALL = (("status",), ("next",), ("list",))


@pytest.mark.parametrize("command", [*OF_ONE, *OF_ALL])
def test_a_front_matter_that_does_not_parse_is_told(cli: Cli, place: Place, command: tuple[str, ...]) -> None:
    """With the line, with status 1, and with nothing that could be taken for an answer."""
    place.text = place.text.replace("title: ", "title: [", 1)
    result = cli(*command)
    told, name = (result.out, "damaged   101 ") if command == ("status",) else (result.err, "task-101-state.md")
    assert (result.status, name in told, "line 4" in told) == (1, True, True)
    answers = ("no evidence", "no snapshot", "all tasks are complete", "no task is in progress", "pending")
    assert not [each for each in answers if each in result.out + result.err]
    if command in OF_ONE:
        assert result.out == ""


@pytest.mark.parametrize("command", [*OF_ONE[:3], *OF_ALL])
def test_a_checklist_that_does_not_parse_is_told(cli: Cli, place: Place, command: tuple[str, ...]) -> None:
    """What the front matter says is shown all the same."""
    place.add("Began.")
    place.text = place.text.replace('"features": [', '"features": [,', 1)
    result = cli(*command)
    told, cure = (result.out, "lint .") if command == ("status",) else (result.err, "`taskstate lint` says how")
    assert (result.status, cure in told) == (1, True)
    assert "no feature of it is open" not in result.out

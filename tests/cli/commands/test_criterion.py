from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place


def test_criterion_is_checked_and_unchecked(cli: Cli, place: Place) -> None:
    """Each step is reported, and one that changes nothing too."""
    where = ".taskstate/tasks/task-101-state.md:"
    assert cli.ok("criterion", "check", "101", "2") == f"{where} criterion 2 checked\n"
    assert [each.checked for each in place.state.criteria] == [False, True]
    assert cli.ok("criterion", "check", "101", "2") == f"{where} nothing to change\n"
    assert cli.json("criterion", "uncheck", "101", "2")["changed"] is True
    assert cli.json("criterion", "uncheck", "101", "2")["changed"] is False


def test_dry_run_prints_the_diff(cli: Cli, place: Place) -> None:
    """A dry run shows the one character, and that nothing would change where that is so."""
    before = place.text
    diff = cli.ok("criterion", "check", "101", "1", "--dry-run")
    assert "-- [ ] Tokens verify\n+- [x] Tokens verify\n" in diff
    assert cli.ok("criterion", "uncheck", "101", "1", "--dry-run") == "nothing would change\n"
    assert place.text == before


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "required: ACTION"),
        (("toggle", "101", "1"), "unknown action"),
        (("check", "101"), "required: N"),
        (("check", "101", "one"), "invalid int value"),
        (("check", "101", "0"), "has no criterion 0: it has 2, counted from 1"),
        (("check", "101", "-1"), "has no criterion -1"),
        (("check", "101", "3"), "has no criterion 3: it has 2, counted from 1: `taskstate show 101` lists them"),
        (("check", "101", "9" * 5_000), "invalid int value"),
        (("check", "999", "1"), "there is no task 999"),
        (("uncheck", "101", "1", "--expect-revision", "1-0000"), "is at revision 1-"),
    ],
)
def test_what_cannot_be_checked_is_refused(cli: Cli, arguments: tuple[str, ...], what: str) -> None:
    """A wrong argument gives a one-line error, and nothing changes."""
    assert what in cli.refused("criterion", *arguments)

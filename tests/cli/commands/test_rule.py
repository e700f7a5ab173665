from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.lint.registry import rules

if TYPE_CHECKING:
    from tests.cli.conftest import Cli


def test_rules_are_listed(cli: Cli) -> None:
    """Every rule has a line, in the order of the codes, and an entry in JSON."""
    codes = [rule.RULE.code for rule in rules()]
    assert [line.split()[0] for line in cli.ok("rule").splitlines()] == codes
    assert [rule["code"] for rule in cli.json("rule")] == codes


@pytest.mark.parametrize("name", ["TS404", "ts404", "session-field-missing", "Session-Field-Missing"])
def test_rule_has_a_page(cli: Cli, name: str) -> None:
    """A rule is found by its code or its name, in any case, and its page has what, why and an example."""
    page = cli.ok("rule", name)
    assert "TS404" in page
    assert all(heading in page for heading in ("What", "Why", "Example", "Instead"))
    assert cli.json("rule", name)["code"] == "TS404"


def test_every_rule_has_a_page(cli: Cli) -> None:
    """No rule is without its page."""
    assert [rule.RULE.code for rule in rules() if len(cli.ok("rule", rule.RULE.code)) <= 200] == []


@pytest.mark.parametrize("name", ["TS605", "head-moved"])
def test_a_retired_rule_says_so(cli: Cli, name: str) -> None:
    """Its page tells why it went; the list has it no more."""
    assert "Retired: nothing is checked any more." in cli.ok("rule", name)
    assert cli.json("rule", name)["retired"] is True
    assert "TS605" not in cli.ok("rule")


@pytest.mark.parametrize("name", ["TS999", "nope", "\x1b[31m"])
def test_unknown_rule_is_refused(cli: Cli, name: str) -> None:
    """An unknown code is refused, with the command that lists the rules."""
    assert "`taskstate rule` lists the rules" in cli.refused("rule", name)

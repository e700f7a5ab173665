"""Which rules are selected: by code, beginning of a code, name and ALL, and by the path or name of a file."""

from __future__ import annotations

import pytest

from taskstate.lint.diagnostics import Diagnostic
from taskstate.lint.registry import TABLE, rules
from taskstate.lint.selection import advice, is_known, selected_rules, unknown_in, weighted
from taskstate.model.config import Lint
from taskstate.syntax.spans import Span

STATE = ".taskstate/tasks/task-101-state.md"


def codes(lint: Lint, name: str = STATE) -> set[str]:
    """Return the codes of the selected rules."""
    return {row.code for row in selected_rules(lint, name)}


def test_a_row_has_the_name_of_its_rule() -> None:
    """The name in the table, which is that of the module, is the rule's own name."""
    assert [row.name for row in TABLE] == [rule.RULE.name for rule in rules()]


def test_rules_are_selected_by_name_and_all() -> None:
    """A name selects its rule, in any case, ALL every rule, and a code or name outweighs each wider selector."""
    every = {row.code for row in TABLE}
    assert codes(Lint(select=("secret",))) == {"TS951"}
    assert codes(Lint(select=("ALL",))) == codes(Lint(select=("all",))) == every
    assert codes(Lint(select=("ALL",), ignore=("Secret",))) == every - {"TS951"}
    assert codes(Lint(select=("secret",), ignore=("TS9", "ALL"))) == {"TS951"}
    assert codes(Lint(select=("ALL",), ignore=("ALL",))) == set()
    chosen = Lint(select=("TS95",), ignore=("TS951", "invisible-text", "path-escapes"), extend_select=("TS404",))
    assert codes(chosen) == {"TS404"}


@pytest.mark.parametrize("pattern", ["task-101-state.md", "task-101-*", STATE, ".taskstate/**", ".taskstate/tasks"])
def test_files_are_named_by_path_or_base_name(pattern: str) -> None:
    """A pattern of per-file-ignores matches the path from the root, or without `/` the name in any folder."""
    lint = Lint(per_file_ignores={pattern: ("secret", "TS404")})
    assert {row.code for row in TABLE} - codes(lint) == {"TS951", "TS404"}
    assert codes(lint, "elsewhere/task-7-state.md") == codes(Lint())


@pytest.mark.parametrize("pattern", ["tasks/task-101-state.md", "ask-101-state.md", "task-101-state.md/", "Task-101*"])
def test_other_files_are_not_meant(pattern: str) -> None:
    """A part of a path, a part of a name or another case is no match."""
    assert codes(Lint(per_file_ignores={pattern: ("ALL",)})) == codes(Lint())


def test_severity_is_set_by_name() -> None:
    """The narrowest selector decides the severity of a finding."""
    found = Diagnostic("TS951", "secret", "error", Span(0, 0), "it is wrong", "fix it")
    for severity, expected in (
        ({"secret": "warning"}, "warning"),
        ({"ALL": "warning", "TS9": "error"}, "error"),
        ({"TS4": "warning"}, "error"),
        ({}, "error"),
    ):
        assert weighted(found, Lint(severity=severity)).severity == expected


def test_what_no_rule_has_is_told() -> None:
    """Each selector that means no rule comes with its key; retired rules are known."""
    lint = Lint(select=("TS", "TS99"), ignore=("TS605",), per_file_ignores={"a": ("x-y",)}, severity={"TS4": "error"})
    assert list(unknown_in(lint)) == [("select", "TS99"), ('per-file-ignores."a"', "x-y")]
    assert list(unknown_in(Lint())) == []
    assert not is_known("")
    assert advice("secrets").startswith("did you mean secret? ")
    assert advice("TS4044").startswith("did you mean TS404? ")

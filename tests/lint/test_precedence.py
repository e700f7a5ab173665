"""Findings that only follow from another one are left out, and fixes that would be refused are not announced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostic
from taskstate.lint.precedence import without_consequences
from taskstate.lint.queries.interface import Queries
from taskstate.model.config import Config
from taskstate.syntax.spans import Span
from tests.support.lint_corpus import CLEAN

if TYPE_CHECKING:
    from collections.abc import Sequence


def found(code: str, severity: str = ERROR, at: int = 0) -> Diagnostic:
    """Return a finding of a rule at an offset."""
    return Diagnostic(code, "name", severity, Span(at, at + 1), "message", "help")


@pytest.mark.parametrize(
    ("findings", "left"),
    [
        ((found("TS105", WARNING), found("TS404", at=9)), ["TS404"]),
        ((found("TS105", WARNING), found("TS406", WARNING, 9)), ["TS406"]),
        ((found("TS105", WARNING), found("TS205", WARNING, 9)), ["TS105", "TS205"]),
        ((found("TS105", WARNING), found("TS105", WARNING, 9)), ["TS105", "TS105"]),
        ((found("TS105"), found("TS206", at=9)), ["TS105", "TS206"]),
        ((found("TS402", WARNING), found("TS402", at=9)), ["TS402"]),
        ((found("TS402", WARNING), found("TS402", WARNING, 9)), ["TS402", "TS402"]),
        ((found("TS404"), found("TS405", at=9)), ["TS404", "TS405"]),
        ((found("TS404", at=9), found("TS405", at=9)), ["TS405"]),
        ((found("TS304", WARNING), found("TS301", at=9)), ["TS301"]),
        ((found("TS408", WARNING), found("TS308", WARNING, 9)), ["TS308"]),
    ],
)
def test_one_fault_gives_one_finding(findings: Sequence[Diagnostic], left: list[str]) -> None:
    """A finding goes where another explains it, and stays where it stands alone or only beside one of its own kind."""
    assert [each.code for each in without_consequences(findings)] == left


class Damaged(Queries):
    """Says that the file is damaged."""

    def damage(self) -> str:
        """Return the way out."""
        return "`taskstate doctor --fix` brings it back"

    def is_damaged(self, text: str) -> bool:
        """Say the same of any text."""
        return bool(text)


def test_no_fix_is_announced_for_a_damaged_file() -> None:
    """Since commands refuse a damaged file, its findings name the way out in place of the fix."""
    data = (CLEAN / "task-7-state.md").read_bytes().replace(b"## 4. Progress Log", b"## 4. progress log", 1)
    (whole,) = engine.findings(data, "task-7-state.md", Config())
    (damaged,) = engine.findings(data, "task-7-state.md", Config(), Damaged())
    assert whole.diagnostic.fix is not None
    assert (damaged.diagnostic.fix, damaged.diagnostic.help) == (None, "`taskstate doctor --fix` brings it back")


def test_no_fix_is_announced_that_changes_nothing() -> None:
    """A fix that would leave the file with another error is refused, and so not announced."""
    for path in sorted(CLEAN.glob("task-7-state.md")):
        text = path.read_text(encoding="utf-8")
        for heading in [line for line in text.splitlines() if line.startswith("## ")]:
            damaged = text.replace(f"{heading}\n", "", 1)
            announced = [each.diagnostic.fix for each in engine.findings(damaged.encode(), path.name, Config())]
            fixed = engine.fix(damaged, path.name, Config())
            assert bool(fixed.applied) == any(fix and fix.safe for fix in announced), json.dumps(heading)

"""The signs in the registry are a law: without its sign a rule finds nothing, so that it need not be loaded."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.engine import facts_of
from taskstate.lint.facts.signs import Signs
from taskstate.lint.queries.interface import NO_QUERIES
from taskstate.lint.registry import TABLE
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from tests.support.lint_corpus import CLEAN, Case, cases, clean_files, overlooked

if TYPE_CHECKING:
    from pathlib import Path

CASES = [case for case in cases() if case.text is not None and not case.gone]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_without_its_sign_a_rule_finds_nothing(case: Case) -> None:
    """No case has a finding of a rule whose sign it has not, with its queries answered and without."""
    assert case.text is not None
    for queries in (case.queries, NO_QUERIES):
        assert overlooked(case.text, case.name, case.config, queries) == []


def test_every_sign_and_key_spares_a_rule() -> None:
    """Each rule with a sign, or with keys that it is about, is not loaded for some of the cases that it could check."""
    spared = set()
    for case in CASES:
        signs = Signs(facts_of(parse(case.text or ""), case.name, case.config, case.queries))
        rows = [row for row in TABLE if signs.facts.file_type in row.files and row.needs <= case.queries.answerable]
        spared |= {row.code for row in rows if not row.applies_to(signs)}
    assert spared == {row.code for row in TABLE if row.keys or row.sign}


@pytest.mark.parametrize("path", clean_files(), ids=lambda path: path.name)
def test_a_clean_file_has_hardly_any_sign(path: Path) -> None:
    """A file as people and the tool write it needs few of the rules: that is what the signs are for."""
    signs = Signs(facts_of(parse(path.read_text(encoding="utf-8")), path.name, Config()))
    rows = [row for row in TABLE if row.sign and signs.facts.file_type in row.files and not row.needs]
    assert len([row.code for row in rows if row.applies_to(signs)]) <= len(rows) // 3


@pytest.mark.parametrize("sign", sorted({row.sign for row in TABLE if row.sign}))
def test_a_sign_is_a_fact(sign: str) -> None:
    """Each sign that the registry names is a fact about a file, and can be asked of a file that is empty."""
    for name in ("task-7-state.md", "archives/task-7-archive.md", "task-7-impact-map.json"):
        for text in ("", (CLEAN / "task-7-state.md").read_text(encoding="utf-8")):
            attrgetter(sign)(Signs(facts_of(parse(text), name, Config())))

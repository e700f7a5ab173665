"""Rules are run only where there is something of what they look at; and the codes of rules are a promise."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine
from taskstate.lint.queries.interface import HISTORY, Queries
from taskstate.lint.registry import RETIRED, TABLE, Row, rules
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from tests.support.lint_corpus import CLEAN, cases, clean_files

if TYPE_CHECKING:
    from taskstate.lint.facts.file_facts import Facts
    from taskstate.syntax.document import Document


def left_out(facts: Facts) -> list[Row]:
    """Return the rules that apply to a file, and are not loaded for it."""
    rows = [row for row in TABLE if facts.file_type in row.files and row.needs <= facts.queries.answerable]
    return [row for row in rows if not row.looks_at(facts)]


@pytest.mark.slow
def test_rules_that_are_not_loaded_would_find_nothing() -> None:
    """All cases give the same findings with every rule loaded, and what each rule looks at is empty in one of them."""
    looked_at = {row.code for row in TABLE if row.looks_at.__name__ == "_everything"}
    spared = set()
    for case in cases():
        if case.text is None or case.gone:
            continue
        facts = engine.facts_of(parse(case.text), case.name, case.config, case.queries)
        for row in left_out(facts):
            rule = row.load()
            found = [each for each in rule.check(facts) if facts.is_read(rule.RULE.reads, each.span)]
            assert found == [], f"{case.id}: {row.code}"
            spared.add(row.code)
    assert spared == {row.code for row in TABLE} - looked_at


def test_a_clean_file_needs_hardly_any_rule() -> None:
    """Of the rules that need no queries, most are not loaded for a file as people and the tool write it."""
    for path in clean_files():
        facts = engine.facts_of(parse(path.read_text(encoding="utf-8")), path.name, Config())
        applying = [row for row in TABLE if facts.file_type in row.files and not row.needs]
        if facts.file_type == "state":
            assert len(left_out(facts)) >= len(applying) * 2 // 3, path.name


def test_a_retired_code_stays_legal_without_effect() -> None:
    """In a directive it is no unknown rule and nothing that would have to silence something."""
    directive = "<!-- taskstate: ignore {} moved on -->\n"
    found = {}
    for code in ("TS605", "TS699"):
        text = f"---\ntaskstate: 1\n---\n\n{directive.format(code)}\n"
        found[code] = {each.code for each in engine.check(text, "task-1-state.md", Config())}
    assert ("TS010" in found["TS605"], "TS010" in found["TS699"]) == (False, True)
    assert {each.code for each in RETIRED}.isdisjoint(rule.RULE.code for rule in rules())


def test_rules_about_changes_are_left_out_where_nothing_changed() -> None:
    """A rule that compares a file with its past is not run where both are the same, and is where they differ.

    Two look closer, at the revision and at the criteria alone.
    """
    text = (CLEAN / "task-7-state.md").read_text(encoding="utf-8")
    about_changes = [row for row in TABLE if HISTORY in row.needs and "state" in row.files]
    about_changes = [row for row in about_changes if row.code not in {"TS108", "TS312"}]
    for earlier, applying in ((text, set()), (text.replace("## 4.", "## 4. "), {row.code for row in about_changes})):
        facts = engine.facts_of(parse(text), "task-7-state.md", Config(), _Past(parse(earlier)))
        assert {row.code for row in about_changes if row.looks_at(facts)} == applying


class _Past(Queries):
    """Answers with one earlier version."""

    def __init__(self, earlier: Document) -> None:
        self._earlier = earlier

    def earlier(self, now: Document | None = None) -> tuple[Document, ...]:  # noqa: ARG002 - the past is given
        """Return the earlier version."""
        return (self._earlier,)

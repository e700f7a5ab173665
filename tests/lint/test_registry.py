"""The codes of the rules are a promise: none changes its meaning, and none is used again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR, WARNING
from taskstate.lint.engine import facts_of
from taskstate.lint.facts.signs import Signs
from taskstate.lint.queries.interface import Queries
from taskstate.lint.registry import RETIRED, TABLE, rules
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from tests.support.lint_corpus import CLEAN

if TYPE_CHECKING:
    from taskstate.syntax.document import Document

# Every code, its severity (E or W), and F where a fix belongs to it.
CODES = """
TS001 E   TS002 E   TS003 EF  TS004 EF  TS005 E   TS006 E   TS007 E   TS008 E   TS009 E   TS010 WF  TS011 E   TS012 E
TS101 E   TS102 EF  TS103 EF  TS104 W   TS105 WF  TS106 WF  TS107 E
TS201 EF  TS202 EF  TS203 E   TS204 W   TS205 WF  TS206 EF  TS207 EF  TS208 E   TS209 EF
TS301 EF  TS302 E   TS303 E   TS304 WF  TS305 E   TS306 E   TS307 E   TS308 W   TS309 E   TS310 EF  TS311 W
TS401 EF  TS402 EF  TS403 E   TS404 E   TS405 E   TS406 W   TS407 E   TS408 W   TS410 W   TS411 EF  TS412 E
TS501 W   TS502 EF  TS503 W   TS504 W   TS505 W
TS601 E   TS602 E   TS603 EF  TS604 W   TS606 E   TS607 E
TS701 E   TS702 E   TS703 E   TS704 E   TS705 W
TS801 E   TS802 E   TS803 E   TS804 E   TS805 E   TS806 W   TS807 E
TS901 E   TS902 E   TS903 WF  TS904 WF  TS905 E   TS906 E
TS951 E   TS952 E   TS953 E
TSP01 E   TSP02 E   TSP03 E   TSP04 E   TSP05 E   TSP06 W   TSP07 E   TSP08 E
"""


def test_every_code_is_checked() -> None:
    """The registry holds all codes, in their order."""
    assert [rule.RULE.code for rule in rules()] == CODES.split()[::2]


def test_severity_and_fix_are_those_of_the_code() -> None:
    """A rule has the severity that its code promises, and says that it mends where the code says so."""
    words = CODES.split()
    promised = dict(zip(words[::2], words[1::2], strict=True))
    severity = {"E": ERROR, "W": WARNING}
    for meta in (rule.RULE for rule in rules()):
        assert meta.severity == severity[promised[meta.code][0]], meta.code
        assert meta.fixable == promised[meta.code].endswith("F"), meta.code


def test_names_are_told_apart() -> None:
    """No two rules share a name, and each name is lower case with hyphens."""
    names = [rule.RULE.name for rule in rules()]
    assert len(set(names)) == len(names)
    assert all(name.replace("-", "").isalnum() and name == name.lower() for name in names)


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
    """A rule that compares a file with its past is not run where both are the same, and is where they differ."""
    text = (CLEAN / "task-7-state.md").read_text(encoding="utf-8")
    about_changes = {row.code for row in TABLE if row.sign == "facts.changed"}
    assert {"TS405", "TS305", "TS107"} <= about_changes
    for earlier, applies in ((text, False), (text.replace("## 4.", "## 4. "), True)):
        signs = Signs(facts_of(parse(text), "task-7-state.md", Config(), _Past(parse(earlier))))
        assert {row.applies_to(signs) for row in TABLE if row.sign == "facts.changed"} == {applies}


class _Past(Queries):
    """Answers with one earlier version."""

    def __init__(self, earlier: Document) -> None:
        self._earlier = earlier

    def earlier(self, now: Document | None = None) -> tuple[Document, ...]:  # noqa: ARG002 - the past is given
        """Return the earlier version."""
        return (self._earlier,)

"""The lint corpus: each case gives exactly the findings that it declares, and its fix the text that it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine
from taskstate.lint.registry import rules
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from tests.support.lint_corpus import CORPUS, Case, cases, clean_files

if TYPE_CHECKING:
    from pathlib import Path

    from taskstate.lint.diagnostics import Finding

CASES = cases()
each_family = pytest.mark.parametrize("family", sorted({case.id[:3] for case in CASES}))


def of(family: str) -> list[Case]:
    """Return the cases of a family of rules."""
    return [case for case in CASES if case.id.startswith(family)]


def described(finding: Finding) -> str:
    """Return a finding as a case expects it."""
    place = f"{finding.line}:{finding.column}-{finding.end_line}:{finding.end_column}"
    fix = finding.diagnostic.fix
    kind = "" if fix is None else f" job {fix.job}" if fix.job else " fix" if fix.safe else " unsafe"
    return f"{finding.diagnostic.code} {place}{kind}"


def found_in(case: Case) -> list[Finding]:
    """Return the findings of a case."""
    if case.gone:
        return [*engine.findings_as("removed", parse(case.text or ""), case.name, case.config, case.queries)]
    return [*engine.findings(case.data, case.name, case.config, case.queries)]


@each_family
def test_a_case_gives_exactly_its_findings(family: str) -> None:
    """The findings of a case are those that it expects, at their places, no more and no fewer."""
    found = {case.id: [described(finding) for finding in found_in(case)] for case in of(family)}
    assert found == {case.id: list(case.expected) for case in of(family)}


@each_family
def test_a_fix_gives_exactly_the_text_shown(family: str) -> None:
    """The safe fixes, and all fixes, of a case give the text that it shows, and leave it alone where it shows none.

    What can be mended safely is gone after fixing, and fixing twice is fixing once.
    """
    for case in of(family):
        if case.text is None:
            assert case.fixed is case.unsafe is None, case.id
            continue
        fixed = engine.fix(case.text, case.name, case.config, case.queries)
        again = engine.fix(fixed.text, case.name, case.config, case.queries)
        assert (again.text, again.applied) == (fixed.text, ()), case.id
        assert not [one for one in fixed.diagnostics if one.fix and one.fix.edits and one.fix.safe], case.id
        if not case.gone:
            assert fixed.text.encode() == (case.fixed or case.data), case.id
            unsafe = engine.fix(case.text, case.name, case.config, case.queries, unsafe=True)
            assert unsafe.text.encode() == (case.unsafe or case.fixed or case.data), case.id


@pytest.mark.parametrize("path", clean_files(), ids=lambda path: path.name)
def test_a_clean_file_gives_no_finding(path: Path) -> None:
    """A file as people and the tool write it gives no finding."""
    found = engine.findings(path.read_bytes(), path.name, Config())
    assert [f"{described(finding)}: {finding.diagnostic.message}" for finding in found] == []


def test_every_rule_fires_on_some_case() -> None:
    """Each rule of the registry has a case, named after it."""
    fired = {expected.split()[0] for case in CASES for expected in case.expected}
    assert fired == {rule.RULE.code for rule in rules()}


def test_a_rule_declares_whether_it_has_a_fix() -> None:
    """A rule is called fixable exactly if some case of the corpus has a fix of it."""
    fixable = {expected.split()[0] for case in CASES for expected in case.expected if len(expected.split()) > 2}
    assert fixable == {rule.RULE.code for rule in rules() if rule.RULE.fixable}


def test_a_case_is_named_by_a_rule() -> None:
    """The file name of a case begins with the code of a rule, and its folder is the rule's family."""
    codes = {rule.RULE.code for rule in rules()}
    assert [case.id for case in CASES if case.id.partition("-")[0] not in codes] == []
    assert [path for path in CORPUS.rglob("*.case") if path.parent.name != f"{path.name[:3]}xx"] == []


@pytest.mark.parametrize("path", clean_files(), ids=lambda path: path.name)
def test_line_ends_make_no_finding(path: Path) -> None:
    """A clean file is clean with CRLF, and behind a byte order mark."""
    data = b"\xef\xbb\xbf" * path.name.endswith(".md") + path.read_bytes().replace(b"\n", b"\r\n")
    found = engine.findings(data, path.name, Config())
    assert [f"{described(finding)}: {finding.diagnostic.message}" for finding in found] == []


@pytest.mark.parametrize("path", clean_files(), ids=lambda path: path.name)
def test_lone_returns_are_one_finding(path: Path) -> None:
    """Of a clean file whose lines all end with a lone CR this alone is told, at the first line."""
    data = path.read_bytes().replace(b"\n", b"\r")
    found = engine.findings(data, path.name, Config())
    assert [(finding.diagnostic.code, finding.line) for finding in found] == [("TS006", 1)] * (b"\r" in data)

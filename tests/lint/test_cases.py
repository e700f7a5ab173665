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
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)


def described(finding: Finding) -> str:
    """Return a finding as a case expects it."""
    place = f"{finding.line}:{finding.column}-{finding.end_line}:{finding.end_column}"
    fix = finding.diagnostic.fix
    kind = "" if fix is None else f" job {fix.job}" if fix.job else " fix" if fix.safe else " unsafe"
    return f"{finding.diagnostic.code} {place}{kind}"


@each_case
def test_a_case_gives_exactly_its_findings(case: Case) -> None:
    """The findings of a case are those that it expects, at their places, no more and no fewer."""
    if case.gone:
        found = engine.findings_of_removed(parse(case.text or ""), case.name, case.config, case.queries)
    else:
        found = engine.findings(case.data, case.name, case.config, case.queries)
    assert [described(finding) for finding in found] == list(case.expected), [
        f"{described(finding)}: {finding.diagnostic.message}" for finding in found
    ]


@each_case
def test_a_fix_gives_exactly_the_text_shown(case: Case) -> None:
    """The safe fixes, and all fixes, of a case give the text that it shows, and leave it alone where it shows none.

    What can be mended safely is gone after fixing, and fixing twice is fixing once.
    """
    if case.text is None:
        assert case.fixed is case.unsafe is None
        return
    fixed = engine.fix(case.text, case.name, case.config, case.queries)
    again = engine.fix(fixed.text, case.name, case.config, case.queries)
    assert (again.text, again.applied) == (fixed.text, ())
    assert not [one for one in fixed.diagnostics if one.fix and one.fix.edits and one.fix.safe]
    if not case.gone:
        assert fixed.text.encode() == (case.fixed or case.data)
        unsafe = engine.fix(case.text, case.name, case.config, case.queries, unsafe=True)
        assert unsafe.text.encode() == (case.unsafe or case.fixed or case.data)


@pytest.mark.parametrize("path", clean_files(), ids=lambda path: path.name)
def test_a_clean_file_gives_no_finding(path: Path) -> None:
    """A file as people and the tool write it gives no finding."""
    found = engine.findings(path.read_bytes(), path.name, Config())
    assert [f"{described(finding)}: {finding.diagnostic.message}" for finding in found] == []


def test_every_rule_fires_on_some_case() -> None:
    """Each rule of the registry has a case, named after it."""
    fired = {expected.split()[0] for case in CASES for expected in case.expected}
    assert fired == {rule.RULE.code for rule in rules()}


def test_a_case_is_named_by_a_rule() -> None:
    """The file name of a case begins with the code of a rule, and its folder is the rule's family."""
    codes = {rule.RULE.code for rule in rules()}
    assert [case.id for case in CASES if case.id.partition("-")[0] not in codes] == []
    assert [path for path in CORPUS.rglob("*.case") if path.parent.name != f"{path.name[:3]}xx"] == []


@pytest.mark.parametrize("path", clean_files(), ids=lambda path: path.name)
@pytest.mark.parametrize("changed", [b"\r\n", b"\r"], ids=["crlf", "cr"])
def test_line_ends_make_no_finding(path: Path, changed: bytes) -> None:
    """A clean file is clean with the line ends of any system, and behind a byte order mark."""
    data = b"\xef\xbb\xbf" * path.name.endswith(".md") + path.read_bytes().replace(b"\n", changed)
    found = engine.findings(data, path.name, Config())
    assert [f"{described(finding)}: {finding.diagnostic.message}" for finding in found] == []

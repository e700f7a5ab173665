"""The engine: which rules run, which findings are dropped in unreadable parts, how findings are located and fixed."""

from __future__ import annotations

import gc
import inspect
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from taskstate.lint import engine, registry, selection
from taskstate.lint.diagnostics import ERROR, MOST_REPORTED, WARNING, WHOLE, Diagnostic, Fix, Rule
from taskstate.lint.queries.interface import CLOCK, Queries
from taskstate.lint.registry import TABLE, Row
from taskstate.model.config import Config, Lint
from taskstate.model.config_reader import parse_config
from taskstate.model.names import own_file
from taskstate.syntax.document import Document, parse
from taskstate.syntax.edits import Edit
from taskstate.syntax.spans import Span
from tests.support.lint_corpus import CLEAN, cases

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.facts.file_facts import Facts

NAME = "task-101-state.md"
TEXT = next(case.data.decode() for case in cases() if case.id == "TS101-status")
PARTS = ("## What", "## Why", "## Example", "## Instead")


def codes(text: str, config: Config | None = None) -> list[str]:
    """Return the codes of what is found in a text."""
    return [one.code for one in engine.check(text, NAME, config or Config())]


def rule_that(code: str, *, finds: str, puts: str, severity: str = "error", safe: bool = True) -> ModuleType:
    """Return a rule that replaces the first occurrence of a text."""
    module = ModuleType(code)
    rule = Rule(code=code, name="made-up", summary="made up", severity=severity, reads=WHOLE, fixable=True)

    def check(facts: Facts) -> Iterator[Diagnostic]:
        at = facts.document.text.find(finds)
        if at >= 0:
            span = Span(at, at + len(finds))
            yield rule.at(span, "found", help="replace it", fix=Fix(edits=(Edit(*span, puts),), safe=safe))

    vars(module).update(RULE=rule, check=check)
    return module


def rule_of_lines(code: str, **severities: str) -> ModuleType:
    """Return a rule that has a finding for each line, whose severity the line's first word tells; a fix empties it."""
    module = ModuleType(code)
    rule = Rule(code=code, name="made-up", summary="made up", reads=WHOLE, fixable=True)

    def check(facts: Facts) -> Iterator[Diagnostic]:
        document = facts.document
        for start, line in zip(document.starts, document.text.splitlines(), strict=False):
            if line in severities:
                span = Span(start, start + len(line))
                fix = Fix(edits=(Edit(*span, ""),))
                yield rule.at(span, "found", help="delete it", fix=fix, severity=severities[line])

    vars(module).update(RULE=rule, check=check)
    return module


class Made(Row):
    """The row of a rule that is no module of its own."""

    rule: ModuleType

    def load(self) -> ModuleType:
        """Return the rule."""
        return self.rule


class MadeTable:
    """The table of rules that a test makes up; all of them need the queries `needs`."""

    def __init__(self) -> None:
        self.rules: list[ModuleType] = []
        self.needs: frozenset[str] = frozenset()

    def __iter__(self) -> Iterator[Row]:
        """Yield a row for each rule; the module name differs from that of a rule of another test."""
        for rule in self.rules:
            row = Made(rule.RULE.code, str(id(rule)), lambda facts: facts.document, needs=self.needs)
            row.rule = rule
            yield row


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> MadeTable:
    """Return the table that the engine reads: an empty one."""
    table = MadeTable()
    monkeypatch.setattr(selection, "TABLE", table)
    for name in ("_select", "_applicable"):  # which remember what is selected of a table that never changes
        monkeypatch.setattr(selection, name, getattr(selection, name).__wrapped__)
    return table


@pytest.fixture
def rules(table: MadeTable) -> list[ModuleType]:
    """Return the list of rules that the engine runs: an empty one."""
    return table.rules


def test_the_registry_is_sorted() -> None:
    """Rules stand in the order of their codes, no code and no name twice."""
    found = [rule.RULE.code for rule in registry.rules()]
    assert found == sorted(set(found))
    assert len({rule.RULE.name for rule in registry.rules()}) == len(registry.rules())


def test_a_row_is_that_of_its_rule() -> None:
    """A row leads to the rule of its code, in the file of its name, and names types of files that there are."""
    for row in TABLE:
        rule = row.load()
        assert row.code == rule.RULE.code
        assert rule.__name__.rsplit(".", 1)[-1] == rule.RULE.name.replace("-", "_")
        assert row.files, row.code
        assert row.files <= {"state", "archive", "handoff", "impact-map", "near", "progress", "removed"}, row.code


def test_a_rule_has_a_page() -> None:
    """The module docstring of a rule is its page: name and summary, then what, why, an example, what to do instead."""
    for rule in registry.rules():
        page = inspect.getdoc(rule) or ""
        assert page.startswith(f"{rule.RULE.name}: ")
        places = [page.find(f"\n{part}\n") for part in PARTS]
        assert -1 not in places, rule.RULE.code
        assert places == sorted(places), rule.RULE.code


def test_selection_takes_prefixes() -> None:
    """What is selected is checked, what is ignored is not; the longer prefix decides, and of equal ones `ignore`."""
    text = TEXT.replace("title:", "titel:")
    assert codes(text) == ["TS102", "TS101"]
    assert codes(text, Config(lint=Lint(select=("TS102",)))) == ["TS102"]
    assert codes(text, Config(lint=Lint(ignore=("TS10",)))) == []
    assert codes(text, Config(lint=Lint(ignore=("TS10",), extend_select=("TS101",)))) == ["TS101"]
    assert codes(text, Config(lint=Lint(select=("TS101",), ignore=("TS101",)))) == []


def test_what_is_not_utf8_can_be_ignored() -> None:
    """The finding that a file is not UTF-8 is selected like any other."""
    data = TEXT.encode() + b"\xff"
    assert [one.diagnostic.code for one in engine.findings(data, NAME, Config())] == ["TS001"]
    assert engine.findings(data, NAME, Config(lint=Lint(ignore=("TS001",)))) == ()


def test_the_name_says_what_a_file_is() -> None:
    """A rule runs on its own types of files only; a file of any other name is taken for a state file."""
    archive = (CLEAN / "task-7-archive.md").read_text(encoding="utf-8")
    assert engine.check(archive, "archives/task-7-archive.md", Config()) == ()
    assert engine.check(archive, "whatever.md", Config())[0].code == "TS002"
    assert engine.check(archive, "archives\\task-7-archive.md", Config()) == ()
    assert own_file("whatever.md") is None


def test_findings_come_in_the_order_of_the_text() -> None:
    """Findings are sorted by where they stand."""
    found = engine.check(TEXT.replace("title:", "titel:").replace("## 2. ", "## 3. "), NAME, Config())
    assert [one.span for one in found] == sorted(one.span for one in found)


def test_a_finding_knows_its_line() -> None:
    """Lines and columns count from 1, a byte order mark takes no column, and the source is the line itself."""
    found = engine.findings(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(), NAME, Config())
    assert [(one.line, one.column, one.end_line, one.end_column, one.source) for one in found] == [
        (5, 9, 5, 14, "status: doing")
    ]
    first = engine.findings(b"\xef\xbb\xbfNo front matter.", "task-1-state.md", Config(lint=Lint(select=("TS002",))))
    assert [(one.column, one.end_column, one.source) for one in first] == [(1, 17, "No front matter.")]


def test_a_newer_version_is_left_alone() -> None:
    """A file of a newer format has only that finding, and those about the text as such."""
    text = TEXT.replace("taskstate: 1", "taskstate: 2")
    assert codes(text) == ["TS009"]
    assert codes(text + "\x1b") == ["TS009", "TS006"]


def test_a_foreign_handoff_is_only_warned_of() -> None:
    """A handoff document whose front matter has none of our keys is another tool's."""
    name = "phase-1-handoff-20260205T164000Z.md"
    found = engine.check("---\nfrom: somebody\n---\n\n# Handing over\n", name, Config())
    assert [(one.code, one.severity) for one in found] == [("TS801", "warning")]
    assert {one.code for one in engine.check("---\nkind: handoff\n---\n", name, Config())} == {"TS101", "TS801"}
    assert {one.code for one in engine.check("---\nfrom: [\n---\n", name, Config())} == {"TS003"}


def test_a_handoff_by_hand_is_an_error() -> None:
    """Among the open handoffs of a task the same document is a handover by hand, and what it lacks is an error."""
    where = ".taskstate/handoffs/task-101/{}phase-1-handoff-20260205T164000Z.md"
    found = engine.check("# Handing over\n", where.format(""), Config())
    assert [(one.code, one.severity) for one in found] == [("TS801", "error")]
    found = engine.check("# Handing over\n", where.format("archive/"), Config())
    assert [(one.code, one.severity) for one in found] == [("TS801", "warning")]


def test_what_follows_an_open_fence_is_not_judged() -> None:
    """Findings above the section of an unclosed fence are kept, those below are dropped."""
    document = parse(TEXT.replace("## 4. Progress Log", "````\n\n## 4. Progress Log"))
    facts = engine.facts_of(document, NAME, Config())
    assert facts.unreadable_body == (document.text.index("## 3."), len(document.text))
    assert codes(document.text) == ["TS101", "TS004"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("<<<<<<< a\n=======\n>>>>>>> b\n", 1),
        ("<<<<<<<\n=======\n>>>>>>>", 1),
        ("<<<<<<< a\r\n=======\r\n>>>>>>> b\r\n", 1),
        ("<<<<<<< a\r=======\r>>>>>>> b", 1),
        ("<<<<<<< a\n||||||| c\n=======\n>>>>>>> b\n", 1),
        ("<<<<<<< a\n<<<<<<< a\n=======\n>>>>>>> b\n", 2),
        ("<<<<<<< a\n=======\n>>>>>>> b\n" * 3, 3),
        ("=======\n>>>>>>> b\n<<<<<<< a\n", 2),
        ("<<<<<<< a\n>>>>>>> b\n", 1),
        (" <<<<<<< a\n=======\n>>>>>>> b\n", 1),
        ("<<<<<<<< a\n=======\n>>>>>>> b\n", 1),
        ("<<<<<<< a\n======== \n>>>>>>> b\n", 1),
        (" <<<<<<< a\n ========\n >>>>>>> b\n", 0),
        ("Heading\n=======\n", 0),
    ],
)
def test_a_conflict_is_markers_at_line_starts(text: str, count: int) -> None:
    """A conflict is three markers at line starts in their order, or what is left of them."""
    assert len(engine.facts_of(parse(text), NAME, Config()).conflicts) == count


def test_fixes_are_applied_until_nothing_changes(rules: list[ModuleType]) -> None:
    """A fix may make room for another one; both are applied and reported."""
    rules += [rule_that("TS1", finds="a", puts="b"), rule_that("TS2", finds="b", puts="c", severity=WARNING)]
    fixed = engine.fix("a", NAME, Config())
    assert (fixed.text, fixed.applied, fixed.diagnostics) == ("c", ("TS1", "TS2"), ())


def test_unsafe_fixes_are_applied_when_asked_for(rules: list[ModuleType]) -> None:
    """A fix that may change the meaning is applied on request only."""
    rules.append(rule_that("TS1", finds="a", puts="b", safe=False))
    assert engine.fix("a", NAME, Config()).text == "a"
    assert engine.fix("a", NAME, Config(), unsafe=True).text == "b"


def test_fixes_at_odds_are_thrown_away(rules: list[ModuleType]) -> None:
    """Where two fixes undo each other the text stays as it was."""
    rules += [rule_that("TS1", finds="a", puts="b"), rule_that("TS2", finds="b", puts="a")]
    fixed = engine.fix("a", NAME, Config())
    assert (fixed.text, fixed.applied) == ("a", ())
    assert [one.code for one in fixed.diagnostics] == ["TS1"]


def test_fixes_that_never_end_are_thrown_away(rules: list[ModuleType]) -> None:
    """Where every fix makes room for another one the text stays as it was."""
    rules.append(rule_that("TS1", finds="a", puts="aa"))
    assert engine.fix("a", NAME, Config()).text == "a"


def test_a_fix_that_makes_an_error_is_thrown_away(rules: list[ModuleType]) -> None:
    """A result with an error that the text had not is no result; a new warning is one."""
    rules += [rule_that("TS1", finds="a", puts="b"), rule_that("TS2", finds="b", puts="b", safe=False)]
    assert engine.fix("a", NAME, Config()).text == "a"
    rules[1] = rule_that("TS2", finds="b", puts="b", safe=False, severity=WARNING)
    assert engine.fix("a", NAME, Config()).text == "b"


def test_an_error_that_could_not_be_seen_is_no_new_one() -> None:
    """Fixing a front matter may reveal other errors in it; the fix is kept."""
    text = TEXT.replace("title: JWT Service", "title: JWT: Service").replace("#101: JWT Service", "#101: JWT: Service")
    fixed = engine.fix(text, NAME, Config())
    assert 'title: "JWT: Service"' in fixed.text
    assert fixed.applied == ("TS003",)
    assert [one.code for one in fixed.diagnostics] == ["TS101"]


def test_a_renamed_key_may_show_another_error() -> None:
    """A key under its right name is read: what is then wrong with its value was not the rename's doing."""
    text = TEXT.replace("title: JWT Service", "titel: Another")
    fixed = engine.fix(text, NAME, Config(), unsafe=True)
    assert "title: Another" in fixed.text
    assert fixed.applied[0] == "TS102"


def test_no_fixed_value_joins_lines() -> None:
    """A lone carriage return ends a line too: the fix of a value does not include the text behind it."""
    text = TEXT.replace('task_id: "101"\n', 'task_id: "101"\r\rarea: x: y\n').replace("doing", "created")
    fixed = engine.fix(text, NAME, Config())
    assert "\r\rarea" in fixed.text


def test_fixes_that_touch_wait_for_each_other(rules: list[ModuleType]) -> None:
    """Of two fixes of one place the first is applied, and the other one planned anew."""
    rules += [rule_that("TS1", finds="aa", puts="a"), rule_that("TS2", finds="ab", puts="ba")]
    assert engine.fix("aab", NAME, Config()).text == "ba"


# What the configuration says


def configured(toml: str) -> Config:
    """Return a configuration from its text."""
    config = parse_config(toml, "taskstate.toml")
    assert config
    return config


@pytest.mark.parametrize(
    ("pattern", "name", "found"),
    [
        ("legacy/**", "legacy/2024/task-101-state.md", False),
        ("legacy", "legacy/2024/task-101-state.md", False),
        ("**/task-101-*", "legacy/task-101-state.md", False),
        ("legacy/**", "task-101-state.md", True),
        ("legacy/**", "src/legacy/task-101-state.md", True),
    ],
)
def test_rules_are_left_out_file_by_file(pattern: str, name: str, found: bool) -> None:  # noqa: FBT001 - a table
    """What `per-file-ignores` names is not checked in the files that its glob means, from the repository's root."""
    config = configured(f'[lint]\nper-file-ignores = {{ "{pattern}" = ["TS1"] }}\n')
    assert [one.code for one in engine.check(TEXT, name, config)] == (["TS101"] if found else [])


def test_a_rule_selected_by_its_code_outweighs_a_prefix_left_out() -> None:
    """Of `select`, `extend-select`, `ignore` and `per-file-ignores` the longest prefix decides."""
    config = configured('[lint]\nextend-select = ["TS101"]\nper-file-ignores = { "**" = ["TS1"] }\n')
    assert codes(TEXT, config) == ["TS101"]


def test_severity_is_what_the_configuration_says() -> None:
    """The longest prefix gives a rule's findings their severity, and the fixes know of it."""
    config = configured('[lint.severity]\nTS = "error"\nTS1 = "error"\nTS101 = "warning"\n')
    assert [one.severity for one in engine.check(TEXT, NAME, config)] == ["warning"]
    data = b"\xff"
    assert [one.diagnostic.severity for one in engine.findings(data, NAME, config)] == ["error"]
    config = configured('[lint.severity]\nTS001 = "warning"\n')
    assert [one.diagnostic.severity for one in engine.findings(data, NAME, config)] == ["warning"]


def test_a_rule_whose_queries_have_no_answer_does_not_run(table: MadeTable) -> None:
    """A rule runs only where all queries that it needs can be answered."""
    table.rules.append(rule_that("TS901", finds="a", puts="b"))
    table.needs = frozenset({CLOCK})
    queries = Queries()
    assert engine.check("a", NAME, Config(), queries) == ()
    queries.answerable = frozenset({CLOCK})
    assert [one.code for one in engine.check("a", NAME, Config(), queries)] == ["TS901"]


def test_no_fix_reaches_into_a_sealed_static_part(rules: list[ModuleType]) -> None:
    """A fault in section 1 of a sealed file is reported but not fixed; one next to it is fixed."""
    rules += [rule_that("TS201", finds="inside", puts="x"), rule_that("TS202", finds="behind", puts="y")]
    body = "---\n\n## 1. Static Context\n\ninside\n\n## 2. Chain Inputs\n\nbehind\n"
    open_one = "---\ntaskstate: 1\n" + body
    sealed = "---\ntaskstate: 1\ncontext:\n  seal: abc\n" + body
    assert engine.fix(open_one, NAME, Config()).applied == ("TS201", "TS202")
    assert engine.fix(sealed, NAME, Config()).applied == ("TS202",)


def reported(text: str) -> list[tuple[int, str]]:
    """Return the lines and severities of what is reported of a text."""
    found = engine.findings(text.encode(), NAME, Config())
    return [(one.line, one.diagnostic.severity) for one in found]


def test_of_one_rule_no_more_than_a_thousand_findings_are_reported(rules: list[ModuleType]) -> None:
    """What stands in a file more often is reported a thousand times, from the top; another rule has its own."""
    rules += [rule_of_lines("TS901", a=ERROR), rule_of_lines("TS902", b=ERROR)]
    text = "a\n" * (MOST_REPORTED + 5) + "b\n"
    assert reported(text) == [*((line, ERROR) for line in range(1, MOST_REPORTED + 1)), (MOST_REPORTED + 6, ERROR)]
    assert len(codes(text)) == MOST_REPORTED + 6  # who mends them, or writes directives for them, sees all


def test_warnings_hide_no_error_of_their_rule(rules: list[ModuleType]) -> None:
    """However many warnings a rule has, its error below them is reported."""
    rules.append(rule_of_lines("TS901", a=WARNING, b=ERROR))
    found = reported("a\n" * (MOST_REPORTED + 5) + "b\n")
    assert len(found) == MOST_REPORTED + 1
    assert found[-1] == (MOST_REPORTED + 6, ERROR)


def test_silenced_findings_hide_no_other(rules: list[ModuleType]) -> None:
    """However many findings a directive silences, one that it does not silence is reported."""
    rules.append(rule_of_lines("TS901", a=ERROR))
    lines = "a\n" * (MOST_REPORTED + 5)
    silenced = f"<!-- taskstate: ignore-start TS901 -->\n{lines}<!-- taskstate: ignore-end -->\n"
    assert reported(silenced) == []
    assert reported(silenced + "\na\n") == [(silenced.count("\n") + 2, ERROR)]


def test_all_findings_are_fixed_however_many_are_reported(rules: list[ModuleType]) -> None:
    """`--fix` mends more findings than a report has, and the report announces it for each that it has."""
    rules.append(rule_of_lines("TS901", a=ERROR))
    text = "a\n" * (MOST_REPORTED + 5)
    assert all(one.diagnostic.fix for one in engine.findings(text.encode(), NAME, Config()))
    assert engine.fix(text, NAME, Config()).text.strip() == ""


@pytest.mark.slow
def test_what_was_checked_is_freed_at_once() -> None:
    """Next to no document waits for the garbage collector: among a thousand files they would take 100 MB more."""

    def documents() -> int:
        return sum(type(each) is Document for each in gc.get_objects())

    checked = [case for case in cases() if not case.gone]
    gc.collect()
    before = documents()
    gc.disable()
    try:
        for case in checked:
            engine.findings(case.data, case.name, case.config)
        assert documents() - before <= len(checked) // 100
    finally:
        gc.enable()

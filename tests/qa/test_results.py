from __future__ import annotations

from decimal import Decimal

import pytest

from taskstate.model import names
from taskstate.model.tool_blocks import CheckResult, read_tool_blocks
from taskstate.qa import results as qa_results
from taskstate.qa.results import Difference, compare, coverage, failures, is_success, regressions, result_of
from tests.support.place import refusal

WELL = ("212 passed", "0 failed, 3 passed", "no errors", "0 errors, 4 warnings", "errors: 0", "2 passed, 1 xfailed")
ILL = (
    "1 failed",
    "3 passed, 2 errors",
    "12 tests failed",
    "failed",
    "crashed at start",
    "failures: 3",
    "exit status 2",
)


@pytest.mark.parametrize("text", [*WELL, "exit status 0", "zero failures", "without any errors", "score 93", "ok", ""])
def test_words_of_success(text: str) -> None:
    """A text that speaks of no failure, or of none expressly, is well."""
    assert is_success(text)
    assert failures(text) == 0


@pytest.mark.parametrize("text", [*ILL, "Failed: no tests ran", "1 file unformatted", "build error", "not ok"])
def test_words_of_failure(text: str) -> None:
    """A text that speaks of a failure, counted or not, is not well."""
    assert not is_success(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("2 failed, 3 errors", 5), ("1 package failed, 2 tests failed", 3), ("errors: 7", 7), ("crashed", None)],
)
def test_failures_are_counted(text: str, number: int | None) -> None:
    """All failures of a text count together; one without a number cannot be counted."""
    assert failures(text) == number


@pytest.mark.parametrize(
    ("name", "text", "share"),
    [
        ("coverage", "87.5%, failed: covers less than the required 90 percent", "87.5"),
        ("coverage-go", "62.3% on average of 2 packages", "62.3"),
        ("test", "212 passed, coverage 81 %", "81"),
        ("test", "212 passed, 81% line coverage", "81"),
        ("test", "[100%] 3 passed", None),
        ("coverage", "none", None),
    ],
)
def test_coverage_is_read(name: str, text: str, share: str | None) -> None:
    """A percentage is coverage where the check is called so, or the text says so."""
    assert coverage(name, text) == (Decimal(share) if share else None)


def test_exit_status_decides_in_doubt() -> None:
    """An exit status makes a result fail and is reported; one of 0 makes it pass unless it counts failures."""
    assert result_of("0 errors, 1 warning", 1) == CheckResult(ok=False, text="0 errors, 1 warning, exit status 1")
    assert result_of("1 failed", 2) == CheckResult(ok=False, text="1 failed")
    assert result_of("", 3) == CheckResult(ok=False, text="exit status 3")
    assert result_of("", 0) == CheckResult(ok=True, text="exit status 0")
    assert result_of("error rate 0.1", 0) == CheckResult(ok=True, text="error rate 0.1")
    assert result_of("1 failed", 0) == CheckResult(ok=False, text="1 failed")


def test_result_is_one_short_line() -> None:
    """Line ends become blanks, what a terminal would obey is written out, and a long text is cut, its status told."""
    assert result_of("3 passed\n in \x1b[1m2 s").text == "3 passed in \\x1b[1m2 s"
    assert len(result_of("words " * 100).text) <= qa_results.MAX_TEXT
    result = result_of("words " * 100, 7)
    assert (result.ok, len(result.text) <= qa_results.MAX_TEXT, result.text[-15:]) == (False, True, ", exit status 7")


@pytest.mark.parametrize("name", ["", "x-mine", "a b", "a=b", "-a", "a/b", "é", "a" * 41])
def test_names_of_results(name: str) -> None:
    """A name that the front matter could not hold as a result is refused."""
    assert refusal(lambda: names.require_result_name(name)).code == "usage"
    assert names.require_result_name("test-web.unit") == "test-web.unit"


def test_results_are_read_loosely() -> None:
    """What is no result in a front matter is left out; what is one is written as it was read, by name."""
    result = {
        "b": {"ok": True, "text": "1 passed"},
        "a": {"ok": False},
        "c": {"ok": "yes"},
        "d": 1,
        "x-e": {"ok": True},
    }
    read = read_tool_blocks({"baseline": {"results": result}}).baseline.results
    assert read == {"b": CheckResult(ok=True, text="1 passed"), "a": CheckResult(ok=False, text="")}
    assert list(qa_results.front_matter_results(read).items()) == [
        ("a", {"ok": False, "text": ""}),
        ("b", {"ok": True, "text": "1 passed"}),
    ]
    assert read_tool_blocks({"baseline": {"results": ["a"]}}).baseline.results == {}


def differing(before: str, after: str, name: str = "test") -> tuple[list[str], list[str]]:
    """Return what is worse and what is better, as aspects, between two texts of a check."""
    comparison = compare({name: result_of(before)}, {name: result_of(after)})
    return [each.aspect for each in comparison.regressions], [each.aspect for each in comparison.improvements]


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ("3 passed", "2 passed, 1 failed", ["exit-status"]),
        ("1 failed", "2 failed", ["failures"]),
        ("80%", "77.9%", ["coverage"]),
        ("80%", "78%", []),
        ("82.3%", "80.3%", []),
        ("80%, failed: too little", "70%, failed: too little", ["coverage"]),
        ("3 passed", "300 passed", []),
        ("0 errors", "0 errors, 9 warnings", []),
        ("1 failed", "crashed", ["failures"]),
        ("1 failed", "exit status 2", ["failures"]),
        ("crashed", "exit status 2", []),
        ("2 errors, coverage 80%", "3 errors, coverage 70%", ["failures", "coverage"]),
    ],
)
def test_regressions(before: str, after: str, worse: list[str]) -> None:
    """Worse is a check that fails now, more failures, and coverage that fell by more than two points; no less."""
    assert differing(before, after, "coverage") == (worse, [])
    assert differing(after, before, "coverage") == ([], worse)


def test_check_that_fails_now_or_passes_again() -> None:
    """The difference says in words which way a check has changed."""
    well, ill = CheckResult(ok=True, text="3 passed"), CheckResult(ok=False, text="1 failed")
    assert [each.detail for each in compare({"a": well}, {"a": ill}).regressions] == ["passed, and now fails"]
    assert [each.detail for each in compare({"a": ill}, {"a": well}).improvements] == ["failed, and now passes"]


def test_checks_that_come_and_go() -> None:
    """A check that is missing is worse, a new one is better, unless it fails."""
    well, ill = CheckResult(ok=True, text="3 passed"), CheckResult(ok=False, text="1 failed")
    removed = compare({"test": well}, {"lint": well})
    assert [(each.name, each.aspect) for each in removed.regressions] == [("test", "missing")]
    assert [(each.name, each.aspect) for each in removed.improvements] == [("lint", "new")]
    assert compare({}, {"lint": ill}).regressions == (
        Difference("lint", "new", None, "1 failed", "was not checked before, and fails"),
    )
    assert compare({"lint": ill}, {}).regressions[0].before == "1 failed"


def test_one_check_may_be_worse_and_better() -> None:
    """Each aspect of a check is reported by itself, with figures that people can read."""
    comparison = compare(
        {"test": result_of("3 failed, coverage 80%"), "lint": result_of("0 errors")},
        {"test": result_of("2 failed, coverage 71.5%"), "lint": result_of("0 errors")},
    )
    assert [each.detail for each in comparison.regressions] == ["coverage fell by 8.5 points: 80%, now 71.5%"]
    assert [each.detail for each in comparison.improvements] == ["fewer failures: 3, now 2"]
    assert comparison.same == ("lint",)


def test_what_keeps_a_run_from_being_accepted() -> None:
    """What is worse than at the baseline; without one each failing command; and a command that was not run."""
    well, ill = CheckResult(ok=True, text="3 passed"), CheckResult(ok=False, text="exit status 1")
    assert regressions({"a": well, "b": ill}, {"a": well, "b": ill}) == ()
    assert [each.name for each in regressions({"a": well, "b": ill}, {"a": ill, "b": well})] == ["a"]
    assert [each.aspect for each in regressions({"a": well}, {})] == ["missing"]
    assert [each.name for each in regressions(None, {"a": well, "b": ill})] == ["b"]
    assert regressions(None, {"a": well}) == ()

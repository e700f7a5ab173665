"""Judges and compares results of checks: which results are failures, and what became worse or better between two runs.

Pure. A result is one line of text, such as `212 passed, 1 failed`. Its words decide whether it is a success, so that a
result typed by a person and one read from a log mean the same. `log_parser` reads logs.
"""

from __future__ import annotations

import re
from decimal import Decimal

from taskstate.model.tool_blocks import CheckResult
from taskstate.syntax.spans import printable
from taskstate.typed import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


CANNOT_RUN = "cannot run"  # the result of a command that is not there begins so
MAX_TEXT = 200  # characters of a result
_LATE = "fails, and the baseline is late: it does not show that it failed before the work"
COVERAGE_MARGIN = Decimal(2)  # points by which coverage may fall
EXIT_STATUS, FAILURES, COVERAGE, MISSING, NEW, LATE = "exit-status", "failures", "coverage", "missing", "new", "late"
_BAD = r"(?:fail(?:ed|ures?|ing|s)?|errors?|problems?|unformatted|timed out|crash(?:ed|es)?|broken)"
_COUNTED = rf"(?i)\b(\d+)\s+(?:[a-z]+\s+)?{_BAD}\b"
_LABELLED = rf"(?i)\b{_BAD}\s*[:=]\s*(\d+)\b"
_NONE = rf"(?i)\b(?:no|zero|without(?:\s+any)?)\s+(?:[a-z]+\s+)?{_BAD}\b"
_FAILING = r"(?i)\b(?:fail(?:ed|ure|ures|ing|s)?|errors?|timed out|crash(?:ed|es)|aborted|broken|not ok)\b"
_EXIT = r"(?i)\bexit (?:status|code)\s*:?\s*(\d+)\b"
_PERCENT = r"(\d{1,3}(?:\.\d{1,6})?)\s?%"
_COVERED = rf"(?i)(?:{_PERCENT}\s*(?:[a-z]+\s+)?cover|cover[a-z]{{0,10}}\D{{0,20}}?{_PERCENT})"


class Difference(NamedTuple):
    """One difference between two runs of a check: `aspect` names it, `detail` describes it in a sentence.

    `before` or `after` is None where the check is missing from that run.
    """

    name: str
    aspect: str
    before: str | None
    after: str | None
    detail: str


class Comparison(NamedTuple):
    """What became worse, what became better, and which checks did not change."""

    regressions: tuple[Difference, ...]
    improvements: tuple[Difference, ...]
    same: tuple[str, ...]


# One result


def result_of(text: str, exit_status: int | None = None) -> CheckResult:
    """Return the result for a line of text; in doubt the exit status decides, where it is given."""
    line = " ".join(printable(text).split())
    if exit_status is None:
        return CheckResult(is_success(line), shortened(line))
    status_in_text = re.search(_EXIT, line)
    # 25 characters leave room for the exit status that is appended.
    if exit_status and is_success(line) and not status_in_text:
        line = ", ".join(each for each in (shortened(line, MAX_TEXT - 25), f"exit status {exit_status}") if each)
    return CheckResult(exit_status == 0 and not _counted(line), shortened(line) or "exit status 0")


def shortened(line: str, limit: int = MAX_TEXT) -> str:
    """Return a line cut to at most `limit` characters."""
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "\u2026"


def is_success(text: str) -> bool:
    """Return whether a result reports no failure: no count of failures above 0, and no word for one."""
    return not _counted(text) and _uncounted(text) is None and not any(int(each) for each in re.findall(_EXIT, text))


def failures(text: str) -> int | None:
    """Return the number of failures that a result reports; None where it reports one without a number."""
    counted = _counted(text)
    return None if not counted and _uncounted(text) else counted


def _counted(text: str) -> int:
    return sum(int(each) for pattern in (_COUNTED, _LABELLED) for each in re.findall(pattern, text))


def _uncounted(text: str) -> re.Match[str] | None:
    """Return the first word for a failure that has no number and is not negated."""
    for pattern in (_COUNTED, _LABELLED, _NONE):
        text = re.sub(pattern, " ", text)
    return re.search(_FAILING, text)


def coverage(name: str, text: str) -> Decimal | None:
    """Return the coverage percentage of a result: by the name of the check, or where the text says so."""
    match = re.search(_PERCENT if "cov" in name.casefold() else _COVERED, text)
    return Decimal(next(filter(None, match.groups()))) if match else None


def front_matter_results(results: Mapping[str, CheckResult]) -> dict[str, object]:
    """Return results as a front matter stores them, in the order of their names."""
    return {name: results[name]._asdict() for name in sorted(results)}


# Two runs


def regressions(
    baseline: Mapping[str, CheckResult] | None, results: Mapping[str, CheckResult], *, is_late: bool = False
) -> tuple[Difference, ...]:
    """Return what keeps a run of all commands from being accepted: what became worse than at the baseline.

    Without a baseline every failing command counts. A command that has no result was not run, and does not pass.
    """
    return compare(baseline or {}, results, is_late=is_late).regressions


def compare(
    baseline: Mapping[str, CheckResult], results: Mapping[str, CheckResult], *, is_late: bool = False
) -> Comparison:
    """Return the differences between two runs.

    Regressions are: a check that passed and now fails; more failures, or failures that it no longer counts; coverage
    lower by more than two points; a check that is missing; a new one that fails.
    Improvements are the opposite of the first three, and a new check that passes. A baseline that `is_late` was taken
    after work had begun: it does not show that a check failed before, so whatever fails now is a regression, too.
    """
    worse: list[Difference] = []
    better: list[Difference] = []
    same = []
    for name in sorted({*baseline, *results}):
        before, after = baseline.get(name), results.get(name)
        if before is None or after is None:
            difference = _one_sided(name, before, after)
            (better if difference.aspect == NEW and after and after.ok else worse).append(difference)
            continue
        changes = [*_status(name, before, after), *_figures(name, before, after)]
        if is_late and not after.ok and all(is_better for is_better, _ in changes):
            changes = [(False, Difference(name, LATE, before.text, after.text, _LATE))]
        for is_better, difference in changes:
            (better if is_better else worse).append(difference)
        if not changes:
            same.append(name)
    return Comparison(tuple(worse), tuple(better), tuple(same))


def _one_sided(name: str, before: CheckResult | None, after: CheckResult | None) -> Difference:
    if after is None:
        return Difference(name, MISSING, before.text if before else None, None, "was checked before, and now is not")
    detail = "was not checked before" if after.ok else "was not checked before, and fails"
    return Difference(name, NEW, None, after.text, detail)


def _status(name: str, before: CheckResult, after: CheckResult) -> Iterable[tuple[bool, Difference]]:
    if before.ok != after.ok:
        now = "cannot run here" if after.text.startswith(CANNOT_RUN) else "now fails"
        detail = "failed, and now passes" if after.ok else f"passed, and {now}"
        yield after.ok, Difference(name, EXIT_STATUS, before.text, after.text, detail)
        return
    old, new = _reported_failures(before), _reported_failures(after)
    if old is not None and new is not None and old != new:
        detail = f"{'more' if new > old else 'fewer'} failures: {old}, now {new}"
        yield new < old, Difference(name, FAILURES, before.text, after.text, detail)
    elif (old is None) != (new is None):  # what crashes has not run the rest: that is no proof of fewer failures
        detail = "failures were counted, and now are not" if new is None else "failures were not counted, and now are"
        yield old is None, Difference(name, FAILURES, before.text, after.text, detail)


def _reported_failures(result: CheckResult) -> int | None:
    """Return the number of failures of a result; None where it failed without a number."""
    number = failures(result.text)
    return None if not result.ok and not number else number


def _figures(name: str, before: CheckResult, after: CheckResult) -> Iterable[tuple[bool, Difference]]:
    old, new = coverage(name, before.text), coverage(name, after.text)
    if old is not None and new is not None and abs(new - old) > COVERAGE_MARGIN:
        detail = f"coverage {'fell' if new < old else 'rose'} by {abs(new - old)} points: {old}%, now {new}%"
        yield new > old, Difference(name, COVERAGE, before.text, after.text, detail)

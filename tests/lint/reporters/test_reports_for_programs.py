"""The reporters for services: what they write is read back by the libraries that others read it with."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from junitparser import JUnitXml
from sarif import loader

from taskstate.lint import engine
from taskstate.lint.diagnostics import ERROR, WARNING, Diagnostic, Finding, Fix
from taskstate.lint.registry import rules
from taskstate.lint.reporters import Run, reporter
from taskstate.lint.reporters.fingerprint import fingerprints
from taskstate.model.config import Config
from taskstate.syntax.document import parse
from taskstate.syntax.edits import Edit, apply
from taskstate.syntax.spans import Span
from tests.support.lint_corpus import cases

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

TEXTS = st.text(st.characters(exclude_categories=[]), max_size=30)
PATHS = st.binary(min_size=1, max_size=30).map(os.fsdecode)  # whatever the disk has, it arrives as such a text


def finding(  # noqa: PLR0913 - a finding has these parts
    code: str = "TS206",
    *,
    line: int = 5,
    lines: int = 0,
    column: int = 9,
    path: str = "tasks/task-1-state.md",
    severity: str = ERROR,
    message: str = "it is wrong",
    source: str = "status: doing",
    fix: Fix | None = None,
) -> Finding:
    """Return a finding that is four characters long."""
    start = 100 + column
    diagnostic = Diagnostic(
        code=code,
        name="the-name",
        severity=severity,
        span=Span(start, start + 4),
        message=message,
        help="fix it",
        fix=fix,
    )
    return Finding(
        path=path,
        line=line,
        column=column,
        end_line=line + lines,
        end_column=column + 4,
        diagnostic=diagnostic,
        source=source,
    )


def report(name: str, *findings: Finding, files: int = 1) -> str:
    """Return a report."""
    return reporter(name)(findings, Run(files=files))


def sarif(*findings: Finding) -> dict[str, Any]:
    """Return the one run of a SARIF log."""
    log: dict[str, Any] = json.loads(report("sarif", *findings))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return dict(run)


def corpus() -> list[Finding]:
    """Return what is found in the whole lint corpus."""
    return [found for case in cases() for found in engine.findings(case.data, f"{case.id}/{case.name}", Config())]


# What tells findings apart


def test_fingerprints_do_not_count_lines() -> None:
    """Lines and columns may move, indentation and the message may change; another file, rule or line is another."""
    one = finding()
    moved = finding(line=9, column=3, message="it says 8", source="  status:  doing")
    assert fingerprints([one]) == fingerprints([moved])
    others = [one, finding("TS101"), finding(path="b"), finding(source="status: done")]
    assert len({fingerprints([other])[0] for other in others}) == len(others)


@pytest.mark.slow
def test_fingerprints_are_unique() -> None:
    """Equal lines with the same fault are numbered from the top, so that no two findings of a run are taken for one."""
    made = fingerprints([finding(line=number) for number in range(9)])
    assert len(set(made)) == 9
    assert fingerprints([finding()] * 3)[:2] == made[:2]
    everything = corpus()
    assert len(set(fingerprints(everything))) == len(everything) > 100


# SARIF


@pytest.mark.slow
def test_sarif_is_read_by_others(tmp_path: Path) -> None:
    """sarif-tools reads the whole lint corpus: each finding with its rule, level and place."""
    everything = corpus()
    path = tmp_path / "report.sarif"
    path.write_text(report("sarif", *everything), encoding="utf-8")
    records = loader.load_sarif_file(str(path)).get_records()
    read = sorted((record["Location"], record["Line"], record["Code"], record["Severity"]) for record in records)
    expected = sorted((one.path, one.line, one.diagnostic.code, one.diagnostic.severity) for one in everything)
    assert [(unquote(place), int(line), code, level) for place, line, code, level in read] == expected


def test_sarif_tells_of_the_rules_once() -> None:
    """Each rule that found something stands among the rules, with its page, and results point there."""
    run = sarif(finding("TS206"), finding("TS105", severity=WARNING), finding("TS206"))
    rules = run["tool"]["driver"]["rules"]
    assert [(rule["id"], rule["name"], rule["defaultConfiguration"]["level"]) for rule in rules] == [
        ("TS105", "counts-differ", "warning"),
        ("TS206", "title-mismatch", "error"),
    ]
    assert "## Why" in rules[1]["help"]["markdown"]
    assert rules[1]["fullDescription"]["text"].startswith("Below the front matter there is one heading of level 1")
    assert [(each["ruleId"], each["ruleIndex"], each["level"]) for each in run["results"]] == [
        ("TS206", 1, "error"),
        ("TS105", 0, "warning"),
        ("TS206", 1, "error"),
    ]
    assert run["columnKind"] == "unicodeCodePoints"
    assert len({each["partialFingerprints"]["taskstate/v1"] for each in run["results"]}) == 3


def test_sarif_describes_every_rule() -> None:
    """Every rule has a summary and a description of more than the summary, in one paragraph each."""
    for rule in sarif(*(finding(rule.RULE.code) for rule in rules()))["tool"]["driver"]["rules"]:
        short, full = rule["shortDescription"]["text"], rule["fullDescription"]["text"]
        assert short.endswith(".")
        assert len(full) > 40
        assert "\n" not in short + full


@pytest.mark.parametrize(
    ("path", "uri", "base"),
    [
        ("a/task-1-state.md", "a/task-1-state.md", True),
        ("a b/ä%#?:.md", "a%20b/%C3%A4%25%23%3F%3A.md", True),
        ("c:d/task-1-state.md", "c%3Ad/task-1-state.md", True),
        ("\udcff.md", "%FF.md", True),
        ("/srv/x y.md", "file:///srv/x%20y.md", False),
    ],
)
def test_sarif_paths_are_uris(path: str, uri: str, base: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """A path is percent-encoded; one in the working folder is relative to it, any other is absolute."""
    (result,) = sarif(finding(path=path))["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": uri} | ({"uriBaseId": "%SRCROOT%"} if base else {})
    where = urljoin("file:///here/", artifact["uri"])
    assert unquote(where, errors="surrogateescape") == f"file://{path if not base else '/here/' + path}"


@pytest.mark.slow
def test_sarif_fixes_are_the_fixes() -> None:
    """A fix in the report, made by its lines and columns, gives what the linter's own fix gives, for every case."""
    seen = 0
    for case in cases():
        found = engine.findings(case.data, case.name, case.config) if case.text is not None else ()
        for one, result in zip(found, sarif(*found)["results"], strict=True):
            for fix in result.get("fixes", ()):
                assert one.diagnostic.fix, case.id
                assert one.diagnostic.fix.safe, case.id
                text = case.text or ""
                edits = [placed(each, parse(text).starts) for each in fix["artifactChanges"][0]["replacements"]]
                assert apply(text, edits) == apply(text, one.diagnostic.fix.edits), case.id
                seen += 1
    assert seen > 50


def placed(replacement: dict[str, Any], starts: Sequence[int]) -> Edit:
    """Return the edit that a replacement of a report means."""
    region = replacement["deletedRegion"]
    start = starts[region["startLine"] - 1]
    return Edit(
        start + region["startColumn"] - 1, start + region["endColumn"] - 1, replacement["insertedContent"]["text"]
    )


def test_sarif_has_fixes_where_it_can_place_them() -> None:
    """A safe fix within the finding's line is reported; an unsafe one, one elsewhere, and a job are left out."""
    inside, outside = Edit(101, 105, "x"), Edit(90, 90, "x")
    fixes = [
        Fix(edits=(inside,)),
        Fix(edits=(inside,), safe=False),
        Fix(edits=(inside, outside)),
        Fix(edits=(Edit(101, 115, ""),)),
        Fix(job="archive"),
    ]
    results = sarif(*(finding(fix=fix) for fix in fixes))["results"]
    assert ["fixes" in result for result in results] == [True, False, False, False, False]
    (replacement,) = results[0]["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement == {
        "deletedRegion": {"startLine": 5, "startColumn": 1, "endColumn": 5},
        "insertedContent": {"text": "x"},
    }


# GitHub


def test_github_shows_findings_at_their_lines() -> None:
    """Each finding is one command with its place, whose message says the place again, since the log shows no more."""
    assert report("github", finding(), finding(severity=WARNING, lines=2)) == (
        "::error title=TS206 the-name,file=tasks/task-1-state.md,line=5,endLine=5,col=9,endColumn=13::"
        "tasks/task-1-state.md:5:9 TS206 the-name: it is wrong%0Afix it\n"
        "::warning title=TS206 the-name,file=tasks/task-1-state.md,line=5,endLine=7::"
        "tasks/task-1-state.md:5:9 TS206 the-name: it is wrong (warning)%0Afix it\n"
    )
    assert report("github") == ""


def test_github_escapes_what_would_end_a_property_or_the_command() -> None:
    """Percent signs, line ends, colons and commas come through; nothing that a file holds can begin a command."""
    line = report("github", finding(path="a,b:c%2C.md", message="100%\n::error::x, y"))
    assert line.count("\n") == 1
    assert "file=a%2Cb%3Ac%252C.md,line=5" in line
    assert line.endswith("a,b:c%252C.md:5:9 TS206 the-name: 100%25\\n::error::x, y%0Afix it\n")


# GitLab


def test_gitlab_has_what_code_quality_needs() -> None:
    """Each finding has a description, a rule, a fingerprint of its own, a severity, and a place."""
    entries = json.loads(report("gitlab", finding(lines=1), finding(severity=WARNING)))
    assert [entry.pop("fingerprint") for entry in entries] == fingerprints([finding(), finding()])
    assert entries == [
        {
            "description": "TS206 the-name: it is wrong (fix it)",
            "check_name": "TS206",
            "severity": severity,
            "location": {"path": "tasks/task-1-state.md", "lines": {"begin": 5, "end": end}},
        }
        for severity, end in (("major", 6), ("minor", 5))
    ]
    assert json.loads(report("gitlab")) == []


# JUnit


def test_junit_has_a_suite_for_each_file() -> None:
    """Others (junitparser) read a suite for each file, and the sums agree: an error failed, a warning was skipped."""
    read = JUnitXml.fromstring(report("junit", finding(), finding(severity=WARNING), finding(path="b.md")).encode())
    assert (read.tests, read.failures, read.errors) == (3, 2, 0)
    assert [(suite.name, suite.tests, suite.failures) for suite in read] == [
        ("tasks/task-1-state.md", 2, 1),
        ("b.md", 1, 1),
    ]
    first, second = next(iter(read))
    assert (second.is_skipped, second.result[0].message, second.result[0].type) == (True, "it is wrong", "warning")
    assert (first.name, first.classname) == ("TS206 the-name (5:9)", "tasks/task-1-state.md")
    (failure,) = first.result
    assert (failure.message, failure.type) == ("it is wrong", "error")
    assert failure.text == "tasks/task-1-state.md:5:9 TS206 the-name: it is wrong\nfix it"


def test_junit_fails_on_warnings_that_fail_the_run() -> None:
    """With --strict a warning is a failure, marked as a warning by its type."""
    read = JUnitXml.fromstring(reporter("junit")((finding(severity=WARNING),), Run(files=1, strict=True)).encode())
    ((case,),) = read
    assert (read.failures, [each.type for each in case.result]) == (1, ["warning"])


def test_junit_without_findings_passes() -> None:
    """Without findings there is one test that passes, since programs take a report without tests for a fault."""
    read = JUnitXml.fromstring(report("junit", files=3).encode())
    (suite,) = read
    (case,) = suite
    assert (read.tests, read.failures, case.name, case.is_passed) == (1, 0, "No findings in 3 files", True)


@given(TEXTS, PATHS)
def test_junit_is_xml_whatever_a_file_holds(message: str, path: str) -> None:
    """Characters that XML cannot hold are spelled out, and marks do not end what they stand in."""
    odd = '\x00\x0b\x1b\x7f\x85\ud800\ufffe\uffff<&>"]]>' + message
    read = JUnitXml.fromstring(report("junit", finding(path=path, message=odd)).encode())
    (suite,) = read
    assert suite.failures == 1
    assert '<&>"]]>' in next(iter(suite)).result[0].message


@given(TEXTS, PATHS)
def test_json_reports_are_json_whatever_a_file_holds(message: str, path: str) -> None:
    """Whatever a message, a path and a line hold, the reports can be written as UTF-8 and are read back."""
    one = finding(path=path, message=message, source=message)
    for name in ("json", "sarif", "gitlab"):
        assert json.loads(report(name, one).encode())
    assert report("github", one).encode().count(b"\n") == 1


def test_reports_can_be_read_line_by_line() -> None:
    """The case of the corpus that holds escapes for terminals gives reports without any."""
    case = next(case for case in cases() if any(each.startswith("TS006") for each in case.expected))
    found = engine.findings(case.data, case.name, case.config)
    for name in ("sarif", "github", "gitlab", "junit"):
        assert all(char.isprintable() or char == "\n" for char in report(name, *found))

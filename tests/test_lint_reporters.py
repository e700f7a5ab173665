"""The reporters: findings as text for people, as lines, and as JSON."""

from __future__ import annotations

import json

import pytest

from taskstate.edit import Edit
from taskstate.lint.diagnostic import ERROR, WARNING, Diagnostic, Fix
from taskstate.lint.engine import Finding
from taskstate.lint.reporters import REPORTERS
from taskstate.lint.reporters.text import WIDTH
from taskstate.text import CONTROLS, Span

SAFE = Fix(edits=(Edit(0, 0, ""),))
UNSAFE = Fix(edits=(Edit(0, 0, ""),), safe=False)


def finding(  # noqa: PLR0913 - a finding has these parts
    source: str = "status: doing",
    column: int = 9,
    end: int = 14,
    *,
    line: int = 5,
    lines: int = 0,
    path: str = "tasks/task-1-state.md",
    severity: str = ERROR,
    message: str = "`status` is wrong",
    fix: Fix | None = None,
) -> Finding:
    """Return a finding in a line of text."""
    diagnostic = Diagnostic(
        code="TS101",
        name="front-matter-schema",
        severity=severity,
        span=Span(0, 0),
        message=message,
        help="correct it",
        fix=fix,
    )
    return Finding(
        path=path,
        line=line,
        column=column,
        end_line=line + lines,
        end_column=end,
        diagnostic=diagnostic,
        source=source,
    )


def text(*findings: Finding, files: int = 1) -> str:
    """Return the report for people."""
    return REPORTERS["text"](findings, files=files)


def marked(one: Finding) -> tuple[str, str]:
    """Return the source line and the marker of a report, without what stands before the bar."""
    lines = text(one).split("\n")
    bar = lines[1].index("|") + 2
    return lines[1][bar:], lines[2][bar:]


def test_text_shows_the_line_and_what_to_do() -> None:
    """The report for people: place, code, name and message; the line with a marker; the help; a summary."""
    assert text(finding(), files=3) == (
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: `status` is wrong\n"
        " 5 | status: doing\n"
        "   |         ^^^^^\n"
        "   = help: correct it\n"
        "\n"
        "Found 1 error in 1 of 3 files.\n"
    )


@pytest.mark.parametrize(
    ("findings", "files", "summary"),
    [
        ((), 1, "No findings in 1 file."),
        ((), 2, "No findings in 2 files."),
        ((finding(), finding(severity=WARNING)), 2, "Found 1 error and 1 warning in 1 of 2 files."),
        ((finding(severity=WARNING),) * 2, 1, "Found 2 warnings in 1 of 1 file."),
        ((finding(fix=SAFE), finding(path="b")), 2, "Found 2 errors in 2 of 2 files. 1 can be mended with --fix."),
        (
            (finding(fix=SAFE), finding(fix=UNSAFE)),
            1,
            "Found 2 errors in 1 of 1 file. 1 can be mended with --fix, 1 with --fix --unsafe-fixes.",
        ),
        ((finding(fix=UNSAFE),), 1, "Found 1 error in 1 of 1 file. 1 can be mended with --fix --unsafe-fixes."),
        ((finding(fix=Fix(job="archive")),), 1, "Found 1 error in 1 of 1 file. 1 can be mended with --fix."),
    ],
)
def test_the_summary_counts(findings: tuple[Finding, ...], files: int, summary: str) -> None:
    """The last line says how much was found in how many files, and how much of it can be mended."""
    assert text(*findings, files=files).splitlines()[-1] == summary


@pytest.mark.parametrize(
    ("source", "column", "end", "shown", "marker"),
    [
        ("\tx: y", 5, 6, "    x: y", "       ^"),
        ("a\tb", 2, 3, "a   b", " ^^^"),
        ("題: 名前", 4, 6, "題: 名前", "    ^^^^"),
        ("e\u0301: x", 5, 6, "e\u0301: x", "   ^"),
        ("a\x1b[0m: x", 2, 3, "a\\x1b[0m: x", " ^^^^"),
        ("a\u202eb", 2, 4, "a\\u202eb", " ^^^^^^^"),
        ("a\u2028b", 3, 4, "a\\u2028b", "       ^"),
        ("key:", 5, 5, "key:", "    ^"),
        ("", 1, 1, "", "^"),
        ("x", 9, 12, "x", " ^"),
    ],
)
def test_the_marker_stands_under_the_fault(source: str, column: int, end: int, shown: str, marker: str) -> None:
    """Tabs, wide, combining and control characters move the marker by what they take on a screen."""
    assert marked(finding(source, column, end)) == (shown, marker)


def test_a_fault_of_several_lines_is_marked_to_the_end_of_the_first() -> None:
    """The marker of a fault that goes on below ends with its first line."""
    assert marked(finding("- a: b", 3, 2, lines=2)) == ("- a: b", "  ^^^^")


@pytest.mark.parametrize("column", [1, 50, 99, 150, 300, 497, 500])
def test_a_long_line_is_cut_around_the_fault(column: int) -> None:
    """Of a long line the part around the fault is shown, with a sign where it was cut."""
    source = "".join(chr(ord("a") + at % 26) for at in range(500))
    shown, marker = marked(finding(source, column, column + 2))
    assert len(shown) <= WIDTH + 2
    assert shown[marker.index("^")] == source[column - 1]
    assert shown.startswith("…") == (shown[0] != source[0] or column > WIDTH)
    assert len(marker.strip()) == min(2, 500 - column + 1)


def test_a_marker_is_as_long_as_what_is_shown() -> None:
    """A fault that is longer than what is shown of the line is marked as far as that."""
    shown, marker = marked(finding("x" * 500, 1, 501))
    assert shown == "x" * WIDTH + "…"
    assert marker == "^" * WIDTH


def test_concise_is_a_line_each() -> None:
    """The short report has one line for each finding, and nothing else."""
    assert REPORTERS["concise"]((), files=3) == ""
    found = (finding(), finding(severity=WARNING, message="two\nlines"))
    assert REPORTERS["concise"](found, files=1) == (
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: `status` is wrong\n"
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: two\\nlines (warning)\n"
    )


def test_json_has_the_published_shape() -> None:
    """The report for programs has the keys, and the order of keys, that others build on."""
    report = json.loads(REPORTERS["json"]((finding(fix=SAFE), finding(severity=WARNING, path="ä")), files=7))
    assert report["files"] == 7
    assert report["findings"][0] == {
        "path": "tasks/task-1-state.md",
        "line": 5,
        "column": 9,
        "end_line": 5,
        "end_column": 14,
        "code": "TS101",
        "name": "front-matter-schema",
        "severity": "error",
        "message": "`status` is wrong",
        "help": "correct it",
        "fixable": True,
    }
    assert [(one["path"], one["severity"], one["fixable"]) for one in report["findings"][1:]] == [
        ("ä", "warning", False)
    ]


@pytest.mark.parametrize("name", REPORTERS)
def test_no_control_character_is_printed(name: str) -> None:
    """Whatever a path, a message or a line holds, the report holds no character that a terminal would obey."""
    odd = "a\x1b]0;x\x07\x9b\u202e\udcff\x00\rb"
    report = REPORTERS[name]((finding(odd, 2, 5, path=odd, message=odd),), files=1)
    assert not CONTROLS.search(report)
    assert "\r" not in report


def test_json_keeps_the_values() -> None:
    """Control characters are escaped in JSON, and come back when it is read."""
    odd = "a\x1b\x9b\u202e\x7fb"
    report = json.loads(REPORTERS["json"]((finding(path=odd, message=odd),), files=1))
    assert (report["findings"][0]["path"], report["findings"][0]["message"]) == (odd, odd)

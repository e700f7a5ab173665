"""The reporters for people: findings in full and as lines, and as JSON; and what all reporters have in common."""

from __future__ import annotations

import json
import re

import pytest

from taskstate.lint.diagnostics import ERROR, MOST_REPORTED, MOST_SHOWN, WARNING, Diagnostic, Finding, Fix, Preview
from taskstate.lint.reporters import FORMATS, Run, reporter
from taskstate.lint.reporters.text import WIDTH
from taskstate.syntax.edits import Edit
from taskstate.syntax.spans import CONTROLS, Span

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
    return reporter("text")(findings, Run(files=files))


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


def test_text_shows_the_lines_around_and_what_the_fix_changes() -> None:
    """The lines above and below, blank ones left out, and below the help the lines that the fix removes and adds."""
    one = finding(line=9, fix=UNSAFE)._replace(
        before="\ttitle: x\x1b", after="a: b", preview=Preview(("a",), ("b", ""), 3)
    )
    assert text(one).split("Found")[0] == (
        "tasks/task-1-state.md:9:9 TS101 front-matter-schema: `status` is wrong (unsafe fix)\n"
        "  8 |     title: x\\x1b\n"
        "  9 | status: doing\n"
        "    |         ^^^^^\n"
        " 10 | a: b\n"
        "    = help: correct it\n"
        "    = unsafe fix:\n"
        "      - a\n"
        "      + b\n"
        "      +\n"
        "      … and 3 more (`--diff` shows all)\n"
        "\n"
    )
    assert text(one._replace(before="  ", after="")).count("|") == 2


def test_what_is_not_shown_of_one_rule_in_one_file_is_counted() -> None:
    """Of more than a hundred findings of a rule in a file the rest is a number; lines and JSON have them all."""
    many = [finding(line=line) for line in range(1, MOST_SHOWN + 8)]
    others = [finding(path="b", line=line) for line in range(1, MOST_SHOWN + 1)]
    lines = text(*many, *others).splitlines()
    assert sum("TS101 front-matter-schema" in line for line in lines) == 2 * MOST_SHOWN
    assert [line for line in lines if "more" in line] == [
        "tasks/task-1-state.md: … and 7 more of TS101 (`--output-format concise` shows all)"
    ]
    assert lines[-1] == f"Found {len(many) + len(others)} errors in 2 of 1 file."
    assert len(reporter("concise")(many, Run(files=1)).splitlines()) == len(many)
    assert len(json.loads(reporter("json")(many, Run(files=1)))["findings"]) == len(many)


def test_a_report_that_is_cut_off_says_so() -> None:
    """Where there may be more findings of a rule in a file than are reported, people and programs learn it."""
    many = [finding(line=line) for line in range(1, MOST_REPORTED + 1)]
    lines = text(*many).splitlines()
    assert [line for line in lines if "more of" in line] == [
        "tasks/task-1-state.md: … and 900 more of TS101 (`--output-format concise` shows 1,000; there may be others)"
    ]
    assert lines[-1] == "Found at least 1000 errors in 1 of 1 file."
    cut = [{"path": "tasks/task-1-state.md", "code": "TS101"}]
    assert json.loads(reporter("json")(many, Run(files=1)))["cut"] == cut
    assert "cut" not in json.loads(reporter("json")(many[1:], Run(files=1)))
    assert text(*many[1:]).splitlines()[-1] == "Found 999 errors in 1 of 1 file."


def test_long_lines_around_a_fault_are_cut() -> None:
    """Lines around a fault and of a fix are cut like the line itself, so that a report stays readable."""
    long = "x\t" * 5000
    one = finding(fix=SAFE)._replace(before=long, after=long, preview=Preview((long,), ("ab" * 40,)))
    lines = text(one).splitlines()
    assert max(len(line) for line in lines) <= WIDTH + 10
    assert sum(line.endswith("…") for line in lines) == 3


@pytest.mark.parametrize(
    ("findings", "files", "summary"),
    [
        ((), 1, "No findings in 1 file."),
        ((), 2, "No findings in 2 files."),
        ((finding(), finding(severity=WARNING)), 2, "Found 1 error and 1 warning in 1 of 2 files."),
        ((finding(severity=WARNING),) * 2, 1, "Found 2 warnings in 1 of 1 file."),
        ((finding(fix=SAFE), finding(path="b")), 2, "Found 2 errors in 2 of 2 files. 1 can be fixed with --fix."),
        (
            (finding(fix=SAFE), finding(fix=UNSAFE)),
            1,
            "Found 2 errors in 1 of 1 file. 1 can be fixed with --fix, 1 with --fix --unsafe-fixes.",
        ),
        ((finding(fix=UNSAFE),), 1, "Found 1 error in 1 of 1 file. 1 can be fixed with --fix --unsafe-fixes."),
        ((finding(fix=Fix(job="archive")),), 1, "Found 1 error in 1 of 1 file. 1 can be fixed with --fix."),
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
    """The short report has one line for each finding, says what is a warning and what can be mended, and no more."""
    assert reporter("concise")((), Run(files=3)) == ""
    found = (
        *(finding(), finding(severity=WARNING, message="two\nlines"), finding(fix=SAFE)),
        *(finding(severity=WARNING, fix=UNSAFE), finding(fix=Fix(job="archive"))),
    )
    assert reporter("concise")(found, Run(files=1)) == (
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: `status` is wrong\n"
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: two\\nlines (warning)\n"
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: `status` is wrong (fixable)\n"
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: `status` is wrong (warning, unsafe fix)\n"
        "tasks/task-1-state.md:5:9 TS101 front-matter-schema: `status` is wrong (fixable)\n"
    )


def test_json_has_the_published_shape() -> None:
    """The report for programs has the keys, and the order of keys, that others build on."""
    report = json.loads(reporter("json")((finding(fix=SAFE), finding(severity=WARNING, path="ä")), Run(files=7)))
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


@pytest.mark.parametrize("name", [*FORMATS, "statistics"])
def test_no_control_character_is_printed(name: str) -> None:
    """Whatever a path, a message or a line holds, the report holds no character that a terminal would obey."""
    odd = "a\x1b]0;x\x07\x9b\u202e\udcff\x00\rb"
    report = reporter(name)((finding(odd, 2, 5, path=odd, message=odd),), Run(files=1))
    assert not re.search(CONTROLS, report)
    assert "\r" not in report


@pytest.mark.parametrize("name", ["text", "concise", "statistics"])
def test_colours_are_put_on_and_change_nothing_else(name: str) -> None:
    """A report in colour is the same report with colours, which are the only thing that a terminal obeys."""
    odd = "a\x1b[31mb"
    found = (finding(odd, 2, 5, message=odd), finding(severity=WARNING, fix=SAFE))
    plain, coloured = (reporter(name)(found, Run(files=1, colour=colour)) for colour in (False, True))
    assert re.sub(r"\x1b\[[0-9;]+m", "", coloured) == plain
    assert coloured.count("\x1b[1;31m") >= 1
    assert len(re.findall(r"\x1b\[0m", coloured)) * 2 == coloured.count("\x1b")


def test_statistics_count_the_findings_of_each_rule() -> None:
    """The most frequent rule comes first, each with how many findings, and how they can be mended; then the summary."""
    other = finding(severity=WARNING)
    other = other._replace(diagnostic=other.diagnostic._replace(code="TS404", name="short"))
    found = (*[other] * 10, finding(fix=SAFE), finding(fix=UNSAFE), finding())
    assert reporter("statistics")(found, Run(files=4)) == (
        "10  TS404  short\n"
        " 3  TS101  front-matter-schema  fix (1), unsafe fix (1)\n"
        "\n"
        "Found 3 errors and 10 warnings in 1 of 4 files. 1 can be fixed with --fix, 1 with --fix --unsafe-fixes.\n"
    )
    assert reporter("statistics")((finding(fix=SAFE),), Run(files=1)).startswith("1  TS101  front-matter-schema  fix\n")
    assert reporter("statistics")((), Run(files=2)) == "No findings in 2 files.\n"


def test_json_keeps_the_values() -> None:
    """Control characters are escaped in JSON, and come back when it is read."""
    odd = "a\x1b\x9b\u202e\x7fb"
    report = json.loads(reporter("json")((finding(path=odd, message=odd),), Run(files=1)))
    assert (report["findings"][0]["path"], report["findings"][0]["message"]) == (odd, odd)

"""Reports findings as JUnit XML: a suite for each file with findings, and a test case for each finding.

An error is a failed test case. JUnit knows no warnings, so a warning is a skipped one, unless warnings fail the run.
"""

from __future__ import annotations

import re
from itertools import groupby

from taskstate.lint.diagnostics import ERROR
from taskstate.lint.reporters.concise import headline
from taskstate.syntax.spans import one_line, printable
from taskstate.typed import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from taskstate.lint.diagnostics import Finding
    from taskstate.lint.reporters import Run

_HEAD = '<?xml version="1.0" encoding="utf-8"?>\n'
_NO_CHARACTERS = "[\ufffe\uffff]"  # not allowed in XML 1.0, not even as character references


def report(findings: Sequence[Finding], run: Run) -> str:
    """Return the findings as XML; without any it has one passed test case, since programs expect at least one."""
    suites = [_suite(path, list(found), run) for path, found in groupby(findings, key=lambda finding: finding.path)]
    if not findings:
        count = f"{run.files} {'file' if run.files == 1 else 'files'}"
        case = f'    <testcase name="No findings in {count}" classname="taskstate"/>\n'
        suites = [
            f'  <testsuite name="taskstate" tests="1" failures="0" errors="0" skipped="0">\n{case}  </testsuite>\n'
        ]
    failed = sum(_fails(finding, run) for finding in findings)
    total = f'tests="{max(1, len(findings))}" failures="{failed}" errors="0"'
    return f'{_HEAD}<testsuites name="taskstate lint" {total}>\n{"".join(suites)}</testsuites>\n'


def _fails(finding: Finding, run: Run) -> bool:
    return run.strict or finding.diagnostic.severity == ERROR


def _suite(path: str, findings: Sequence[Finding], run: Run) -> str:
    failed = sum(_fails(finding, run) for finding in findings)
    total = f'tests="{len(findings)}" failures="{failed}" errors="0" skipped="{len(findings) - failed}"'
    cases = "".join(_case(finding, run) for finding in findings)
    return f"  <testsuite name={_quoted(path)} {total}>\n{cases}  </testsuite>\n"


def _case(finding: Finding, run: Run) -> str:
    """Return the test case of a finding; its name has the place, because programs drop cases with a name they have."""
    diagnostic = finding.diagnostic
    name = f"{diagnostic.code} {diagnostic.name} ({finding.line}:{finding.column})"
    place = f"file={_quoted(finding.path)} line={_quoted(str(finding.line))}"
    details = _escaped(f"{headline(finding)}\n{diagnostic.help}")
    result = f"message={_quoted(diagnostic.message)} type={_quoted(diagnostic.severity)}"
    element = "failure" if _fails(finding, run) else "skipped"
    return (
        f"    <testcase name={_quoted(name)} classname={_quoted(finding.path)} {place}>\n"
        f"      <{element} {result}>{details}</{element}>\n"
        "    </testcase>\n"
    )


def _quoted(text: str) -> str:
    return f'"{_escaped(one_line(text)).replace(chr(34), "&quot;")}"'


def _escaped(text: str) -> str:
    text = re.compile(_NO_CHARACTERS).sub(lambda match: f"\\u{ord(match[0]):04x}", printable(text))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

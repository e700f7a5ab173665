"""The table of summary lines that known tools print, with the result that each line stands for.

Data only; `log_parser` applies it. A pattern has these named groups:

- `counts`: a list such as `3 failed, 5 passed`, with the words of `WORDS`;
- `percent`: the share of lines covered by tests; `part_percent`: that of one part, where no total is printed;
- `limit`: the required share; any other group: a number of the things that the group is named after.

`words` are literal parts of the line, of which one is always present: a pattern is tried only on lines that contain
one. No pattern nests repetitions, so each runs in time linear in the length of the line.
"""

from __future__ import annotations

from taskstate.typed import NamedTuple

LINT, FORMAT, TYPECHECK, TEST, COVERAGE = "lint", "format", "typecheck", "test", "coverage"

# The words of counts and their names in a result, in the order in which a result lists them.
WORDS = {
    "passed": "passed",
    "failed": "failed",
    "exec": "failed",  # nextest: `1 exec failed`, a test that could not be started
    "timed": "timed out",
    "error": "errors",
    "errors": "errors",
    "skipped": "skipped",
    "ignored": "skipped",
    "todo": "skipped",
    "pending": "skipped",
    "xfailed": "xfailed",
    "xpassed": "xpassed",
    "warning": "warnings",
    "warnings": "warnings",
}


class Line(NamedTuple):
    """A summary line of a tool.

    `adds` are counts that the line itself stands for, `fails` is a failure that it reports, and `restarts` discards
    what the tool reported before, as in watch mode.
    """

    words: tuple[str, ...]
    pattern: str
    adds: tuple[tuple[str, int], ...] = ()
    fails: str = ""
    restarts: bool = False


class Tool(NamedTuple):
    """A tool: the kind of check, its name, and the count that comes first in its result."""

    kind: str
    name: str
    first: str


_NO_ERRORS = (("errors", 0),)
_GO_PASSED, _GO_FAILED = (("packages passed", 1),), (("packages failed", 1),)
_GO_TEST_FAILED = (("tests failed", 1),)
_TOO_LITTLE = "covers less than the required"

TOOLS: dict[Tool, tuple[Line, ...]] = {
    Tool(TEST, "pytest", "passed"): (
        Line(
            (" passed", " failed", " error", " skipped", " xfailed", " xpassed"),
            # a line of its own, after pytest's rule of `=` or the prefix of a CI system; never quoted in other text
            r"^(?:[^\"'`]*?[\]|:>Z\d](?=[ =\t]))??[ =\t]*"
            r"(?P<counts>\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed)"
            r"(?:, \d+ [a-z]+(?: [a-z]+)?)*) in \d+\.\d+s(?: \([\d:, days]+\))?[^\w\"'`]*$",
        ),
        Line(
            ("no tests ran", " deselected", " warning"),
            r"(?:^|[^,]\s)(?:no tests ran|\d+ deselected|(?:\d+ deselected, )?\d+ warnings?) in \d+\.\d+s\b",
            fails="no tests ran",
        ),
        Line(("INTERNALERROR>",), r"^INTERNALERROR> Traceback", fails="internal error"),
    ),
    Tool(TEST, "jest", "passed"): (
        Line(("Tests:",), r"\bTests:\s+(?P<counts>\d+ [a-z]+(?:, \d+ [a-z]+)*), \d+ total"),
        Line(("Test Suites:",), r"\bTest Suites:\s+(?P<suites_failed>\d{1,9}) failed"),
        Line(("No tests found",), r"\bNo tests found, exiting with code 1", fails="no tests found"),
    ),
    Tool(TEST, "vitest", "passed"): (
        Line(("Tests ",), r"(?:^|\s)Tests\s+(?P<counts>\d+ [a-z]+(?: \| \d+ [a-z]+)*) \(\d+\)\s*$"),
        Line(("Test Files ",), r"(?:^|\s)Test Files\s+(?P<files_failed>\d{1,9}) failed"),
        Line(("Errors ",), r"(?:^|\s)Errors\s+(?P<counts>\d+ errors?)\s*$"),
        Line(("No test files found",), r"\bNo test files found, exiting with code 1", fails="no tests found"),
    ),
    Tool(TEST, "go", "packages passed"): (
        Line(("ok  \t",), r"(?:^|\s)ok  \t\S+\t", adds=_GO_PASSED),
        Line(("FAIL\t",), r"(?:^|\s)FAIL\t\S", adds=_GO_FAILED),
        Line(("--- FAIL: ",), r"^(?:\S+ )?--- FAIL: ", adds=_GO_TEST_FAILED),
        # `go test -json`: the result of a package, and of a test that is not a subtest
        Line(('"Action":"pass"',), r'"Action":"pass","Package":"[^"]*"(?!,"Test")', adds=_GO_PASSED),
        Line(('"Action":"fail"',), r'"Action":"fail","Package":"[^"]*"(?!,"Test")', adds=_GO_FAILED),
        Line(('"Action":"fail"',), r'"Action":"fail","Package":"[^"]*","Test":"[^"/]*"', adds=_GO_TEST_FAILED),
    ),
    Tool(TEST, "cargo", "passed"): (
        Line(
            ("test result: ",),
            r"\btest result: (?:ok|FAILED)\. (?P<counts>\d+ passed; \d+ failed; \d+ ignored)",
        ),
        Line(("error: could not compile",), r"\berror: could not compile ", fails="could not compile"),
        Line((" run: ",), r"\bSummary \[\s*[\d.]+s\]\s+[\d/]+ tests? run: (?P<counts>\d+ [a-z].*)"),
    ),
    Tool(LINT, "eslint", "errors"): (
        Line((" problem",), r"\b\d+ problems? \((?P<counts>\d+ errors?, \d+ warnings?)\)"),
        Line(("ESLint found too many",), r"\bESLint found too many warnings", fails="too many warnings"),
        Line(("Oops! Something went wrong!",), r"^Oops! Something went wrong! :\(", fails="eslint stopped"),
    ),
    Tool(LINT, "ruff", "errors"): (
        Line(("All checks passed!",), r"\bAll checks passed!", adds=_NO_ERRORS),
        Line(("Found ",), r"\bFound (?P<errors>\d{1,9}) errors?\.\s*$"),
        Line(("Found ",), r"\bFound \d+ errors? \(\d+ fixed, (?P<errors>\d{1,9}) remaining\)\."),
        Line(("Would fix ",), r"\bWould fix (?P<errors>\d{1,9}) errors?\b"),
    ),
    Tool(FORMAT, "ruff", "files unformatted"): (
        Line((" would be reformatted",), r"\b(?P<files_unformatted>\d{1,9}) files? would be reformatted\b"),
        Line(
            (" already formatted", " left unchanged", " reformatted"),
            r"(?:^|\s)\d+ files? (?:already formatted|left unchanged|reformatted)\b",
            adds=(("files unformatted", 0),),
        ),
    ),
    Tool(TYPECHECK, "mypy", "errors"): (
        Line(("Found ",), r"\bFound (?P<errors>\d{1,9}) errors? in \d+ files? \((?:checked|errors prevented)"),
        Line(("Success: no issues",), r"\bSuccess: no issues found in \d+ source files?", adds=_NO_ERRORS),
        Line((": error: INTERNAL ERROR",), r": error: INTERNAL ERROR", fails="internal error"),
    ),
    Tool(TYPECHECK, "tsc", "errors"): (
        Line(("error TS",), r"(?:^|\W)error TS\d+: ", adds=(("errors", 1),)),
        Line(("Found 0 errors. ",), r"\bFound 0 errors\. Watching", adds=_NO_ERRORS),
        Line((" compilation",), r"\bStarting (?:incremental compilation|compilation in watch mode)", restarts=True),
    ),
    Tool(COVERAGE, "pytest", ""): (
        Line(("TOTAL",), r"(?:^|\s)TOTAL\s+\d+\s+\d+(?:\s+\d+\s+\d+)?\s+(?P<percent>\d{1,3}(?:\.\d{1,6})?)%\s*$"),
        Line(
            ("Required test coverage",),
            r"\bRequired test coverage of \S+ reached\. Total coverage: (?P<percent>\d{1,3}(?:\.\d{1,6})?)%",
        ),
        Line(
            ("Required test coverage",),
            r"\bRequired test coverage of (?P<limit>\d{1,3}(?:\.\d{1,6})?)% not reached\. "
            r"Total coverage: (?P<percent>\d{1,3}(?:\.\d{1,6})?)%",
            fails=_TOO_LITTLE,
        ),
    ),
    Tool(COVERAGE, "istanbul", ""): (
        Line(
            ("All files",),
            r"\bAll files\s*\|\s*[\d.]+\s*\|\s*[\d.]+\s*\|\s*[\d.]+\s*\|\s*(?P<percent>\d{1,3}(?:\.\d{1,6})?)\s*\|",
        ),
        Line(("Lines  ",), r"\bLines\s+: (?P<percent>\d{1,3}(?:\.\d{1,6})?)% \( \d+/\d+ \)"),
        Line(
            (" does not meet ",),
            r"\bCoverage for [a-z]+ \([\d.]+%\) does not meet \S+ threshold \((?P<limit>\d{1,3}(?:\.\d{1,6})?)%\)",
            fails=_TOO_LITTLE,
        ),
        Line(
            (" not met: ",),
            r"\bcoverage threshold for [a-z]+ \((?P<limit>\d{1,3}(?:\.\d{1,6})?)%\) not met: [\d.]+%",
            fails=_TOO_LITTLE,
        ),
    ),
    Tool(COVERAGE, "go", ""): (
        Line(
            ("coverage: ",),
            r"(?:^|\s)ok  \t\S+\t.*\bcoverage: (?P<part_percent>\d{1,3}(?:\.\d{1,6})?)% of statements",
        ),
        Line(("(statements)",), r"\btotal:\s+\(statements\)\s+(?P<percent>\d{1,3}(?:\.\d{1,6})?)%"),
    ),
    Tool(COVERAGE, "llvm-cov", ""): (
        Line(
            ("TOTAL",),
            r"(?:^|\s)TOTAL(?:\s+\d+\s+\d+\s+[\d.]+%){2}\s+\d+\s+\d+\s+(?P<percent>\d{1,3}(?:\.\d{1,6})?)%",
        ),
    ),
}

# How runners such as make or npm report a failure: it belongs to the tool whose line came last.
EXITS = (
    Line(("] Error ",), r"\bmake(?:\[\d+\])?: \*\*\* \[.*\] Error (?P<status>\d{1,3})\s*$"),
    Line((" with exit code ",), r"\b(?:Process completed|Command failed) with exit code (?P<status>\d{1,3})\.?\s*$"),
    Line(("exit code", "exit status"), r"^[-\s\[]*exit (?:code|status)[:=]?\s*(?P<status>\d{1,3})\]?\.?\s*$"),
    Line(("npm ERR! code", "npm error code"), r"\bnpm (?:ERR!|error) code (?P<status>\d{1,3})\s*$"),
)

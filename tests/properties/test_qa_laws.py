"""Results of checks: any log can be read, and a comparison is the same seen from either side."""

from __future__ import annotations

import re
import string

from hypothesis import assume, example, given
from hypothesis import strategies as st

from taskstate.errors import TaskstateError
from taskstate.model import names
from taskstate.model.config import QaReader
from taskstate.model.tool_blocks import CheckResult, read_tool_blocks
from taskstate.qa import results as qa_results
from taskstate.qa.log_parser import read_log, text_chunks
from taskstate.qa.log_patterns import EXITS, TOOLS
from taskstate.qa.results import MISSING, NEW, compare, is_success, result_of
from taskstate.syntax.spans import CONTROLS

LINES = (
    *("3 passed in 0.01s", "1 failed, 2 passed in 0.01s", "no tests ran in 0.01s", "All checks passed!"),
    *(
        "Found 2 errors.",
        "Found 1 error in 1 file (checked 1 source file)",
        "Success: no issues found in 1 source file",
    ),
    *("Tests:       1 failed, 2 passed, 3 total", " Tests  2 passed (2)", "\u2716 2 problems (1 error, 1 warning)"),
    *("a.ts(1,1): error TS1: x", "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured", "ok  \ta\t0.1s"),
    *("FAIL\ta\t0.1s", "TOTAL 6 3 50%", "All files | 40 | 0 | 50 | 66.66 |", "make: *** [Makefile:1: x] Error 2"),
    *("1 file would be reformatted", "61 files already formatted", "exit code: 0", "hello", ""),
)
WORDS = sorted(
    {word for lines in TOOLS.values() for line in lines for word in line.words} | {w for e in EXITS for w in e.words}
)
PARTS = st.sampled_from(
    [*LINES, *WORDS, "\x1b[1m", "\x1b]0;", "\x07", "\r", "\n", "\r\n", "1", " ", "%", "9" * 30, "."]
)
TEXTS = st.lists(PARTS | st.text(max_size=4), max_size=20).map("".join)
LOGS = TEXTS.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=200)
ORDERLY = st.lists(st.sampled_from([line for line in LINES if not {"%", "|", "*"} & {*line}]), max_size=12)
ORDERS = ORDERLY.flatmap(lambda lines: st.tuples(st.just(lines), st.permutations(lines)))
READER = QaReader("own", r"(?P<text>[a-z]+)(?P<failed>\d*)")

FIGURES = st.builds(
    "{} passed, {} failed{}".format,
    st.integers(0, 99),
    st.integers(0, 3),
    st.sampled_from(
        ["", ", coverage 80%", ", coverage 82%", ", coverage 82.1%", ", coverage 77.9%", ", exit status 1"]
    ),
)
RESULTS = st.dictionaries(
    st.sampled_from(["lint", "test", "coverage", "bench"]), (FIGURES | st.text(max_size=30)).map(result_of)
)


@given(LOGS)
@example(b"\xff\xfe\x00")
@example(b"TOTAL 1 1 " + b"9" * 900 + b"%")
@example(b"9" * 900 + b" passed in 0.1s")
def test_any_log_can_be_read(log: bytes) -> None:
    """Reading never raises; each result is one line of limited length whose words say whether it is well."""
    for name, result in read_log(log).items():
        assert names.require_result_name(name)
        assert result.ok == is_success(result.text)
        assert result == result_of(result.text)
        assert 0 < len(result.text) <= qa_results.MAX_TEXT
        assert not re.search(f"{CONTROLS}|\n", result.text)
    for result in read_log(log, (READER,)).values():
        assert not re.search(f"{CONTROLS}|\n", result.text)


@given(st.lists(st.sampled_from(LINES), max_size=12), st.sampled_from(["\n", "\r\n", "\r"]))
def test_colours_and_line_ends_do_not_count(lines: list[str], newline: str) -> None:
    """A log with colours and other line ends gives the same results."""
    plain = read_log("\n".join(lines).encode())
    coloured = newline.join("\x1b[1m\x1b[38;5;2m" + line.replace(" ", " \x1b[0m") for line in lines)
    assert read_log(coloured.encode()) == plain


@given(ORDERS)
def test_order_of_tools_does_not_count(orders: tuple[list[str], list[str]]) -> None:
    """Where nothing tells an exit status or a share, the order of a log's lines does not matter."""
    one, two = ("\n".join(lines).encode() for lines in orders)
    assert read_log(one) == read_log(two)


@given(LOGS)
def test_pieces_are_the_log(log: bytes) -> None:
    """The pieces of a log are whole lines and all of it."""
    assume(log[:2] not in {b"\xff\xfe", b"\xfe\xff"} and b"\x1b" not in log and b"\r" not in log)
    assert "".join(text_chunks(log)) == log.decode("utf-8", "replace")


@given(RESULTS, RESULTS)
def test_comparison_is_antisymmetric(one: dict[str, CheckResult], two: dict[str, CheckResult]) -> None:
    """What is worse one way is better the other way, but for a failing check that comes or goes: that is never good."""
    there, back = compare(one, two), compare(two, one)
    both = one.keys() & two.keys()

    def aspects(differences: tuple[qa_results.Difference, ...]) -> set[tuple[str, str]]:
        return {(each.name, each.aspect) for each in differences if each.name in both}

    assert aspects(there.regressions) == aspects(back.improvements)
    assert aspects(there.improvements) == aspects(back.regressions)
    assert there.same == back.same
    for name in one.keys() ^ two.keys():
        kind = NEW if name in two else MISSING
        expected = there.improvements if name in two and two[name].ok else there.regressions
        assert [each.aspect for each in expected if each.name == name] == [kind]


@given(RESULTS)
def test_nothing_differs_from_itself(results: dict[str, CheckResult]) -> None:
    """Results are the same as themselves, also once they have been through a front matter."""
    assert compare(results, results) == ((), (), tuple(sorted(results)))
    written = {"baseline": {"results": qa_results.front_matter_results(results)}}
    assert read_tool_blocks(written).baseline.results == results


@given(st.text(max_size=300), st.none() | st.integers(0, 255))
def test_a_result_of_any_text(text: str, status: int | None) -> None:
    """Any text makes one printable line, and what ended with another status than 0 is never well."""
    result = result_of(text, status)
    assert len(result.text) <= qa_results.MAX_TEXT
    assert not re.search(f"{CONTROLS}|\n", result.text)
    assert not (status and result.ok)


@given(st.text(string.ascii_letters + string.digits + "x-._ ", max_size=45))
def test_names_that_are_taken_can_be_written(name: str) -> None:
    """A name that is not refused is a key of the schema, and no key of somebody's own."""
    try:
        names.require_result_name(name)
    except TaskstateError:
        return
    assert not name.startswith("x-")
    assert name == name.strip() != ""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.model.config import QaReader
from taskstate.model.tool_blocks import CheckResult
from taskstate.qa.log_parser import read_log, text_chunks
from taskstate.qa.log_patterns import EXITS, TOOLS

if TYPE_CHECKING:
    from collections.abc import Sequence

CASES = sorted((Path(__file__).parents[1] / "cases/qa").glob("*.log"))
HEAD = re.compile(rb"\A(?:#> [^\n]*\n)+")
SCORE = QaReader("bench", r"score: (?P<text>\S+)")


def said(log: bytes, readers: Sequence[QaReader] = ()) -> str:
    """Return the results of a log as the header of a case has them."""
    result = read_log(log, tuple(readers))
    lines = [f"#> {name}: {'ok' if each.ok else 'FAIL'}: {each.text}" for name, each in sorted(result.items())]
    return "\n".join(lines or ["#> nothing"]) + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_logs_of_tools(path: Path, line_end: bytes) -> None:
    """A log gives just the results that its first lines, which begin with `#>`, say; whatever its line ends."""
    whole = path.read_bytes()
    head = HEAD.match(whole)
    assert head, f"{path.name} begins with no line `#> NAME: ok|FAIL: TEXT`, or `#> nothing`"
    assert said(whole[head.end() :].replace(b"\n", line_end)) == head[0].decode()


def test_every_line_of_the_table_is_in_a_case() -> None:
    """No pattern of the table is there that no case shows."""
    logs = [text for path in CASES for text in text_chunks(HEAD.sub(b"", path.read_bytes()))]
    lines = (*(line for lines in TOOLS.values() for line in lines), *EXITS)
    result = {line.pattern for line in lines for text in logs if re.search(line.pattern, text, re.MULTILINE)}
    assert [line.pattern for line in lines if line.pattern not in result] == []


def test_word_of_a_line_stands_where_its_pattern_does() -> None:
    """One of the words of a line is in whatever its pattern matches, or it would never be tried."""
    logs = [text for path in CASES for text in text_chunks(HEAD.sub(b"", path.read_bytes()))]
    for line in (*(line for lines in TOOLS.values() for line in lines), *EXITS):
        values = [each for text in logs for each in text.split("\n") if re.search(line.pattern, each)]
        assert [each for each in values if not any(word in each for word in line.words)] == []


# Tools that are at hand


def run(folder: Path, *command: str) -> bytes:
    """Return what a tool of Python prints, both streams together."""
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return done.stdout


@pytest.mark.slow
def test_real_pytest_and_ruff(tmp_path: Path) -> None:
    """What pytest and ruff print today is understood, one after the other in one log."""
    (tmp_path / "test_some.py").write_text("def test_a(): pass\ndef test_b(): assert 0\n", encoding="utf-8")
    (tmp_path / "mod.py").write_text("import os\n", encoding="utf-8")
    ruff = ("ruff", "check", "--isolated", "--no-cache", "mod.py")
    log = run(tmp_path, "pytest", "-p", "no:cacheprovider", "-p", "no:randomly") + run(tmp_path, *ruff)
    log += run(tmp_path, "ruff", "format", "--isolated", "--no-cache", "--check", ".")
    assert said(log) == (
        "#> format: FAIL: 1 file unformatted\n#> lint: FAIL: 1 error\n#> test: FAIL: 1 passed, 1 failed\n"
    )


@pytest.mark.slow
def test_real_mypy(tmp_path: Path) -> None:
    """What mypy prints today is understood."""
    (tmp_path / "mod.py").write_text('x: int = "a"\n', encoding="utf-8")
    assert said(run(tmp_path, "mypy", "--cache-dir=/dev/null", "mod.py")) == "#> typecheck: FAIL: 1 error\n"


# A project's own readers


def test_reader_of_the_configuration() -> None:
    """A reader gives the result of its name by the last line that it matches, and goes before the table."""
    log = b"score: 80\n3 passed in 0.01s\nscore: 93\n"
    assert read_log(log, (SCORE,)) == {
        "bench": CheckResult(ok=True, text="93"),
        "test": CheckResult(ok=True, text="3 passed"),
    }
    own = QaReader("test", r"^(?P<text>\d+ passed)")
    assert read_log(log, (own,)) == {"test": CheckResult(ok=True, text="3 passed")}


def test_reader_that_tells_failure() -> None:
    """A reader's result fails by its words, or by a group `failed` that holds anything but zeros."""
    reader = QaReader("load", r"(?P<text>p95 \d+ ms), missed (?P<failed>\d+)")
    assert read_log(b"p95 40 ms, missed 0\n", (reader,))["load"].ok
    assert not read_log(b"p95 40 ms, missed 2\n", (reader,))["load"].ok
    assert not read_log(b"score: 2 failed", (QaReader("a", r"score: (?P<text>.*)"),))["a"].ok


def test_reader_that_gives_nothing() -> None:
    """Where a reader's text is empty or missing there is no result, and what a terminal would obey is written out."""
    assert read_log(b"score: \n", (QaReader("a", r"score: (?P<text>\S*)"),)) == {}
    assert read_log(b"score: \n", (QaReader("a", r"score:(?P<text>x)?"),)) == {}
    assert read_log(b"score: \x07b\n", (SCORE,))["bench"].text == "\\x07b"


# Any log


def test_escapes_and_encodings() -> None:
    """Colours, links, titles, carriage returns, bytes that are no UTF-8 and UTF-16 do not hide a result."""
    summary = "==== 2 passed, 1 failed in 0.10s ===="
    plain = {"test": CheckResult(ok=False, text="2 passed, 1 failed")}
    for log in (
        b"\x1b]0;title\x07\x1b[1m==== \x1b[32m2 passed\x1b[0m, \x1b[31m1 failed\x1b[0m in 0.10s ====\n",
        b"\x1b]8;;http://x\x1b\\==== 2 passed, 1 failed in 0.10s\x1b]8;;\x1b\\ ====",
        b"10%\r50%\r100%\r" + summary.encode() + b"\r\n",
        b"\xff\xfe\x00 not utf-8\n" + summary.encode(),
        b"\xe9t\xe9\n" + summary.encode() + b" \xff\n",
        ("\ufeff" + summary + "\r\n").encode("utf-16-le"),
        ("\ufeff" + summary + "\n").encode("utf-16-be"),
    ):
        result = read_log(log)
        assert result == plain or log.startswith(b"\xff\xfe\x00 "), log
    assert read_log(b"") == {}


def test_long_lines_are_passed_over() -> None:
    """A line of more than 1,000 characters is no summary, and hides none."""
    assert read_log(b"x " * 600 + b"1 failed in 0.10s\n") == {}
    assert read_log(b"1 failed " * 600 + b"\n2 passed in 0.10s\n")["test"].text == "2 passed"


def test_results_across_pieces() -> None:
    """A large log is read piece by piece by whole lines, and the order of its lines still counts."""
    filler = b"tests/test_a.py::test_some PASSED\n" * 70_000
    log = b"".join([b"All checks passed!\n", filler, b"7 passed in 0.10s\n", filler, b"exit code: 4\n"])
    assert len(list(text_chunks(log))) > 3
    assert b"".join(text.encode() for text in text_chunks(log)) == log
    assert read_log(log) == {
        "lint": CheckResult(ok=True, text="0 errors"),
        "test": CheckResult(ok=False, text="7 passed, exit status 4"),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        b"1 passed, 1 error in 0.01s\n",
        b"an error in what passed, failed and skipped in 1 problem\n",
        b"TOTAL" + b" 1" * 400 + b"\n",
        b"Tests: " + b"1 a, " * 150 + b"\n",
        b"\x1b[",
        b"\x1b]",
        b"Found ",
        b"\r",
    ],
)
def test_time_grows_with_the_length(line: bytes) -> None:
    """Four times as long a log takes about four times as long, and no line makes a pattern go astray."""

    def seconds(size: int) -> float:
        log = line * (size // len(line))
        return min(_timed(log) for _ in range(2))

    short, long = seconds(250_000), seconds(1_000_000)
    assert long < 12 * short + 0.2


def _timed(log: bytes) -> float:
    begin = time.process_time()
    read_log(log)
    return time.process_time() - begin

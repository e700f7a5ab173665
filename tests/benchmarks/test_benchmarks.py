from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import pytest

from benchmarks import report
from benchmarks.appending import Growing
from benchmarks.corpus import C1, Corpus, generate, write
from benchmarks.measurement import Compared, Measurement
from benchmarks.report import table
from benchmarks.timing import Seconds, exponent, interleaved, program
from benchmarks.tools import TOOLS, installed
from taskstate.lint.engine import findings
from taskstate.model.config_reader import read_config

SMALL = Corpus(name="small", files=85, least=2, most=12, total="600 KB")


def test_the_corpus_is_the_same_bytes_everywhere() -> None:
    """One seed gives one corpus, on any machine and with any Python."""
    ((name, data),) = generate(C1)
    assert name == "task-1-state.md"
    assert 74 * 1024 < len(data) <= 75 * 1024
    assert hashlib.sha256(data).hexdigest() == "e9a1bb56cafe15b5d4548331691ab325c8c75f0b2e98f47ac2494d2c3b68c6f1"
    assert list(generate(SMALL)) == list(generate(SMALL)) != list(generate(SMALL, seed=1))


def test_the_corpus_lints_clean() -> None:
    """No file of it has a finding, whichever form it has; over 50 KB and 20 sessions the warnings about that alone."""
    config = read_config({}, "the test")
    files = list(generate(SMALL))
    assert any(b"<details>" in data for _, data in files)
    assert any(b"\r\n" in data for _, data in files)
    assert [finding for name, data in files for finding in findings(data, name, config)] == []
    assert [each.diagnostic.code for name, data in generate(C1) for each in findings(data, name, config)] == [
        "TS501",
        "TS503",
    ]


def test_a_corpus_is_written_into_folders(tmp_path: Path) -> None:
    """The files are where the list says, with what was generated."""
    paths = write(SMALL, tmp_path)
    assert [path.relative_to(tmp_path).parts for path in paths[:1]] == [("part-00", "task-1-state.md")]
    assert [path.read_bytes() for path in paths] == [data for _, data in generate(SMALL)]


def test_candidates_take_turns_and_the_median_counts() -> None:
    """After a round to warm up each runs once a round, in an order that rotates."""
    order: list[str] = []

    def candidate(name: str, times: list[float]) -> float:
        order.append(name)
        return times.pop(0)

    slow, fast = [9.0, 3.0, 5.0, 4.0], [8.0, 1.0, 1.0, 2.0]
    taken = interleaved({"slow": lambda: candidate("slow", slow), "fast": lambda: candidate("fast", fast)}, rounds=3)
    assert taken == {"slow": 4.0, "fast": 1.0}
    assert order == ["slow", "fast", "fast", "slow"] * 2


def test_what_grows_in_step_has_the_exponent_one() -> None:
    """Twice the size in twice the time is linear, in four times the time it is quadratic."""
    assert exponent([1, 2, 4], [3.0, 6.0, 12.0]) == pytest.approx(1)
    assert exponent([10, 100], [1.0, 100.0]) == pytest.approx(2)


def test_measurements_are_shown_as_a_table() -> None:
    """Each measurement is a row with its times; the ratio is left out if the reference was skipped."""
    times = Seconds(0.06, 0.05, 0.055, 0.07), Seconds(0.02, 0.01, 0.018, 0.03)
    measurements = [
        Measurement("one", "nothing", 1.234, 5.0),
        Measurement("two", "all", 3, 0, "so", *times),
        Measurement("three", "skipped", float("nan"), 0),
    ]
    assert table(measurements).split("\n")[2:-1] == [
        "| one | nothing | 1.23 |  | 5 |  |  |",
        "| two | all (so) | 3 | 5 |  | 60 ms (55 to 70) | 20 ms (18 to 30) |",
        "| three | skipped |  |  |  |  |  |",
    ]


def test_a_benchmark_that_is_run_again_replaces_its_rows_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The record, the page and the plot hold what was measured last of each benchmark, also what was skipped."""
    for name in ("RESULTS", "PAGE", "PLOT"):
        monkeypatch.setattr(report, name, tmp_path / name)
    slow, fast = (Compared("lint", "sleep", 2.0).by(_taken(ours)) for ours in (5.0, 1.0))
    skipped = Measurement("find", "rg, skipped: no network", float("nan"), 3.0)
    report.record({"one": [slow], "other": [skipped]})
    report.record({"one": [fast]})
    page = report.PAGE.read_text(encoding="utf-8")
    assert "| lint | sleep | 1 | 1 | 2 | 1000 ms (1000 to 1000) | 1000 ms (1000 to 1000) |" in page
    assert "| find | rg, skipped: no network |  |  | 3 |  |  |" in page
    assert all(tool.does in page and tool.does_not in page for tool in TOOLS.values())
    assert "5000" not in page
    assert "lint / sleep" in report.PLOT.read_text(encoding="utf-8")


def _taken(ours: float) -> dict[str, Seconds]:
    return {"ours": Seconds(ours, ours, ours, ours), "reference": Seconds(1, 1, 1, 1)}


def test_a_process_is_timed_with_its_children() -> None:
    """The time of the processor is that of the program and of those that it waited for."""
    work = "sum(range(3_000_000))"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{work}'])"
    seconds = program((sys.executable, "-c", code), Path())()
    assert seconds.cpu > 0
    assert seconds > 0


def test_a_tool_that_cannot_be_installed_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is in the error, for the row."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RuntimeError, match="npm is not installed"):
        installed("markdownlint-cli2", folder=tmp_path)


@pytest.mark.slow
def test_growing_task_is_archived_in_rounds(tmp_path: Path) -> None:
    """A round ends when sessions are archived, and the file stays within its limit."""
    task = Growing(tmp_path)
    first, second = task.append_round(), task.append_round()
    assert task.number == first + second
    assert task.archived > second
    assert max(task.sizes) <= 16 * 1024

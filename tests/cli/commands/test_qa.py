from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from taskstate.storage import files
from tests.support.place import tree

if TYPE_CHECKING:
    from tests.cli.conftest import Cli
    from tests.support.place import Place

GOOD = "ruff check: All checks passed!\n==== 42 passed in 1.20s ====\n"
BAD = "ruff check: All checks passed!\n==== 1 failed, 41 passed in 1.20s ====\n"


@pytest.fixture
def log(place: Place) -> str:
    """Return the name of a log of checks that pass."""
    (place.root / "qa.log").write_text(GOOD, encoding="utf-8")
    return "qa.log"


def test_baseline_and_comparison(cli: Cli, log: str) -> None:
    """A baseline is recorded from a file, a role's results from standard input; what is worse gives status 1."""
    assert cli.ok("qa", "record", "101", "--from", log) == (
        ".taskstate/tasks/task-101-state.md: baseline recorded\n  lint  ok    0 errors\n  test  ok    42 passed\n"
    )
    shape = cli.json("qa", "record", "101", "--role", "reviewer", "--from", "-", stdin=BAD)
    assert (shape["role"], shape["changed"]) == ("reviewer", True)
    assert shape["results"]["test"] == {"ok": False, "text": "41 passed, 1 failed"}
    result = cli("qa", "compare", "101", "--role", "reviewer")
    assert (result.status, result.err) == (1, "")
    assert result.out == (
        "worse   test  passed, and now fails (42 passed -> 41 passed, 1 failed)\nsame    lint  0 errors\n"
    )
    data = cli.json("qa", "compare", "101", "--role", "reviewer", status=1)
    assert [each["aspect"] for each in data.pop("regressions")] == ["exit-status"]
    assert data == {"improvements": [], "same": ["lint"]}


def test_comparison_without_regression(cli: Cli, log: str) -> None:
    """What is better or new is reported with status 0, and quiet says nothing."""
    cli.ok("qa", "record", "101", "--from", "-", stdin=BAD)
    cli.ok("qa", "record", "101", "--role", "reviewer", "--from", log, "--result", "smoke=2 passed")
    assert cli.ok("qa", "compare", "101", "--role", "reviewer") == (
        "better  smoke  was not checked before (- -> 2 passed)\n"
        "better  test   failed, and now passes (41 passed, 1 failed -> 42 passed)\n"
        "same    lint   0 errors\n"
    )
    assert cli.ok("qa", "compare", "101", "--role", "reviewer", "--quiet") == ""


def test_named_results(cli: Cli) -> None:
    """Results and exit statuses are named as often as one likes; a text may hold equals signs."""
    data = cli.json(
        *("qa", "record", "101", "--from", "-", "--result", "bench=score=93", "--result", "test=3 passed"),
        *("--exit-status", "lint=0", "--exit-status", "test=1"),
        stdin="silence",
    )
    assert data["results"] == {
        "bench": {"ok": True, "text": "score=93"},
        "lint": {"ok": True, "text": "exit status 0"},
        "test": {"ok": False, "text": "3 passed, exit status 1"},
    }


def test_dry_run(cli: Cli, place: Place, log: str) -> None:
    """A dry run prints the diff and writes nothing."""
    before = tree(place.root)
    assert "+baseline:" in cli.ok("qa", "record", "101", "--from", log, "--dry-run")
    assert tree(place.root) == before


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("record", "101"), "the following arguments are required: --from"),
        (("record", "101", "--from", "none.log"), "cannot read none.log: it does not exist"),
        (("record", "101", "--from", "."), "is a folder"),
        (("record", "101", "--from", "-"), "nothing in the log is a result that taskstate knows"),
        (("record", "999", "--from", "qa.log"), "there is no task 999"),
        (("record", "101", "--from", "qa.log", "--role", "boss"), "there is no role 'boss'"),
        (("record", "101", "--from", "qa.log", "--result", "test"), "has no name and value"),
        (("record", "101", "--from", "qa.log", "--result", "a=1", "--result", "a=2"), "gives 'a' twice"),
        (("record", "101", "--from", "qa.log", "--exit-status", "a=one"), "'one' is not an exit status"),
        (("record", "101", "--from", "qa.log", "--exit-status", "a=-1"), "'-1' is not an exit status"),
        (("compare", "101"), "the following arguments are required: --role"),
        (("compare", "101", "--role", "reviewer"), "task 101 has no baseline to compare"),
    ],
)
def test_refusals(cli: Cli, log: str, arguments: tuple[str, ...], text: str) -> None:
    """An impossible request gives a one-line error, and changes nothing."""
    assert log
    assert text in cli.refused("qa", *arguments)


def test_log_that_is_too_large(cli: Cli, place: Place, log: str) -> None:
    """A log over the limit is refused with a way to hand over its end."""
    os.truncate(place.root / log, files.MAX_BYTES + 1)
    assert "`tail -c 50M qa.log | taskstate qa record" in cli.refused("qa", "record", "101", "--from", log)


def test_forced_secret_is_warned_of(cli: Cli, place: Place, log: str) -> None:
    """What is forced is written, and warned of on standard error without its value."""
    key = "AKIA" + "QWERTYUIOPASDFGH"
    (place.root / log).write_text(f"{GOOD}{key}\n", encoding="utf-8")
    assert key not in cli.refused("qa", "record", "101", "--from", log)
    result = cli("qa", "record", "101", "--from", log, "--force-secrets", "--format", "json")
    assert (result.status, "the log, line 3" in result.err, key in result.err + result.out) == (0, True, False)
    assert len(json.loads(result.out)["data"]["notes"]) == 1

"""The parts of the tests that `make check` runs: those that say most in little time, by what they took when measured.

`python -m scripts.quick` names them for pytest; with `--update` it measures them anew, and writes `tests/quick.json`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "tests" / "quick.json"
BUDGET = 48.0  # seconds of the processor: half of it where there are two, so that `make check` takes less than 50 s


class Part(NamedTuple):
    """A folder or a file of tests: how many tests were written in it when it was measured, and what they took."""

    tests: int
    seconds: float


def recorded() -> dict[str, Part]:
    """Return the parts by their paths."""
    return {path: Part(**part) for path, part in json.loads(RECORD.read_text(encoding="utf-8")).items()}


def written_in(path: str) -> int:
    """Return how many tests are written in a part, each counted once with all its parameters."""
    part = ROOT / path
    files = part.rglob("test_*.py") if part.is_dir() else [part]
    return sum(len(re.findall(r"^ *(?:async )?def test_", file.read_text("utf-8"), re.MULTILINE)) for file in files)


class Measured:
    """A plugin of pytest that adds up the seconds of the processor, those of processes too, by part."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = dict.fromkeys(recorded(), 0)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Measure a test with its fixtures."""
        before = sum(os.times()[:4])
        found = yield
        part = next(path for path in self.seconds if item.nodeid.startswith((f"{path}/", f"{path}::")))
        self.seconds[part] += sum(os.times()[:4]) - before
        return found


def main() -> int:
    """Name the parts, or measure them."""
    paths = list(recorded())
    if sys.argv[1:] != ["--update"]:
        print(*paths)
        return 0
    measured = Measured()
    status = pytest.main(["-q", "-m", "not slow", *paths], plugins=[measured])
    now = {path: Part(written_in(path), round(measured.seconds[path], 1))._asdict() for path in paths}
    RECORD.write_text(json.dumps(now, indent=2) + "\n", encoding="utf-8")
    return int(status)


if __name__ == "__main__":
    os.environ.setdefault("HYPOTHESIS_PROFILE", "quick")
    raise SystemExit(main())

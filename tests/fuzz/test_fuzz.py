"""What `make fuzz` runs besides the laws: its target and its start, without searching for long."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from taskstate.lint.rules.sections import title_mismatch
from tests.fuzz import lint_any_text, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from taskstate.lint.diagnostics import Diagnostic

ROOT = Path(__file__).parents[2]


def test_the_corpus_is_what_the_search_begins_with() -> None:
    """Each damaged file of the corpus that is short enough is a seed under its own name, and its lines are tokens."""
    seeds = lint_any_text.seeds()
    assert len(seeds) > 100
    assert {seed[0] for seed in seeds} == set(range(len(lint_any_text.NAMES)))
    assert all(lint_any_text.BETWEEN not in seed[1:] for seed in seeds)
    assert '"\\x23\\x23\\x20\\x34\\x2e' in run.tokens(seeds)  # "## 4."


@pytest.mark.slow
def test_the_corpus_is_borne() -> None:
    """The linter bears every seed, and every seed with another as its past and its archive."""
    seeds = lint_any_text.seeds()
    for seed, other in zip(seeds[::7], seeds[1::7], strict=False):
        lint_any_text.one_input(seed)
        lint_any_text.one_input(lint_any_text.BETWEEN.join((seed, other[1:], seed[1:])))


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x01\xff\xff", b"\x02\xc3", b"\x03{\xff\xff\xff\xff"])
def test_any_bytes_are_a_text(data: bytes) -> None:
    """Whatever bytes the search comes upon stand for a text."""
    lint_any_text.one_input(data)


def test_a_rule_that_raises_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a rule cannot bear comes out of the target, so that the search stops there."""

    def broken(*_: object) -> Iterator[Diagnostic]:
        raise IndexError

    sound = next(seed for seed in lint_any_text.seeds() if b"\n# Task #101" in seed)
    monkeypatch.setattr(title_mismatch, "check", broken)
    with pytest.raises(IndexError):
        lint_any_text.one_input(sound.replace(b"\n# Task #101", b"\n# Task #102"))


@pytest.mark.slow
def test_the_search_runs_or_says_why_not() -> None:
    """With atheris a second of searching ends well; without it that is said, and is no failure."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.run", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    if importlib.util.find_spec("atheris") is None:
        assert "there is no atheris here" in done.stdout
    else:
        assert "in 2 second(s)" in done.stderr or "DONE" in done.stderr

"""The bar of a long run, in a real terminal."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.terminal import seen

if TYPE_CHECKING:
    from pathlib import Path

STEPS = """
import sys, time
from taskstate.cli.progress_bar import Bar

with Bar("checking", enabled={enabled}) as bar:
    for done in range(1, 8):
        bar(done, 7)
        time.sleep({pause})
print("rich" in sys.modules)
"""


def command(*, pause: float, enabled: bool = True) -> tuple[str, ...]:
    """Return a command that takes seven steps, and says at its end whether it loaded what draws the bar."""
    return (sys.executable, "-c", STEPS.format(enabled=enabled, pause=pause))


@pytest.mark.slow
def test_a_long_run_shows_how_far_it_is(tmp_path: Path) -> None:
    """After a second a terminal shows what is being done and how much of it, and nothing of it stays behind."""
    status, shown = seen(command(pause=0.25), cwd=tmp_path)
    assert status == 0
    assert "checking" in shown
    assert "7/7" in shown
    assert "2/7" not in shown
    assert shown.replace("\r", "").endswith("\x1b[2KTrue\n"), shown[-80:]


@pytest.mark.slow
@pytest.mark.parametrize(("enabled", "env"), [(False, {}), (True, {"TERM": "dumb"})])
def test_nobody_is_shown_a_bar_that_is_not_wanted(tmp_path: Path, enabled: bool, env: dict[str, str]) -> None:  # noqa: FBT001 - a parameter of the test
    """Where it is refused, or the terminal could not take it back, a long run shows nothing and loads nothing."""
    assert seen(command(pause=0.2, enabled=enabled), cwd=tmp_path, env=env) == (0, "False\n")


def test_a_short_run_shows_nothing(tmp_path: Path) -> None:
    """A run of less than a second shows no bar, and does not wait for the library that would draw it."""
    assert seen(command(pause=0), cwd=tmp_path) == (0, "False\n")


@pytest.mark.slow
def test_a_pipe_gets_no_bar(tmp_path: Path) -> None:
    """Where standard error is no terminal a long run shows nothing."""
    done = subprocess.run(command(pause=0.2), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("False\n", "")

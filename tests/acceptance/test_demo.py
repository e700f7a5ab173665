"""The demo does what it tells, in a real repository that it keeps."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.checkout import run, succeed

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Have temporary folders made where they are removed again."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    yield folder
    shutil.rmtree(folder)


def test_demo_stops_what_should_be_stopped(temporary: Path, tmp_path: Path) -> None:
    """A regression, a drift and a broken file are refused, and go on when they are mended; the folder is named.

    What it lets run is remembered in its own folder, not among what the user has trusted.
    """
    state_home = tmp_path / "state"
    done = run(sys.executable, "-m", "taskstate", "demo", cwd=tmp_path, env={"XDG_STATE_HOME": str(state_home)})
    assert done.returncode == 0, done.stdout
    folder = Path(done.stdout.rstrip().splitlines()[-1].rpartition(" ")[2])
    assert folder.parent.parent == temporary
    steps = re.split(r"^== ", done.stdout, flags=re.MULTILINE)[1:]
    assert 8 <= len(steps) <= 12
    for title, said in (
        ("A check in a file does not run by itself", "-m unittest"),
        ("It breaks what worked", "passed, and now fails"),
        ("Somebody edits by hand", "casefold()"),
        ("git refuses a broken state file", "TS005"),
    ):
        assert said in next(step for step in steps if step.startswith(title))
    state = (folder / ".taskstate/tasks/task-101-state.md").read_text(encoding="utf-8")
    assert re.findall(r"^### Session (\d)", state, re.MULTILINE) == ["1", "2"]
    assert len(re.findall(r"^  (?:implementer|reviewer): \{status: done", state, re.MULTILINE)) == 2
    assert succeed("git", "rev-list", "--count", "HEAD", cwd=folder).strip() == "3"
    assert succeed("git", "status", "--porcelain", cwd=folder) == ""
    assert "No findings" in succeed(sys.executable, "-m", "taskstate", "lint", "--root", folder, cwd=tmp_path)
    assert "Traceback" not in done.stdout
    assert not state_home.exists()
    assert [*temporary.glob("*/state")] != []

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


def test_demo_does_the_main_job(temporary: Path, tmp_path: Path) -> None:
    """Two tasks, an archiving over 75 KB, three findings, a commit refused and one accepted; the folder is named."""
    done = run(sys.executable, "-m", "taskstate", "demo", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    folder = Path(done.stdout.rstrip().splitlines()[-1].rpartition(" ")[2])
    assert folder.parent == temporary
    assert {path.name for path in (folder / ".taskstate" / "tasks").glob("*.md")} == {
        "task-100-state.md",
        "task-101-state.md",
    }
    assert (folder / ".taskstate" / "archives" / "task-100-archive.md").stat().st_size > 30_000
    assert len(set(re.findall(r"\bTS\d{3}\b", done.stdout))) >= 3
    assert re.search(r"^\$ git commit .*\n(?:.*\n)*?.*TS\d{3}(?:.*\n)*?.*\$ git commit", done.stdout, re.MULTILINE)
    assert succeed("git", "rev-list", "--count", "HEAD", cwd=folder).strip() == "1"
    assert succeed("git", "status", "--porcelain", cwd=folder) == ""
    assert "No findings" in succeed(sys.executable, "-m", "taskstate", "lint", "--root", folder, cwd=tmp_path)
    commands = re.findall(r"^\$ (taskstate \w+)", done.stdout, re.MULTILINE)
    assert {"taskstate init", "taskstate new", "taskstate session", "taskstate feature", "taskstate lint"} <= set(
        commands
    )
    assert "Traceback" not in done.stdout

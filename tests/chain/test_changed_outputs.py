"""What changed of an output since it was completed: told once a task and content, and not where it came with it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.cli.conftest import Cli
from tests.support.chained import Chained

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

FORMATTED = "print('formatted')\n"


def commit(root: Path) -> None:
    """Commit all that is there, as somebody."""
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@example.invalid")
    subprocess.run(["git", "add", "--all"], cwd=root, check=True)
    subprocess.run(["git", *who, "commit", "--quiet", "--no-verify", "--message=work"], cwd=root, check=True)


def test_a_change_is_told_once_and_one_of_the_completing_commit_never(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A formatter at that commit changes nothing for anybody; a later change is told to each dependent task."""
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    place = Chained(tmp_path)
    place.new("103", title="More endpoints", depends_on=("101",))
    commit(tmp_path)
    monkeypatch.chdir(tmp_path)
    cli, app = Cli(place, monkeypatch, capfd), tmp_path / "app.py"

    def told(task_id: str) -> str:
        said = cli.ok("start", task_id)
        cli.ok("finish", task_id, "--abandon", "--note", "only looked")
        return said.partition("since task 101 was completed: ")[2].partition("\n")[0]

    place.finish()
    place.complete()
    app.write_text(FORMATTED)  # before the commit is made, by a hook of it
    assert told("102").startswith("app.py changed; if `taskstate chain output 101`")
    commit(tmp_path)
    assert told("103") == ""
    assert "since it was completed" not in cli.ok("chain", "status", "102")
    app.write_text("print('later')\n")
    assert "app.py changed" in told("102")
    assert told("102") == ""
    assert "app.py changed" in told("103")
    app.write_text("print('later still')\n")
    assert "app.py changed" in told("102")
    cli.ok("reopen", "101", "--note", "to look at it again")
